package module

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/module/build"
)

// fickle is an engine that wants now this, now that, and notes all that it is asked.
type fickle struct {
	t     *testing.T
	m     *Module
	rng   *rand.Rand
	asked *[]string
}

func (e *fickle) Attend() int { return e.rng.IntN(4) }

func (e *fickle) Offer(j Job) Child {
	*e.asked = append(*e.asked, fmt.Sprint("offer ", j.Fn, j.Arg, j.Path))
	return &j
}

func (e *fickle) TakeBack(Child) bool {
	e.t.Error("it sees whether a child has begun")
	return e.rng.IntN(2) == 0
}

func (e *fickle) Any(list []Child) int {
	e.t.Error("it sees which child is finished first")
	return e.rng.IntN(len(list))
}

func (e *fickle) Await(x Child) ([]byte, error) {
	j := x.(*Job)
	*e.asked = append(*e.asked, fmt.Sprint("await ", j.Fn, j.Arg, j.Path))
	return e.m.Run(e, j.Fn, j.Arg)
}

func (e *fickle) Drop(x Child) { *e.asked = append(*e.asked, fmt.Sprint("drop ", x.(*Job).Path)) }

func (e *fickle) Shared() Shared { return nil }

// A strict job sees nothing of who wants work and who has done it: whatever its engine does it asks for the same in the
// same order, and comes to the same.
func TestStrictJobsSeeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("for short runs, under the race detector, there is nothing in it that happens at once")
	}
	for guest, path := range guests {
		t.Run(guest, func(t *testing.T) {
			m := load(t, Config{Fuel: 500, Strict: true}, path)
			for _, what := range [][]string{{"fib", "18"}, {"queens_of", "8"}, {"first", "200"}, {"aborted", "3"}} {
				r, err := m.Setup(what, nil, inputs)
				if err != nil {
					t.Fatal(err)
				}
				var first []string
				for seed := range uint64(3) {
					var asked []string
					e := &fickle{t: t, m: m, rng: rand.New(rand.NewPCG(seed, 1)), asked: &asked}
					out, err := m.Run(e, r.Call.Fn, r.Call.Arg)
					asked = append(asked, fmt.Sprint(out, err))
					if seed == 0 {
						first = asked
					}
					if !slices.Equal(asked, first) {
						t.Errorf("%v: another time it asks for something else", what)
					}
				}
				if what[0] == "fib" && len(first) < 10 {
					t.Errorf("%v: it offers nothing: %v", what, first)
				}
			}
		})
	}
}

// What is strict computes the same as what is not, also where others take of it; a lattice ends the run with a line.
func TestStrictModulesConform(t *testing.T) {
	for guest, path := range guests {
		t.Run(guest, func(t *testing.T) {
			m := load(t, Config{Fuel: 1_000, Strict: true}, path)
			provide(t, m)
			for name, p := range map[string]*engine.Pool{"sequential": nil,
				"2 workers": pools(t, engine.Config{Workers: 2})} {
				if p != nil || !testing.Short() {
					t.Run(name, func(t *testing.T) { conforms(t, on(p, m)) })
				}
			}
			_, err := on(pools(t, engine.Config{Workers: 2}), m)(t, "waits", "1234")
			oneClearLine(t, err, "cannot be compared: run it without --verify")
		})
	}
}

// A strict job sees nothing of what others that run beside it have in their hands: it reads and writes what it names,
// and nothing else, wherever that is.
func TestStrictJobsSeeNoOthers(t *testing.T) {
	at := []byte{0x20, 1} // local.get 1: where its argument is
	for _, c := range []struct {
		what  string
		run   []byte
		names bool
		why   string
	}{
		{"reads what it names", slices.Concat(at, []byte{0x10, 0, 0x1a, 0x42, 0}), true, ""},
		{"reads another's", slices.Concat(at, []byte{0x10, 0, 0x1a, 0x42, 0}), false, "neither has made nor names"},
		{"writes to a constant", slices.Concat([]byte{0x41, 0}, at, at, []byte{0x41, 0}, at, []byte{0x41, 0}, at,
			[]byte{0x10, 1, 0x42, 0}), true, "writes to what is no object"},
	} {
		m := byHand(t, Config{Strict: true}, map[string][]byte{exportRun: c.run})
		provide(t, m)
		for where, put := range map[string]func(*engine.Pool, Name){
			"beside whoever made it": func(p *engine.Pool, name Name) {
				vaultOf(p).byName = map[Name]*inVault{name: {handle: satin.NewConstant(raw{1}), by: 1}}
			},
			"elsewhere": func(p *engine.Pool, name Name) {
				vaultOf(p).byName = map[Name]*inVault{}
				p.Shelf().Here(name, constantType, []byte{0x41, 1}, nil)
			},
		} {
			p, name := pools(t, engine.Config{Workers: 1}), constantOf([]byte{1})
			put(p, name)
			call := Call{Module: m.Hash, Arg: name[:]}
			if c.names {
				call.Names = name[:]
			}
			t.Run(c.what+" "+where, func(t *testing.T) {
				_, err := p.Run(context.Background(), Func, call)
				oneClearLine(t, err, c.why)
			})
		}
	}
}

// Whether a program in Go has lattices shows in what its module imports: one that shares objects only can be verified.
func TestGoWithAndWithoutLattices(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules with the go command")
	}
	for app, want := range map[string]string{"barneshut": "", "knapsack": latticesDiffer} {
		path := filepath.Join(t.TempDir(), app+".wasm")
		if err := build.Go(context.Background(), "../../apps/"+app, path); err != nil {
			t.Fatal(err)
		}
		if bin, err := os.ReadFile(path); err != nil || Unlike(bin) != want {
			t.Errorf("%s: %q, %v; want %q", app, Unlike(bin), err, want)
		}
	}
}
