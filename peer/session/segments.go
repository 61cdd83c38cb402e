package session

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// A Segment is a stolen job, or the root, and everything that this peer ran in place under it. A job that
// comes back here is another segment. A job's path is the beginning of the paths of all jobs under it, so a
// segment was stolen from the one with the longest path that its own begins with: nothing need travel with a
// job for that.
type Segment struct {
	Serial   uint64 // names it among those of the session
	Path     job.Path
	Start    time.Time // when it was given to the workers
	End      time.Time // zero while it runs
	Spawned  uint64    // so far
	Executed uint64    // so far, itself among them
	// State is report.SegmentRestarted in the record of a job that was given away and whose thief was lost.
	State report.SegmentState
	Again bool // the job was given away before, or belongs to one that was
}

// maxTraced is how many ended segments a session remembers, and maxTracedBytes about how many bytes of them at most:
// others say where a job is in the tree.
const (
	maxTraced      = 4096
	maxTracedBytes = 4 << 20
)

// A trace remembers the segments of a session: those that run, and the last ones that ended. It is written
// by the loop, when a job from outside begins or ends, when figures come, and never in between.
type trace struct {
	mu      sync.Mutex
	last    uint64 // number of the last change
	serial  uint64
	running map[steal.SegmentID]*traced
	ended   []traced // oldest first
	bytes   int      // of those
	left    report.Forgotten
	given   map[steal.Ref]job.Path // jobs that others hold, as far as they were not found there

	// What waiting workers wait for: see Waits.
	asked, answered atomic.Int64 // ns of the session's clock; steal requests sent, replies received
}

type traced struct {
	Segment
	number uint64 // of the change that ended it
}

// begin notes a segment.
func (t *trace) begin(id steal.SegmentID, j *steal.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serial++
	if t.running == nil {
		t.running = map[steal.SegmentID]*traced{}
	}
	t.running[id] = &traced{Segment: Segment{Serial: t.serial, Path: slices.Clone(j.Path), Start: time.Now(),
		Again: j.Restarted}}
}

// end notes that a segment ran to its end, aborted that nobody wanted it.
func (t *trace) end(id steal.SegmentID, n port.Tally) { t.finish(id, n, report.SegmentDone) }

func (t *trace) aborted(id steal.SegmentID, n port.Tally) { t.finish(id, n, report.SegmentAborted) }

func (t *trace) finish(id steal.SegmentID, n port.Tally, state report.SegmentState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.running[id]
	if s == nil {
		return
	}
	s.Spawned, s.Executed = n.Spawned, n.Executed
	t.drop(id, s, state)
}

func (t *trace) drop(id steal.SegmentID, s *traced, state report.SegmentState) {
	s.State, s.End = state, time.Now()
	delete(t.running, id)
	t.keep(*s)
}

// counted takes in what has been counted of the segments that run.
func (t *trace) counted(list []port.SegmentTally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range list {
		if s := t.running[c.Segment]; s != nil {
			s.Spawned, s.Executed = c.Tally.Spawned, c.Tally.Executed
		}
	}
}

// keep puts a segment among those that have ended.
func (t *trace) keep(s traced) {
	t.last++
	s.number = t.last
	t.ended, t.bytes = append(t.ended, s), t.bytes+s.size()
	if len(t.ended) < 2*maxTraced && t.bytes <= maxTracedBytes {
		return
	}
	half := len(t.ended) / 2
	for _, old := range t.ended[:half] {
		t.bytes -= old.size()
		if old.State != report.SegmentRestarted {
			t.left.Segments++
			t.left.Spawned += old.Spawned
			t.left.Executed += old.Executed
		}
	}
	t.ended = slices.Clone(t.ended[half:])
}

// away notes jobs that are given away, back that they are not any more.
func (t *trace) away(jobs []steal.Taken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given == nil {
		t.given = map[steal.Ref]job.Path{}
	}
	for i := range jobs {
		t.given[jobs[i].Ref] = jobs[i].Job.Path
	}
}

func (t *trace) back(refs ...steal.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ref := range refs {
		delete(t.given, ref)
	}
}

// lost notes that a job which was given away runs again, because its thief was lost.
func (t *trace) lost(ref steal.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	path, ok := t.given[ref]
	if !ok {
		return
	}
	now := time.Now()
	t.serial++
	t.keep(traced{Segment: Segment{Serial: t.serial, Path: slices.Clone(path), Start: now, End: now,
		State: report.SegmentRestarted}})
}

// close ends all that runs.
func (t *trace) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := slices.SortedFunc(maps.Keys(t.running), func(a, b steal.SegmentID) int {
		return cmp.Compare(t.running[a].Serial, t.running[b].Serial)
	})
	for _, id := range ids {
		t.drop(id, t.running[id], report.SegmentAborted)
	}
}

func (t *trace) runningSorted() []*traced {
	return slices.SortedFunc(maps.Values(t.running),
		func(a, b *traced) int { return int(int64(a.Serial - b.Serial)) })
}

// size is about how many bytes a segment has when it is encoded, rather more.
func (s *Segment) size() int { return 48 + 5*len(s.Path) }

// Segments gives at most so many bytes of segments: those that ended since change number after, oldest first,
// then those that run, with what has been counted of them so far. Next is the number to ask with the next
// time; there is more if not all that have ended fitted in. Left is what was forgotten in this session's
// life. It may be asked after Close too.
func (s *Session) Segments(after uint64, room int) (list []Segment, next uint64, more bool, left report.Forgotten) {
	s.ask(false, figuresPatience)
	t := &s.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	from, _ := slices.BinarySearchFunc(t.ended, after+1,
		func(e traced, n uint64) int { return int(int64(e.number - n)) })
	fresh := t.ended[from:]
	next = min(after, t.last)
	for i := range fresh {
		if room -= fresh[i].size(); room < 0 {
			return list, next, true, t.left
		}
		list, next = append(list, fresh[i].Segment), fresh[i].number
	}
	for _, r := range t.runningSorted() {
		if room -= r.size(); room < 0 {
			break
		}
		list = append(list, r.Segment)
	}
	return list, next, false, t.left
}

// A Wait says what the workers without a job wait for.
type Wait uint8

// What workers wait for.
const (
	WaitNone  Wait = iota // nothing: nobody can be asked, or the gap after a failed steal runs
	WaitSteal             // the reply to a steal request
	WaitHome              // outcomes of jobs that others hold, with no request out
)

// waitBelieved is how long a request without a reply is believed to be out: one of them may be lost.
const waitBelieved = 2 * time.Second

// Workers gives how many cores the run may use at this moment, how many of them have no job, and what those
// wait for. It is cheap, and meant to be sampled.
func (s *Session) Workers() (cores, idle int, wait Wait) {
	st := s.Stats()
	cores = st.Load.Workers
	idle = min(st.Load.Idle, cores)
	asked := s.trace.asked.Load()
	switch {
	case asked > s.trace.answered.Load() && int64(s.now())-asked < int64(waitBelieved):
		wait = WaitSteal
	case st.Given > 0:
		wait = WaitHome
	}
	return cores, idle, wait
}

// Started is when the session was made.
func (s *Session) Started() time.Time { return s.started }
