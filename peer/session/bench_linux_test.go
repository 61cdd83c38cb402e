package session_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"

	"github.com/satin-peer/satin"
)

func init() { satin.Register("session_test.coarse", coarse) }

// coarse is a tree of long jobs, with leaves of some 10 ms that spawn fine ones.
func coarse(f *satin.Frame, depth int) int {
	if depth == 0 {
		return fib(f, 30)
	}
	x := satin.Spawn(f, coarse, depth-1)
	y := satin.Spawn(f, coarse, depth-1)
	return y.Get() + x.Get()
}

// BenchmarkNoFaults is what the machinery for faults costs when there are none, in processor time of a run on
// one worker: without it, with it, and with a checkpoint in the temporary directory. It takes the cheapest of
// the runs, since others disturb the caches. The first program has one long job whose children are pending
// all the time, the second a hundred long jobs to keep.
func BenchmarkNoFaults(b *testing.B) {
	for _, p := range []struct {
		fn  string
		arg int
	}{{"session_test.fib", 36}, {"session_test.coarse", 5}} {
		best := map[string]time.Duration{}
		b.Run(p.fn, func(b *testing.B) {
			for b.Loop() {
				for _, how := range []string{"naive", "salvage", "stored"} {
					spent := runAlone(b, p.fn, p.arg, how)
					if best[how] == 0 || spent < best[how] {
						best[how] = spent
					}
				}
			}
			for how, spent := range best {
				b.ReportMetric(float64(spent.Microseconds())/1000, how+"-ms")
			}
		})
	}
}

// runAlone runs a job on one peer, and gives the processor time that it took.
func runAlone(b *testing.B, fn string, arg any, how string) time.Duration {
	w := newWorld(b, 1, fn, arg)
	w.cfg, w.keepAfter = steal.LAN(), compute.DefaultKeepAfter
	var store session.Store
	switch how {
	case "naive":
		w.run.Recovery = steal.Naive
	case "stored":
		log := w.openLog(b.TempDir(), checkpoint.Config{Interval: time.Second})
		defer log.Close()
		store = log
	}
	before := processorTime(b)
	w.start(0, store)
	w.answer()
	spent := processorTime(b) - before
	w.end()
	return spent
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
