package sim

import (
	"reflect"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/steal"
)

// Counts of a whole run.
type Counts struct {
	Events                      uint64 // of the simulator
	MessagesLocal, MessagesWide uint64 // within clusters, between them
	BytesLocal, BytesWide       uint64 // with frames
	Received                    uint64
	Lost                        uint64 // by faults
	Repeated                    uint64 // by faults
	Spawned, Executed, Aborted  uint64 // jobs; the root is spawned too
	Aborts                      uint64 // times a job gave up those that it had spawned
	Given, PutBack              uint64 // jobs given away, and how many of them came back to be given or run again
	Salvaged                    uint64 // jobs not run because somebody had their results

	News, Beacons uint64 // broadcasts with tuples, and without
	NewsTuples    uint64 // what they told
	// (audit) jobs that were told of, each once, and those of them that were begun again nevertheless
	Orphans, OrphansAgain uint64
	NewsBytesWide         uint64
	SecondAnswers         uint64 // of masters that did not know of the first
	// (audit) leaves that ran once more, each time; and those of them whose first runner was still there
	Again, AgainInVain uint64
	AgainWork          time.Duration
	Restored           uint64 // records in checkpoints that were given back
	Killed             uint64 // lives that ended by a crash
	Restarts           uint64 // times the root was started again
	Withheld           uint64 // jobs that withholders got
	// of what is shared
	SharedMessages, SharedBytes uint64
	Arguments                   uint64 // jobs that began whose arguments were too large to go with them
	Outcomes                    uint64 // that came home and were too large for a message
}

// Report is what a run has to show.
type Report struct {
	Elapsed time.Duration // virtual time until the root had its result
	Peers   int           // that ever took part
	Workers int           // of each
	Result  Result
	// Cancelled says that the run has no result because it was cancelled.
	Cancelled bool
	Counts    Counts
	Memory    uint64        // in use at the end, if Config.Weigh
	Proofs    driver.Proofs // of the owner
	Steals    steal.Stats   // of all cores together
	Work      time.Duration // of completed leaves at speed 1, without overhead, jobs run twice counted twice
	Busy      time.Duration // of all workers
	// Timeline is, for each peer and each stretch of Config.Bucket, the share of its workers' time that was
	// spent on jobs.
	Timeline [][]float64
	// Adaptations is what the coordinator found and did, period by period.
	Adaptations []Adaptation
}

// Efficiency is the CRS paper's equation 1: the sequential time divided by the time that all workers were paid for.
func (r *Report) Efficiency(sequential time.Duration) float64 {
	return float64(sequential) / (float64(r.Elapsed) * float64(r.Peers*r.Workers))
}

// Speedup is the sequential time divided by the run's.
func (r *Report) Speedup(sequential time.Duration) float64 {
	return float64(sequential) / float64(r.Elapsed)
}

func (w *world) report() *Report {
	r := &Report{Elapsed: time.Duration(w.now), Peers: len(w.peers), Workers: w.cfg.Workers, Result: w.result,
		Counts: w.counts, Proofs: w.peers[0].driver.Proofs()}
	if w.rootDone {
		r.Elapsed = time.Duration(w.doneAt)
	}
	total, _ := w.totals()
	r.Counts.Spawned, r.Counts.Executed, r.Counts.Aborted = total.spawned+1, total.executed, total.aborted
	r.Counts.Aborts = total.aborts
	r.Counts.Given, r.Counts.PutBack, r.Counts.Salvaged = total.given, total.putBack, total.salvaged
	r.Cancelled = w.cancelled
	if w.adapt != nil {
		r.Adaptations = w.adapt.log
	}
	r.Steals = w.steals()
	r.Counts.Restarts = max(r.Steals.Restarts, 1) - 1
	for _, p := range w.peers {
		p.cores.halt() // copies are perhaps at work still
		r.Work += time.Duration(p.usage.work)
		r.Busy += time.Duration(p.usage.busy)
	}
	r.Timeline = w.timeline.shares(r.Elapsed, len(w.peers), w.cfg.Workers)
	return r
}

// Add adds another run's counts.
func (c *Counts) Add(o *Counts) { addFields(reflect.ValueOf(c).Elem(), reflect.ValueOf(o).Elem()) }

// addStats adds counter to counter: every field of steal.Stats is one, or an array of them.
func addStats(sum *steal.Stats, s steal.Stats) {
	addFields(reflect.ValueOf(sum).Elem(), reflect.ValueOf(s))
}

func addFields(to, from reflect.Value) {
	for i := range to.NumField() {
		t, f := to.Field(i), from.Field(i)
		switch t.Kind() {
		case reflect.Array:
			for k := range t.Len() {
				t.Index(k).SetUint(t.Index(k).Uint() + f.Index(k).Uint())
			}
		case reflect.Int64: // a duration
			t.SetInt(t.Int() + f.Int())
		default:
			t.SetUint(t.Uint() + f.Uint())
		}
	}
}

// timeline gathers how busy peers were.
type timeline struct {
	bucket int64 // 0: not wanted
	busy   [][]int64
}

// add books a busy stretch of one worker of a peer.
func (t *timeline) add(peer int32, from, to int64) {
	if t.bucket == 0 {
		return
	}
	for int(peer) >= len(t.busy) {
		t.busy = append(t.busy, nil)
	}
	for from < to {
		i := int(from / t.bucket)
		for i >= len(t.busy[peer]) {
			t.busy[peer] = append(t.busy[peer], 0)
		}
		end := min(to, int64(i+1)*t.bucket)
		t.busy[peer][i] += end - from
		from = end
	}
}

func (t *timeline) shares(elapsed time.Duration, peers, workers int) [][]float64 {
	if t.bucket == 0 {
		return nil
	}
	buckets := int((int64(elapsed) + t.bucket - 1) / t.bucket)
	rows := make([][]float64, peers)
	for p := range rows {
		rows[p] = make([]float64, buckets)
		if p >= len(t.busy) {
			continue // neither it nor anybody after it has worked
		}
		busy := t.busy[p]
		for i := range min(buckets, len(busy)) {
			length := min(t.bucket, int64(elapsed)-int64(i)*t.bucket)
			rows[p][i] = float64(busy[i]) / float64(length*int64(workers))
		}
	}
	return rows
}
