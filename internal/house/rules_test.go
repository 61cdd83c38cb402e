package house_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satin-peer/satin/internal/house"
)

const top = "module example.org/m\n"

// tree makes a tree of files given as path, text, path, text, ...
func tree(t *testing.T, files ...string) *house.Tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte(top)}}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	tree, err := house.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// A ruleCase is a small tree and what a rule has to say of it: the beginnings of its problems.
type ruleCase struct {
	name  string
	files []string
	want  []string
}

func check(t *testing.T, rule func(*house.Tree) []string, cases []ruleCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := rule(tree(t, c.files...))
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("problems:\n%s\nwant ones that begin with:\n%s", strings.Join(got, "\n"),
					strings.Join(c.want, "\n"))
			}
		})
	}
}

// file is the text of a Go file of a package with some imports.
func file(name string, imports ...string) string {
	text := "package " + name + "\n"
	for _, imp := range imports {
		text += fmt.Sprintf("import _ %q\n", imp)
	}
	return text
}

// Imports that the table of rooms does not allow are found, and those it allows are not.
func TestImports(t *testing.T) {
	check(t, house.Imports, []ruleCase{
		{"the table", []string{
			"a.go", file("satin", "fmt", "sync/atomic"),
			"steal/a.go", file("steal", "example.org/m/job"),
			"gossip/a.go", file("gossip", "example.org/m/internal/wire", "github.com/libp2p/go-libp2p-pubsub"),
			"peer/a.go", file("peer", "example.org/m/steal", "example.org/m/internal/sim",
				"github.com/libp2p/go-libp2p", "github.com/any/thing"),
			"apps/a.go", file("apps", "example.org/m"),
			"apps/fib/a.go", file("fib", "example.org/m", "example.org/m/apps"),
			"apps/all/a.go", file("all", "example.org/m/apps/fib", "example.org/m/apps"),
			"cli/a.go", file("cli", "example.org/m/apps/all", "example.org/m/peer",
				"github.com/spf13/cobra"),
			"internal/sim/a.go", file("sim", "example.org/m/steal", "example.org/m/internal/wan"),
			"internal/satinvet/a.go", file("satinvet", "golang.org/x/tools/go/analysis"),
			"internal/bench/go.mod", "module bench\n",
			"internal/bench/a.go", file("main", "github.com/sourcegraph/conc"),
			"steal/testdata/a.go", file("x", "github.com/libp2p/go-libp2p"),
		}, nil},
		{"the root knows the standard library only",
			[]string{"a.go", file("satin", "golang.org/x/sys/unix", "example.org/m/steal")},
			[]string{"a.go:2: . may not import golang.org/x/sys/unix", "a.go:3: . may not import example.org/m/steal"}},
		{"no cgo", []string{"a.go", file("satin", "C")}, []string{"a.go:2: . may not import C"}},
		{"siblings do not know each other", []string{
			"steal/a.go", file("steal", "example.org/m/gossip"),
			"apps/fib/a.go", file("fib", "example.org/m/apps/tsp"),
			"sharedobj/a.go", file("sharedobj", "example.org/m/internal/wire"),
		}, []string{"apps/fib/a.go:2: apps/fib may not", "sharedobj/a.go:2: sharedobj may not",
			"steal/a.go:2: steal may not import example.org/m/gossip: it may know the standard library, job"}},
		{"the peer does not know applications or commands",
			[]string{"peer/a.go", file("peer", "example.org/m/apps", "example.org/m/cmd/satin-peer",
				"example.org/m/apps/fib")},
			[]string{"peer/a.go:2", "peer/a.go:3", "peer/a.go:4"}},
		{"libp2p is for peer and gossip", []string{
			"cmd/satin-peer/a.go", file("main", "github.com/libp2p/go-libp2p"),
			"dashboard/a.go", file("dashboard", "github.com/multiformats/go-multiaddr"),
			"steal/a.go", file("steal", "github.com/libp2p/go-libp2p/core/peer"),
		}, []string{"cmd/satin-peer/a.go:2", "dashboard/a.go:2", "steal/a.go:2"}},
		{"a name that only begins like an allowed one",
			[]string{"internal/wire/a.go", file("wire", "github.com/fxamacker/cbor/v2x")},
			[]string{"internal/wire/a.go:2"}},
		{"tests may use test modules, their room and satin", []string{
			"steal/a_test.go", file("steal_test", "pgregory.net/rapid", "example.org/m/steal", "example.org/m/job"),
			"steal/b_test.go", file("steal", "example.org/m/peer"),
			"steal/c.go", file("steal", "pgregory.net/rapid"),
			"internal/wire/d_test.go", file("wire_test", "example.org/m/steal", "example.org/m/gossip"),
			"internal/wire/e.go", file("wire", "example.org/m/steal"),
		}, []string{"internal/wire/d_test.go:3", "internal/wire/e.go:2",
			"steal/b_test.go:2: steal may not import example.org/m/peer", "steal/c.go:2"}},
		{"an unknown room", []string{"attic/a.go", file("attic"), "attic/b.go", file("attic"), "apps/fib/deep/a.go",
			file("deep")},
			[]string{"apps/fib/deep: unknown room", "attic: unknown room"}},
		{"an unknown module inside", []string{"tools/go.mod", "module tools\n", "tools/a.go",
			file("main", "example.org/x")},
			[]string{"tools: a module that is not in nestedModules"}},
	})
}

