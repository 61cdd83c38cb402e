package runlife

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/sim/agenda"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// world is one schedule while it runs.
type world struct {
	random  *rand.Rand
	extra   *rand.Rand // of processes that die, apart from all else
	now     time.Duration
	agenda  agenda.Agenda
	members []*member
	runs    []*project
	byID    map[job.RunID]*project
	side    []int // of a partition on which a member is
	loss    float64
	calm    bool // there are no more faults
	kind    Kind
	rosters *rand.Rand // of who is to take part; nil: runs do not adapt
	cuts    *rand.Rand // of writes that nobody hears the end of; nil: there are none
	clocks  *rand.Rand // of clocks that are wrong; nil: none is
	party   *party     // who lies, where runs are verified
	shelves *rand.Rand // of modules; nil: no run needs one
	trace   io.Writer
	broken  error
	counts  Counts
}

// Counts is what happened in schedules.
type Counts struct {
	Events, Lost, Crashes, Answers, Disputes, Failed, Deaths, Doomed uint64
	Cut                                                              uint64 // after a write
	Misset                                                           uint64 // clocks
	Messages, Restored, Found                                        uint64 // of the steal protocol
	// Rosters that were made, members that left because of one, and how often all had the same in the end, or one had
	// none.
	Rosters, Benched, Agreed, Alone uint64
	// Outcomes of runs that are verified, lies that were caught, modules that came, and how often a member took part in
	// a run some time after the last fault.
	Compared, Caught, Fetched, Helped uint64
}

// project is a run as the schedule knows it: more than any peer does.
type project struct {
	id       job.RunID
	n        int
	owner    *member
	manifest *runs.Manifest
	work     time.Duration // of its root job on one peer
	leaves   int           // that the root job spawns
	impure   bool          // every peer comes to another outcome
	accepted bool          // its owner was told that it goes on
	// what its owner was told last: that it is cancelled, or suspended
	cancelled, suspended bool
	slept, ended         bool // it was to be suspended once, or cancelled
	busy                 bool // a command about it is not done
	unwritten            bool // it was cancelled, which could not be written down
	damaged              bool // what was written down of it was lost
	answer               runs.Hash
	answered             bool            // answer is on the owner's disk
	unkept               bool            // the answer could not be written at its owner
	killer               bool            // it has a job that kills
	said                 said            // rosters; nil: it does not adapt
	decided              time.Duration   // when the last one was made
	victims              map[*member]int // whom it has killed, in which life of the member last
	module               moduleID        // that it needs
}

// after has something happen.
func (w *world) after(d time.Duration, do func()) {
	w.agenda.Post(w.now+d, do)
}

// run lets everything happen until a time.
func (w *world) run(until time.Duration) {
	for at, ok := w.agenda.Due(); w.broken == nil && ok && at <= until; at, ok = w.agenda.Due() {
		var do func()
		w.now, do = w.agenda.Next()
		w.counts.Events++
		do()
	}
	w.now = until
}

// fail notes the first invariant that is broken.
func (w *world) fail(format string, args ...any) {
	if w.broken == nil {
		w.broken = fmt.Errorf("at %s: "+format, append([]any{w.now}, args...)...)
	}
}

func (w *world) say(format string, args ...any) {
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%9.3f "+format+"\n", append([]any{w.now.Seconds()}, args...)...)
	}
}

// some draws a time up to d.
func (w *world) some(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d) + 1))
}

func (w *world) chance(p float64) bool { return w.random.Float64() < p }

// connected says whether messages get from one member to another.
func (w *world) connected(a, b *member) bool {
	return a.core != nil && b.core != nil && w.side[a.i] == w.side[b.i]
}

// send has a message arrive, or not.
func (w *world) send(from, to *member, arrive func()) {
	if !w.connected(from, to) || w.chance(w.loss) {
		w.counts.Lost++
		return
	}
	life := to.life
	w.after(5*time.Millisecond+w.some(250*time.Millisecond), func() {
		if to.life != life || !w.connected(from, to) {
			w.counts.Lost++
			return
		}
		arrive()
	})
}

// exchangeTime is how long an answer is waited for.
const exchangeTime = 5 * time.Second

// ask sends a question; done is called once, with the answer or with nil.
func ask[A any](w *world, from, to *member, answer func() *A, done func(*A)) {
	life, over := from.life, false
	end := func(a *A) {
		if !over && from.life == life {
			over = true
			done(a)
		}
	}
	w.after(exchangeTime, func() { end(nil) })
	if to == nil {
		return
	}
	w.send(from, to, func() {
		a := answer()
		w.send(to, from, func() { end(a) })
	})
}

// member finds one by its name; nil if it is the liar's invention.
func (w *world) member(id runs.PeerID) *member {
	for _, m := range w.members {
		if m.id == id {
			return m
		}
	}
	return nil
}
