package module

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A pool is an engine for tests: jobs that are offered wait in a queue, thieves take the oldest.
type pool struct {
	m      *Module
	mu     sync.Mutex
	wake   sync.Cond
	queue  []*offered
	hungry int
	closed bool
	taken  int
	paths  [][]uint32 // of what was offered
	wg     sync.WaitGroup
}

// States of an offered job.
const (
	waits = iota
	begun
	ended
	dropped
)

type offered struct {
	job    Job
	state  int
	out    []byte
	err    error
	parent *offered
}

// errUnwound is what an abort panics with.
var errUnwound = errors.New("unwound")

// A worker runs one job of a pool.
type worker struct {
	p   *pool
	job *offered
}

func newPool(t testing.TB, m *Module, thieves int) *pool {
	p := &pool{m: m}
	p.wake.L = &p.mu
	p.hungry = thieves // before they have begun, so that even a short job is wanted of
	for range thieves {
		p.wg.Add(1)
		go p.thief()
	}
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.wake.Broadcast()
		p.mu.Unlock()
		p.wg.Wait()
	})
	return p
}

func (p *pool) thief() {
	defer p.wg.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.queue) == 0 && !p.closed {
			p.wake.Wait()
		}
		if p.closed {
			return
		}
		c := p.queue[0]
		p.queue = p.queue[1:]
		if c.state != waits {
			continue
		}
		c.state = begun
		p.hungry--
		p.taken++
		p.mu.Unlock()
		out, err := p.run(c)
		p.mu.Lock()
		p.hungry++
		if c.out, c.err = out, err; c.state == begun {
			c.state = ended
		}
		p.wake.Broadcast()
	}
}

// run runs one job; an abort comes as an error.
func (p *pool) run(c *offered) (out []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			if err = v.(error); err != errUnwound {
				_, ours := err.(*Error)
				if !ours {
					panic(v)
				}
			}
		}
	}()
	return p.m.Run(&worker{p, c}, c.job.Fn, c.job.Arg)
}

// root runs the job that the arguments describe, and gives its answer.
func (p *pool) root(t testing.TB, args ...string) (string, error) {
	t.Helper()
	r, err := p.m.Setup(args, nil, inputs)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.run(&offered{job: Job{Fn: r.Call.Fn, Arg: r.Call.Arg}, state: begun})
	return rendered(t, p.m, r, out, err)
}

func rendered(t testing.TB, m *Module, r Root, out []byte, err error) (string, error) {
	t.Helper()
	if err != nil {
		return "", err
	}
	text, _, err := m.Render(r.Call, out)
	if err != nil {
		t.Fatal(err)
	}
	return text, nil
}

// Shared says that there is nothing to share here: TestOnPools has what is.
func (w *worker) Shared() Shared { return nil }

func (w *worker) Attend() int {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	for c := w.job; c != nil; c = c.parent {
		if c.state == dropped || w.p.closed {
			panic(errUnwound)
		}
	}
	return max(0, w.p.hungry-len(w.p.queue))
}

func (w *worker) Offer(j Job) Child {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	c := &offered{job: j, parent: w.job}
	w.p.paths = append(w.p.paths, j.Path)
	w.p.queue = append(w.p.queue, c)
	w.p.wake.Broadcast()
	return c
}

func (w *worker) TakeBack(x Child) bool {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	if c := x.(*offered); c.state == waits {
		c.state = dropped
		return true
	}
	return false
}

func (w *worker) Await(x Child) ([]byte, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	c := x.(*offered)
	for c.state == begun {
		w.p.wake.Wait()
	}
	return c.out, c.err
}

func (w *worker) Any(list []Child) int {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	for {
		for i, x := range list {
			if s := x.(*offered).state; s == ended || s == waits {
				return i
			}
		}
		w.p.wake.Wait()
	}
}

func (w *worker) Drop(x Child) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	x.(*offered).state = dropped
}

// load loads a module that is kept in this repository.
func load(t testing.TB, cfg Config, path string) *Module {
	t.Helper()
	bin, err := os.ReadFile(filepath.Join("../..", path))
	if filepath.IsAbs(path) {
		bin, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return loadBytes(t, cfg, bin)
}

func loadBytes(t testing.TB, cfg Config, bin []byte) *Module {
	t.Helper()
	h, err := NewHost(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	m, err := h.Load(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// alone is an engine that wants nothing.
type alone struct{}

func (alone) Shared() Shared { return nil }

func (alone) Attend() int                 { return 0 }
func (alone) Offer(Job) Child             { return nil }
func (alone) TakeBack(Child) bool         { return true }
func (alone) Await(Child) ([]byte, error) { return nil, nil }
func (alone) Any([]Child) int             { return 0 }
func (alone) Drop(Child)                  {}

// A latecomer is an engine that becomes hungry a ms after it got a job, and measures until it gets one.