// Files and functions that are a line too long are found, and those of tests and of generators are let be.
func TestSizes(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	check(t, house.Sizes, []ruleCase{
		{"a file of 500 lines", []string{"a.go", "package a\n" + lines(499)}, nil},
		{"a file of 501 lines", []string{"a.go", "package a\n" + lines(500)}, []string{"a.go: 501 lines, at most 500"}},
		{"a function of 70 lines", []string{"a.go", "package a\nfunc f() {" + lines(69) + "}\n"}, nil},
		{"a function of 71 lines", []string{"a.go", "package a\n\nfunc (a T) f() {" + lines(70) + "}\n"},
			[]string{"a.go:3: f has 71 lines, at most 70"}},
		{"tests and generated files", []string{"a_test.go", "package a\nfunc f() {" + lines(600) + "}\n",
			"b.go", "// Code generated by x. DO NOT EDIT.\npackage a\n" + lines(600)}, nil},
	})
}

// A type with one method too many is found, in whatever files and however its receiver is written; tests may add to it.
func TestMethods(t *testing.T) {
	embedding := func(what string, n int, recv string) (text string) {
		text = "package a\ntype T struct{ " + what + " }\n"
		for i := range n {
			text += fmt.Sprintf("func (%s) f%d() {}\n", recv, i)
		}
		return text
	}
	methods := func(n int, recv string) string { return embedding("", n, recv) }
	const lenders = "package a\ntype U[K any] struct{ *V }\nfunc (U[_]) u() {}\n" +
		"type V struct{ *T }\nfunc (*V) v() {}\nfunc (*V) f0() {}\n"
	check(t, house.Methods, []ruleCase{
		{"forty", []string{"x/a.go", methods(40, "t *T")}, nil},
		{"forty-one, in two files and of any kind of receiver", []string{"x/a.go", methods(40, "t *T[K, V]"),
			"x/b.go", "package a\nfunc (T[_, V]) g() {}\n"}, []string{"x: T has 41 methods, at most 40"}},
		{"types of the same name in two packages", []string{"x/a.go", methods(30, "T"), "y/a.go", methods(30, "T")}, nil},
		{"those of tests", []string{"x/a.go", methods(40, "T"), "x/b_test.go", methods(9, "T")}, nil},
		{"forty with those of what it embeds, one of them its own", []string{"x/a.go", embedding("U[int]", 38, "T"),
			"x/b.go", lenders}, nil},
		{"one more, by a pointer", []string{"x/a.go", embedding("*V; io.Reader", 40, "T"),
			"x/b.go", "package a\ntype V struct{}\nfunc (*V) v() {}\n"}, []string{"x: T has 41 methods"}},
		{"one more, of what that embeds", []string{"x/a.go", embedding("*U", 40, "T"), "x/b.go", "package a\n" +
			"type U struct{ V }\ntype V struct{}\nfunc (V) v() {}\n"}, []string{"x: T has 41 methods"}},
		{"what is a field", []string{"x/a.go", embedding("v V; y.W", 40, "T"), "x/b.go",
			"package a\ntype V struct{}\nfunc (V) v() {}\n", "y/a.go", "package y\ntype W struct{}\nfunc (W) w() {}\n"}, nil},
	})
}

// A test without a comment is found, wherever it is in its file; what is no test needs none.
func TestGuards(t *testing.T) {
	check(t, house.Guards, []ruleCase{
		{"with comments", []string{"x/a_test.go",
			"package x\nfunc TestMain() {}\n// It holds.\nfunc TestA() {}\nfunc (T) TestB() {}\n"}, nil},
		{"the first one without", []string{"x/a_test.go",
			"package x\nfunc help() {}\nfunc FuzzA() {}\n// It holds.\nfunc TestB() {}\n"},
			[]string{"x/a_test.go: FuzzA does not say"}},
		{"others without", []string{"x/a_test.go",
			"package x\n// It holds.\nfunc TestA() {}\nfunc TestB() {}\n\n// Not attached.\n\nfunc TestC() {}\n"},
			[]string{"x/a_test.go: TestB does not say", "x/a_test.go: TestC does not say"}},
		{"no test", []string{"x/a.go", "package x\nfunc TestA() {}\n"}, nil},
	})
}

