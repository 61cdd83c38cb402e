package peer

import (
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// work is what this peer has done in all its runs since its start.
type work struct {
	running func() report.RunStats      // of the runs in progress
	others  func(now time.Time) float64 // jobs a second of the other peers in them
	used    func(all time.Duration)     // is told how much core time all runs have had

	mu      sync.Mutex
	ended   report.RunStats // of runs that have ended
	samples [6]sample       // of the last seconds
	next    int
}

type sample struct {
	at       time.Time
	executed uint64
}

// add takes in the figures of a run that has ended here.
func (w *work) add(s *report.RunStats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended.Add(s)
}

// sum is everything so far.
func (w *work) sum() report.RunStats {
	now := w.running() // not under the mutex: it has one of its own, under which add is called
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := w.ended
	sum.Add(&now)
	return sum
}

// sample is taken every Config.Every.
func (w *work) sample(now time.Time) {
	f := w.sum()
	w.used(time.Duration(processors(&f)) * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples[w.next%len(w.samples)] = sample{now, f.Executed}
	w.next++
}

// report is the work for people; what went over the network is not known here.
func (w *work) report(now time.Time) report.Work {
	f, others := w.sum(), w.others(now)
	r := report.Work{Executed: f.Executed, Given: f.Given, Taken: f.Taken, Busy: f.UsefulTime.Seconds()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next > 1 {
		newest := w.samples[(w.next-1)%len(w.samples)]
		oldest := w.samples[max(0, w.next-len(w.samples))%len(w.samples)]
		if d := newest.at.Sub(oldest.at).Seconds(); d > 0 && newest.executed >= oldest.executed {
			r.Rate = float64(newest.executed-oldest.executed) / d
		}
	}
	r.AllRate = r.Rate + others
	return r
}
