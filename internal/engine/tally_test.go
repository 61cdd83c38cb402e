package engine_test

import (
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() { satin.Register("tally.fib", tallyFib) }

func tallyFib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, tallyFib, n-1)
	y := tallyFib(f, n-2)
	return x.Get() + y
}

// What the jobs from outside did adds up to what the pool did, whoever of its workers did it.
func TestGuestsCounts(t *testing.T) {
	for _, workers := range []int{1, 3} {
		p, err := engine.NewPool(engine.Config{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		const guests, n, jobs = 4, 21, 17710 // fib(n+1)-1 spawns
		ended := make(chan struct{})
		list := make([]*engine.Guest, guests)
		for i := range list {
			if list[i], err = p.Submit(engine.Job{Func: "tally.fib", Arg: n},
				func(engine.Outcome) { ended <- struct{}{} }); err != nil {
				t.Fatal(err)
			}
		}
		for range list {
			<-ended
		}
		var spawned, executed uint64
		for _, g := range list {
			s, e := g.Counts()
			spawned, executed = spawned+s, executed+e
			if workers == 1 && (s != jobs || e != jobs+1) {
				t.Errorf("alone, a guest has spawned %d and executed %d jobs, want %d and %d", s, e, jobs, jobs+1)
			}
		}
		if spawned != guests*jobs || executed != guests*(jobs+1) {
			t.Errorf("%d workers: spawned %d, executed %d, want %d and %d", workers, spawned, executed, guests*jobs,
				guests*(jobs+1))
		}
		p.Close()
	}
}
