package house_test

import (
	"testing"

	"github.com/satin-peer/satin/internal/house"
)

// Package-level variables that may change are found.
func TestState(t *testing.T) {
	one := func(name, text string, want ...string) ruleCase {
		return ruleCase{name, []string{"x/a.go", "package x\n" + text}, want}
	}
	check(t, house.State, []ruleCase{
		one("constants of all kinds", `
import ("errors"; "regexp"; "reflect"; "embed"; "sync")
var ErrX = errors.New("x")
var errY = &strange{}
var re = regexp.MustCompile("x")
var typ = reflect.TypeFor[int]()
//go:embed a.txt
var page string
var (
	//go:embed *.js
	files embed.FS
)
var table = [...]int{1, 2, 3}
var names = map[string]int{"a": table[1]}
var squares = build()
var lazy = sync.OnceValue(build)
var _ = register()
var version = "dev"
var text = []byte("x")
type strange struct{ n int }
func (s *strange) set() { s.n = 1 }
func (s strange) get() int { return s.n }
var zero = strange{}
func build() []int { return nil }
func register() int { return zero.get() + len(names) + table[0] }
func shadow(table []int) { table[0] = 1; names := map[string]int{}; names["b"] = 2; var page int; page++; p := &page; _ = p }
`),
		one("a variable without a value", "var n int",
			"x/a.go:2: package-level variable n is declared without a value"),
		one("something made empty", "var m = make(map[int]int)\nvar p = new(int)",
			"x/a.go:2: package-level variable m is made empty", "x/a.go:3: package-level variable p is made empty"),
		one("a pointer", "type t struct{}\nvar p = &t{}", "x/a.go:3: package-level variable p is a pointer"),
		one("a lock",
			"import \"sync\"\nvar mu = sync.Mutex{}\nvar all [4]sync.Mutex = other\nvar other = [4]sync.Mutex{}",
			"x/a.go:3: package-level variable mu is a sync.Mutex",
			"x/a.go:4: package-level variable all is a sync.Mutex",
			"x/a.go:5: package-level variable other is a sync.Mutex"),
		one("an unknown maker", "import \"time\"\nvar start = time.Now()",
			"x/a.go:3: package-level variable start is made by time.Now"),
		one("written", `
var n, m = 1, 2
var t = []int{1}
var s = struct{ a []int }{}
var d = map[int]int{}
func f() { n = 2; m++; t[0] = 1; s.a[1] += 2; delete(d, 1); (n) = 3 }
func g() { for n = range t { }; p := &t[0]; _ = p; clear(d) }
`,
			"x/a.go:7: package-level variable n is written", "x/a.go:7: package-level variable m is written",
			"x/a.go:7: package-level variable t is written",
			"x/a.go:7: package-level variable s is written", "x/a.go:7: package-level variable d is written",
			"x/a.go:7: package-level variable n is written",
			"x/a.go:8: package-level variable n is written",
			"x/a.go:8: package-level variable t has its address taken",
			"x/a.go:8: package-level variable d is written"),
		one("written by a method",
			"type reg struct{ m []int }\nfunc (r *reg) add(n int) { r.m = append(r.m, n) }\nvar r = reg{}\nfunc f() { r.add(1) }",
			"x/a.go:5: package-level variable r is changed by its method add"),
		{"written in another file", []string{"x/a.go", "package x\nvar n = 1\n", "x/b.go",
			"package x\nfunc f() { n = 2 }\n"},
			[]string{"x/b.go:2: package-level variable n is written"}},
		{"of the same name elsewhere", []string{"x/a.go", "package x\nvar n = 1\n", "y/b.go",
			"package y\nfunc f() { n := 1; n = 2 }\n"}, nil},
		{"in a module inside", []string{"internal/bench/go.mod", "module bench\n", "internal/bench/a.go",
			"package main\nvar sink int\n"}, nil},
		{"in tests", []string{"x/a_test.go", "package x\nvar n int\nfunc f() { n++ }\n"}, nil},
		{"the table of registered jobs", []string{"internal/engine/a.go",
			"package engine\nimport \"sync\"\nvar registerMu sync.Mutex\nvar other sync.Mutex\n", "x/a.go",
			"package x\nimport \"sync\"\nvar registerMu sync.Mutex\n"},
			[]string{"internal/engine/a.go:4: package-level variable other", "x/a.go:3: package-level variable registerMu"}},
	})
}
