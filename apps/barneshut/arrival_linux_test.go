package barneshut

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkArrival is what a peer does with the places that others write in a step, beside the step itself: in time of
// the processor, one after the other, so that the share holds on a busy machine too. The simulator's tables have it.
func BenchmarkArrival(b *testing.B) {
	const arrivals = 100
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := Problem{Variant: byObjects, Bodies: 40_000, Seed: 1, Steps: 1, Leaf: 4, Time: standardTime,
		Law: Law{Theta: 0.3, Soft: defaultSoft}}
	w := alone{Problem: &p}
	w.begin(w.draw())
	var sent [regions][]byte
	for r := range sent {
		sent[r], _ = Region(w.chunk[r*perRegion:]).MarshalBinary()
	}
	var step, arrival time.Duration
	for b.Loop() {
		before := threadTime(b)
		w.step(true, false)
		between := threadTime(b)
		for range arrivals {
			var came [regions]Region
			for r := range sent {
				if err := came[r].UnmarshalBinary(sent[r]); err != nil {
					b.Fatal(err)
				}
			}
		}
		step, arrival = step+between-before, arrival+(threadTime(b)-between)/arrivals
	}
	b.ReportMetric(float64(arrival.Microseconds())/float64(b.N), "us-arrival")
	b.ReportMetric(float64(step.Microseconds())/float64(b.N), "us-step")
	b.ReportMetric(100*arrival.Seconds()/step.Seconds(), "%-of-step")
}

// threadTime is the processor time of the calling thread.
func threadTime(b *testing.B) time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
