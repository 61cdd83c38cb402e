package module

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

// cubes runs the SAT splitter, and gives what it shows.
func cubes(t *testing.T, m *Module, p *engine.Pool, formula string, files ...File) string {
	t.Helper()
	r, err := m.Setup([]string{formula}, nil, files)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), Func, r.Call)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(r.Call, out.([]byte)); err != nil {
		t.Errorf("%s: %v", formula, err)
	}
	text, err := rendered(t, m, r, out.([]byte), nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The SAT splitter beside all assignments of small random formulas, one after the other: it finds a model if there is
// one, and that is one. Some of the formulas have a model and some have none. Their files end as those of SATLIB do.
func TestCubesOfFiles(t *testing.T) {
	m := load(t, Config{Fuel: 2_000}, "examples/cubes-rust/cubes.wasm")
	provide(t, m)
	p := pools(t, engine.Config{Workers: 3})
	r := rand.New(rand.NewPCG(1, 2))
	models := 0
	for i := range 40 {
		const vars = 11
		var clauses [][3]int
		var text strings.Builder
		for range vars * (30 + r.IntN(25)) / 10 {
			var c [3]int
			for k, v := range r.Perm(vars)[:3] {
				c[k] = (v + 1) * (1 - 2*r.IntN(2))
			}
			clauses = append(clauses, c)
			fmt.Fprintf(&text, "%d %d\n%d 0\n", c[0], c[1], c[2])
		}
		file := fmt.Appendf(nil, "c random\np cnf %d %d\n%s%%\n0\n", vars, len(clauses), text.String())
		holds := func(model uint) bool {
			for _, c := range clauses {
				ok := false
				for _, l := range c {
					ok = ok || (model>>(max(l, -l)-1)&1 == 1) == (l > 0)
				}
				if !ok {
					return false
				}
			}
			return true
		}
		want := false
		for model := range uint(1) << vars {
			want = want || holds(model)
		}
		shown := cubes(t, m, p, "random", File{"random", file})
		list, found := strings.CutPrefix(shown, "satisfiable:")
		if found != want {
			t.Fatalf("formula %d: %s, and there is a model: %v", i, shown, want)
		}
		if !found {
			continue
		}
		models++
		model := uint(0)
		for _, word := range strings.Fields(list) {
			if l, err := strconv.Atoi(word); err != nil {
				t.Fatal(err)
			} else if l > 0 {
				model |= 1 << (l - 1)
			}
		}
		if !holds(model) {
			t.Errorf("formula %d: %s is no model", i, shown)
		}
	}
	if models < 5 || models > 35 {
		t.Errorf("%d of 40 formulas have a model: this test sees one side only", models)
	}
}

// Van der Waerden numbers w(2;3,k), OEIS A007783: one number less can be parted.
func TestCubesOfRules(t *testing.T) {
	m := load(t, Config{Fuel: 2_000}, "examples/cubes-rust/cubes.wasm")
	provide(t, m)
	for _, p := range []*engine.Pool{nil, pools(t, engine.Config{Workers: 4})} {
		for k, least := range map[int]int{3: 9, 4: 18, 5: 22, 6: 32} {
			if text := cubes(t, m, p, fmt.Sprintf("vdw3-%d-%d", k, least)); text != "unsatisfiable" {
				t.Errorf("%d: %s", k, text)
			}
			text := cubes(t, m, p, fmt.Sprintf("vdw3-%d-%d", k, least-1))
			if !strings.HasPrefix(text, "satisfiable: ") {
				t.Errorf("%d: %s", k, text)
			}
		}
	}
	r, err := m.Setup([]string{"vdw3-4-18"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	lie := make([]byte, 36)
	lie[0] = 1
	if err := m.Check(r.Call, lie); err == nil {
		t.Error("zeros are a model of what has none")
	}
	if r, err = m.Setup([]string{"vdw3-4-17"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(r.Call, make([]byte, 36)); err == nil {
		t.Error("what has a model is said to have none, and the check finds that right")
	}
	for _, bad := range []string{"", "p cnf 3\nx", "1 2 0\n", "p cnf 300 1\n", "p cnf 3 1\n1 4 0\n", "p cnf 3 1\n1 2\n",
		"p cnf 3 1\n4294967297 0\n", "p cnf 4294967298 1\n1 0\n"} {
		if _, err := m.Setup([]string{"f"}, nil, []File{{"f", []byte(bad)}}); err == nil {
			t.Errorf("%q is a formula", bad)
		}
	}
	for _, bad := range []string{"", "vdw3", "vdw3-2-9", "vdw3-4-101", "vdw3-4-18-1", "vdw3-4294967299-9", "random"} {
		if _, err := m.Setup([]string{bad}, nil, nil); err == nil {
			t.Errorf("%q is a formula", bad)
		}
	}
}
