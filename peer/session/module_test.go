package session_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/steal"
)

// moduleRoot loads the C guest of the conformance suite, and gives the job that the arguments describe.
func moduleRoot(t *testing.T, what string, n int) module.Call {
	t.Helper()
	bin, err := os.ReadFile("../../guest/conform/conform.wasm")
	if err != nil {
		t.Fatal(err)
	}
	h, err := module.NewHost(module.Config{Fuel: 5_000})
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Load(bin)
	if err != nil {
		t.Fatal(err)
	}
	module.Provide(m)
	t.Cleanup(func() {
		module.Withdraw(m.Hash)
		m.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	r, err := m.Setup([]string{what, fmt.Sprint(n)}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Call
}

// Jobs of a module share across peers as natives do: a constant, the versions of an object, a lattice, with a
// guard; on a network that loses, and when whoever shared them is killed.
func TestModulesShare(t *testing.T) {
	t.Parallel()
	versions := func(n int) (sum uint64) {
		for i, s := 1, uint64(1); i <= n; i++ {
			s = 31*s + uint64(i)
			sum += s
		}
		return sum
	}
	for _, c := range []struct {
		what string
		n    int
		want uint64
		how  string
	}{
		{"constant", 8000, 8000 * 7999 / 2, ""},
		{"object", 1000, versions(1000), ""},
		{"object", 200, versions(200), "lossy"},
		{"guarded", 900, 900, ""},
		{"guarded", 900, 900, "lossy"},
		{"object", 1000, versions(1000), "killed"},
		{"guarded", 900, 900, "killed"},
	} {
		t.Run(fmt.Sprint(c.what, " ", c.how), func(t *testing.T) {
			w := newWorld(t, 4, module.Func, moduleRoot(t, c.what, c.n))
			w.lossy = c.how == "lossy"
			first := w.start(0, nil)
			for i := 1; i < 4; i++ {
				w.start(i, nil)
			}
			taken := func() uint64 {
				return w.sum(func(s *steal.Stats) uint64 { return s.JobsTakenLocal + s.JobsTakenWide })
			}
			if c.how == "killed" {
				w.until("jobs were stolen", func() bool { return taken() > 0 || len(w.answers) > 0 })
				if len(w.answers) == 0 {
					w.kill(first)
				}
			}
			b, _ := w.answer().([]byte)
			if got := binary.LittleEndian.Uint64(b); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
			t.Log(taken(), "jobs were stolen")
		})
	}
}
