package barneshut

import (
	"crypto/sha256"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// BenchmarkArrival is what a peer does with the places that others write in a step, beside the step itself: in time of
// the processor, so that the share holds on a busy machine too, and with forces between a region and the next, which
// leave no memory in the caches. The simulator's tables have it.
func BenchmarkArrival(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		const ofThread = 3 // CLOCK_THREAD_CPUTIME_ID: getrusage knows it to some milliseconds
		var t syscall.Timespec
		if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, ofThread, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
			b.Fatal(e)
		}
		return time.Duration(t.Nano())
	}
	p := Problem{Variant: byObjects, Bodies: 40_000, Seed: 1, Steps: 1, Leaf: 4, Time: standardTime,
		Law: Law{Theta: 0.3, Soft: defaultSoft}}
	w := alone{Problem: &p}
	w.begin()
	var sent [regions][]byte
	for r := range sent {
		sent[r], _ = Region(w.chunk[r*perRegion:]).MarshalBinary()
	}
	var step, arrival time.Duration
	var came [2][regions]Region // of which peers keep two versions
	for b.Loop() {
		for c := range w.chunk {
			before := used()
			forces(w.chunk[:], c, 0, w.motion[c].stars(), p.law())
			step += used() - before
			if c%perRegion > 0 {
				continue
			}
			r := c / perRegion
			sha256.Sum256(sent[r]) // as the runtime does when they come
			before = used()
			came[1][r] = came[0][r]
			if err := came[0][r].UnmarshalBinary(sent[r]); err != nil {
				b.Fatal(err)
			}
			arrival += used() - before
		}
	}
	b.ReportMetric(float64(arrival.Microseconds())/float64(b.N), "us-arrival")
	b.ReportMetric(float64(step.Microseconds())/float64(b.N), "us-step")
	b.ReportMetric(100*arrival.Seconds()/step.Seconds(), "%-of-step")
}
