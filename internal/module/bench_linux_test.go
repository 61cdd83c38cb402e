package module

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/satin-peer/satin/internal/module/build"
	"github.com/satin-peer/satin/internal/wasm"
)

// BenchmarkModules prints what modules cost (make bench-modules): native Go, C and Go modules take turns, round after
// round, and ratios are taken within a round; medians are given with the least and the largest of all rounds. What is
// timed is the thread's processor time, so that other programs count little; but for promotion, which is a latency.
func BenchmarkModules(b *testing.B) {
	const rounds = 9
	dir := b.TempDir()
	inGo := filepath.Join(dir, "conform.wasm")
	if err := build.Go(context.Background(), "../../guest/conform/go", inGo); err != nil {
		b.Fatal(err)
	}
	c, g := load(b, Config{}, "guest/conform/conform.wasm"), load(b, Config{}, inGo)
	runtime.LockOSThread()          // for cpuTime; it ends with the benchmark
	times := map[string][]float64{} // seconds
	timed := func(name string, f func()) { times[name] = append(times[name], cpuTime(f)) }
	of := func(m *Module, what, n string) func() {
		r, err := m.Setup([]string{what, n}, nil, inputs)
		if err != nil {
			b.Fatal(err)
		}
		return func() {
			if _, err := m.Run(alone{}, r.Call.Fn, r.Call.Arg); err != nil {
				b.Fatal(err)
			}
		}
	}
	entrants := []struct {
		name string
		run  func()
	}{
		{"fib, native", func() { runtime.KeepAlive(nativeFib(31)) }},
		{"queens, native", func() { runtime.KeepAlive(nativeCount(1<<13-1, 0, 0, 0)) }},
		{"fib, C", of(c, "sequential", "31")}, {"queens, C", of(c, "count_of", "13")},
		{"spawns, C", of(c, "fib", "31")},
		{"fib, Go", of(g, "sequential", "31")}, {"queens, Go", of(g, "count_of", "13")},
		{"spawns, Go", of(g, "fib", "31")},
	}
	for range rounds + 1 {
		for _, e := range entrants {
			timed(e.name, e.run)
		}
		slices.Reverse(entrants)
	}
	show := func(name, unit string, target float64, value func(round int) float64) {
		var v []float64
		for i := range rounds {
			v = append(v, value(i+1))
		}
		slices.Sort(v)
		fmt.Printf("%-44s %8.2f %-3s (%.2f to %.2f), wanted at most %g\n", name, v[rounds/2], unit, v[0],
			v[rounds-1], target)
	}
	over := func(of, by string) func(int) float64 {
		return func(i int) float64 { return times[of][i] / times[by][i] }
	}
	const spawns = 2178308 // of fib(31)
	spawn := func(guest string) func(int) float64 {
		return func(i int) float64 { return (times["spawns, "+guest][i] - times["fib, "+guest][i]) * 1e9 / spawns }
	}
	fmt.Println()
	show("queens in C over native Go", "", 1.25, over("queens, C", "queens, native"))
	show("fib in C over native Go", "", 1, over("fib, C", "fib, native"))
	show("queens in Go over native Go", "", 2.6, over("queens, Go", "queens, native"))
	show("fib in Go over native Go", "", 4.2, over("fib, Go", "fib, native"))
	show("a spawn in C", "ns", 8, spawn("C"))
	show("a spawn in Go", "ns", 50, spawn("Go"))
	benchPromotion(b, c)
	benchLoading(b, "C, 11 KB", "../../guest/conform/conform.wasm")
	benchLoading(b, "Go, 5 MB", inGo)
}

// benchPromotion prints how long it takes from somebody's hunger to an offer.
func benchPromotion(b *testing.B, m *Module) {
	r, err := m.Setup([]string{"queens_of", "13"}, nil, inputs)
	if err != nil {
		b.Fatal(err)
	}
	e := &latecomer{}
	e.next = time.Now()
	for range 40 {
		if _, err := m.Run(e, r.Call.Fn, r.Call.Arg); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(e.took)
	n := len(e.took)
	fmt.Printf("%-44s %8.2f ms  (median %.3f ms of %d), wanted at most 1\n", "from hunger to a job, 99th percentile",
		e.took[n*99/100].Seconds()*1e3, e.took[n/2].Seconds()*1e3, n)
}

// benchLoading prints what a module's first job costs: cold, from the disk's cache, and in a fresh and a used instance.
// Loading is what all threads take, since all cores compile, and how long it is.
func benchLoading(b *testing.B, name, path string) {
	bin, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	cache := b.TempDir()
	for _, how := range []string{"cold", "from the cache"} {
		h, err := NewHost(Config{Cache: cache})
		if err != nil {
			b.Fatal(err)
		}
		var m *Module
		begun := time.Now()
		loading := onClock(ofProcess, func() { m, err = h.Load(bin) })
		took := time.Since(begun).Seconds()
		if err != nil {
			b.Fatal(err)
		}
		checking := cpuTime(func() {
			_, err = wasm.Prepare(bin, wasm.Options{Limits: h.cfg.Limits, Allowed: allowed})
		})
		if err != nil {
			b.Fatal(err)
		}
		starting := cpuTime(func() {
			in, bad := m.instantiate()
			if err = bad; err == nil && m.has(exportInit) {
				err = in.raw(exportInit, nil, 0)
			}
			in.close()
		})
		if err != nil {
			b.Fatal(err)
		}
		const n = 20
		var all []*instance
		making := cpuTime(func() {
			for range n {
				in, err := m.get()
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, in)
			}
		})
		again := cpuTime(func() {
			for _, in := range all {
				m.put(in)
			}
		})
		fmt.Printf("%-44s %8.1f ms, %.1f of all threads: checking %.1f, compiling %.1f, starting %.1f; an instance "+
			"%.3f ms, to use it again %.3f ms\n", "loading ("+name+"), "+how, took*1e3, loading*1e3, checking*1e3,
			max(loading-checking-starting, 0)*1e3, starting*1e3, making*1e3/n, again*1e3/n)
		m.Close()
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// The clocks of clock_gettime that count the processor time of this process and of this thread. getrusage counts in
// ticks of 4 ms on many a kernel.
const (
	ofProcess = 2
	ofThread  = 3
)

// cpuTime is the processor time that f takes on this thread, in seconds.
func cpuTime(f func()) float64 { return onClock(ofThread, f) }

// onClock is what f takes by a clock of the system's.
func onClock(clock uintptr, f func()) float64 {
	now := func() float64 {
		var t syscall.Timespec
		_, _, bad := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
		if bad != 0 {
			panic(bad)
		}
		return float64(t.Nano()) / 1e9
	}
	before := now()
	f()
	return now() - before
}

// A latecomer is an engine that becomes hungry a ms after it got a job, and measures until it gets one.
type latecomer struct {
	alone
	next time.Time
	took []time.Duration
}

func (l *latecomer) Attend() int {
	if time.Now().Before(l.next) {
		return 0
	}
	return 1
}

func (l *latecomer) Offer(Job) Child {
	now := time.Now()
	l.took = append(l.took, now.Sub(l.next))
	l.next = now.Add(time.Millisecond)
	return 1
}

func nativeFib(n uint32) uint64 {
	if n < 2 {
		return uint64(n)
	}
	return nativeFib(n-1) + nativeFib(n-2)
}

func nativeCount(all, columns, left, right uint32) (n uint64) {
	if columns == all {
		return 1
	}
	for free := all &^ (columns | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		n += nativeCount(all, columns|bit, (left|bit)<<1, (right|bit)>>1)
	}
	return n
}