// A line that is a column too wide is found, unless it is mostly a string.
func TestWidth(t *testing.T) {
	wide := func(text string, n int) string { return text + strings.Repeat("x", n-len(text)) }
	check(t, house.Width, []ruleCase{
		{"120 columns", []string{"a.go", "package a\n\n" + wide("//", 120) + "\n"}, nil},
		{"121", []string{"a.go", "package a\n\n" + wide("//", 121) + "\n"}, []string{"a.go:3: wider than 120 columns"}},
		{"a tab counts four", []string{"a_test.go", "package a\n\nfunc f() {\n\t" + wide("//", 117) + "\n}\n"},
			[]string{"a_test.go:4: wider"}},
		{"a string", []string{"a.go", "package a\n\nconst s = \"" + wide("", 150) + "\"\n"}, nil},
		{"a little string", []string{"a.go", "package a\n\nconst s = \"s\" //" + wide("", 150) + "\n"},
			[]string{"a.go:3: wider"}},
		{"a text of several lines", []string{"a.go", "package a\n\nconst s = `\n" + wide("", 150) + "\n`\n"}, nil},
		{"a generated file", []string{"a.go", "// Code generated by x. DO NOT EDIT.\npackage a\n\n" + wide("//", 150)}, nil},
	})
}

// A package or command without a comment that begins with its name is found.
func TestPackageDocs(t *testing.T) {
	check(t, house.PackageDocs, []ruleCase{
		{"in one file of several", []string{"a.go", "package a\n", "b.go", "// Package a is.\npackage a\n",
			"c_test.go", "package a_test\n"}, nil},
		{"in none", []string{"x/a.go", "// Some words.\npackage a\n", "x/b.go", "package a\n"},
			[]string{"x: no package comment"}},
		{"of another name", []string{"a.go", "// Package ab is.\npackage a\n"}, []string{".: no package comment"}},
		{"not attached", []string{"a.go", "// Package a is.\n\npackage a\n"}, []string{".: no package comment"}},
		{"commands", []string{"cmd/x/a.go", "// Command x does.\npackage main\n", "cmd/y/a.go",
			"// Package main is.\npackage main\n",
			"cmd/z/a.go", "// Z does.\npackage main\n", "cmd/other/a.go", "// Zed does.\npackage main\n"},
			[]string{"cmd/other: no package comment", "cmd/y: no package comment"}},
		{"nothing but tests", []string{"a_test.go", "package a\n"}, nil},
	})
}

// Packages and files whose names say nothing of what they hold are found.
func TestNames(t *testing.T) {
	check(t, house.Names, []ruleCase{
		{"good names", []string{"wan/link.go", "package wan\n", "wan/helpers_test.go", "package wan\n"}, nil},
		{"packages", []string{"stringutil/a.go", "package stringutil\n", "common/a.go", "package c\n",
			"common/b.go", "package c\n", "x/a.go", "package managers\n"},
			[]string{`common: a package named after "common"`, `stringutil: a package named after "util"`,
				`x: a package named after "manager"`}},
		{"files", []string{"wan/utils.go", "package wan\n", "wan/helper.go", "package wan\n"},
			[]string{"wan/helper.go: a file", "wan/utils.go: a file"}},
	})
}

// A tree that no rule could judge, without a module or with a file that is not Go, is an error and not free of
// problems.
func TestLoadRefusesATreeWithoutModule(t *testing.T) {
	if _, err := house.Load(fstest.MapFS{"a.go": {Data: []byte("package a\n")}}); err == nil {
		t.Error("a tree without go.mod was loaded")
	}
	if _, err := house.Load(fstest.MapFS{"go.mod": {Data: []byte(top)},
		"a.go": {Data: []byte("packag a\n")}}); err == nil {
		t.Error("a file that is not Go was loaded")
	}
}

// What strangers have written is printed by the console's writers, and by nothing else.
func TestPrints(t *testing.T) {
	body := func(what string) string { return "package x\nfunc f() { " + what + " }\n" }
	check(t, house.Prints, []ruleCase{
		{"the console", []string{"cli/main.go", body("_ = os.Stdout"), "cli/top.go", body("_ = c.screen"),
			"cli/other.go", body("fmt.Fprintln(c.out, 1)"), "peer/x_test.go", body("fmt.Println(1)"),
			"cmd/tool/main.go", body("fmt.Println(1)"), "internal/compute/child/main.go", body("_ = os.Stderr")}, nil},
		{"past it", []string{"cli/other.go", body("fmt.Fprintln(os.Stderr)"), "peer/host/x.go", body("fmt.Println(1)"),
			"peer/y.go", body("println(1)"), "cli/status.go", body("_ = c.screen"), "runs/z.go", body("log.Printf(``)")},
			[]string{"cli/other.go:2: Stderr", "cli/status.go:2: screen", "peer/host/x.go:2: Println", "peer/y.go:2: println",
				"runs/z.go:2: Printf"}},
	})
}
