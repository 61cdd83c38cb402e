package module

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// on runs the job that the arguments describe on a pool of the engine; nil: as the sequential program.
func on(p *engine.Pool, m *Module) func(t testing.TB, args ...string) (string, error) {
	return func(t testing.TB, args ...string) (string, error) {
		t.Helper()
		r, err := m.Setup(args, nil, inputs)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(context.Background(), Func, r.Call)
		b, _ := out.([]byte)
		return rendered(t, m, r, b, err)
	}
}

func provide(t *testing.T, m *Module) {
	Provide(m)
	t.Cleanup(func() { Withdraw(m.Hash) })
}

// The suite, on the engine that natives run on.
func TestOnPools(t *testing.T) {
	for guest, path := range guests {
		m := load(t, Config{Fuel: 1_000}, path)
		provide(t, m)
		t.Run(guest+", sequential", func(t *testing.T) {
			conforms(t, on(nil, m))
			shares(t, on(nil, m))
		})
		for _, workers := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s, %d workers", guest, workers), func(t *testing.T) {
				p := pools(t, engine.Config{Workers: workers})
				conforms(t, on(p, m))
				shares(t, on(p, m))
			})
		}
	}
}

func pools(t *testing.T, cfg engine.Config) *engine.Pool {
	p, err := engine.NewPool(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// A thief outside takes jobs from a module as from a native program, with their paths in the tree: the fib
// tree's, in which the child by the path p of fib(n) has the argument n - 1 at each step 1, and so on, as the
// program says. What it took it runs on a pool of its own, or gives back.
func TestOutside(t *testing.T) {
	m := load(t, Config{Fuel: 1_000}, "guest/conform/conform.wasm")
	provide(t, m)
	here, there := pools(t, engine.Config{Workers: 1}), pools(t, engine.Config{Workers: 1})
	var mu sync.Mutex
	seen := map[string]uint32{} // arguments by path
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			taken := here.Take()
			if taken == nil {
				continue
			}
			j := taken.Job()
			mu.Lock()
			seen[j.ID.Path.String()] = binary.LittleEndian.Uint32(j.Arg.(Call).Arg)
			mu.Unlock()
			if n%3 == 0 {
				taken.PutBack(false)
				continue
			}
			out, err := there.Run(context.Background(), j.Func, j.Arg)
			if err != nil {
				t.Error(err)
			}
			if _, err := taken.End(engine.Outcome{Result: out}); err != nil {
				t.Error(err)
			}
		}
	})
	none := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == 0
	}
	for n := 0; n < 50 || none(); n++ { // on a busy machine the thief may come late
		out, err := on(here, m)(t, "fib", "22")
		if err != nil || out != "17711" {
			t.Fatal(out, err)
		}
	}
	close(stop)
	wg.Wait()
	for path, got := range seen {
		if want := fibArg(22, path); got != want {
			t.Errorf("the job by the path %s has the argument %d, want %d", path, got, want)
		}
	}
}

// fibArg is the argument of fib's descendant by a path: a job fib(n) spawns fib(n-1), then goes on as
// fib(n-2), which is a plain call and spawns fib(n-3), and so on. So its child k is fib(n - 2k + 1).
func fibArg(n uint32, path string) uint32 {
	var p job.Path
	for at := 0; at < len(path); {
		var k uint32
		for ; at < len(path) && path[at] != '.'; at++ {
			k = 10*k + uint32(path[at]-'0')
		}
		p, at = append(p, k), at+1
	}
	for _, k := range slices.All(p) {
		n -= 2*k - 1
	}
	return n
}

// A module that is not here fails its jobs with a line that names it.
func TestNotHere(t *testing.T) {
	_, err := (*engine.Pool)(nil).Run(context.Background(), Func, Call{Module: HashOf([]byte("another"))})
	oneClearLine(t, err, "is not here")
}

// An abort reaches a module in the middle of a loop.
func TestCancelled(t *testing.T) {
	m := load(t, Config{}, "guest/conform/hostile.wasm")
	provide(t, m)
	r, err := m.Setup([]string{"loop", "1"}, nil, inputs)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := pools(t, engine.Config{Workers: 1})
	cancel()
	if _, err := p.Run(ctx, Func, r.Call); err == nil {
		t.Error("an endless loop has ended")
	}
	end := make(chan error)
	ctx, cancel = context.WithCancel(context.Background())
	go func() {
		_, err := p.Run(ctx, Func, r.Call)
		end <- err
	}()
	cancel()
	if err := <-end; err == nil {
		t.Error("an endless loop has ended")
	}
	p.Close() // waits for the worker, which the abort has ended
}
