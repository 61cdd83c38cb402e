package peer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/steal"
)

// A peer that watches a run asks the members about their segments, once every Config.Every (watchProtocol). The
// question is the lease: a peer samples what its workers do for watchLease after one, and tells nobody anything of its
// own accord. So nothing is sent or sampled when nobody watches. What ended before the first question is in each
// session's memory, as far as that goes.
const (
	watchProtocol = protocol.ID("/satin/watch/1")

	watchLease  = 5 * time.Second
	sampleEvery = 100 * time.Millisecond
	// maxWatchAnswer bounds an answer in bytes, and maxWatchPart the segments in it of one run.
	maxWatchAnswer   = 128 << 10
	maxWatchPart     = 64 << 10
	maxWatchQuestion = 2 << 10
	maxWatchedRuns   = 8
	maxStatesTold    = 256
	maxStatesKept    = 1024
	maxLinks         = 64
	// answersPerSecond bounds the questions of others that are answered; of one member it is half as many, so that
	// none keeps out all.
	answersPerSecond = 64
	// maxStateLogs bounds the runs whose workers are sampled.
	maxStateLogs = 64
)

// watchQuestion asks for what is new of some runs.
type watchQuestion struct {
	Runs []watchCursor `cbor:"1,keyasint"`
}

// watchCursor says what of a run the asker has.
type watchCursor struct {
	Run    job.RunID `cbor:"1,keyasint"`
	Life   uint64    `cbor:"2,keyasint,omitempty"` // of the session that the others are about
	After  uint64    `cbor:"3,keyasint,omitempty"`
	States uint64    `cbor:"4,keyasint,omitempty"`
}

type watchAnswer struct {
	Now   int64       `cbor:"1,keyasint"` // microseconds since 1970, as all times here
	Runs  []watchPart `cbor:"2,keyasint,omitempty"`
	Links []watchLink `cbor:"3,keyasint,omitempty"`
}

// watchPart is what is new of one run.
type watchPart struct {
	Run      job.RunID      `cbor:"1,keyasint"`
	Life     uint64         `cbor:"2,keyasint"`
	Next     uint64         `cbor:"3,keyasint,omitempty"`
	More     bool           `cbor:"4,keyasint,omitempty"`
	Segments []watchSegment `cbor:"5,keyasint,omitempty"`
	Left     watchLeft      `cbor:"6,keyasint"`
	States   []watchState   `cbor:"7,keyasint,omitempty"`
	StatesTo uint64         `cbor:"8,keyasint,omitempty"`
}

type watchSegment struct {
	_        struct{} `cbor:",toarray"`
	Serial   uint64
	Path     job.Path
	Start    int64
	Took     int64 // -1: it runs
	Spawned  uint64
	Executed uint64
	State    report.SegmentState
	Again    bool
}

type watchLeft struct {
	_                           struct{} `cbor:",toarray"`
	Segments, Spawned, Executed uint64
}

// watchState says what the workers did for a while.
type watchState struct {
	_                       struct{} `cbor:",toarray"`
	Start, For              int64
	Work, Steal, Comm, Idle uint16
}

type watchLink struct {
	Cluster string `cbor:"1,keyasint"`
	RTT     int64  `cbor:"2,keyasint,omitempty"`
	Taken   uint64 `cbor:"3,keyasint,omitempty"`
}

// errTooMany ends the stream of a question that comes too soon.
var errTooMany = errors.New("too many watch this peer")

// showing answers those who watch, and does what it does only because somebody watches.
type showing struct {
	*base.Base
	runs  traced
	links func() []watchLink // this peer's ways to the clusters

	mu      sync.Mutex
	until   time.Time // of the lease
	on      bool      // the sampler runs
	states  map[job.RunID]*stateLog
	second  time.Time // answers are counted since
	answers int
	asked   map[peer.ID]int // of those
	linked  []watchLink     // as the links were
	at      time.Time       // then
}

// traced are the runs whose segments can be shown.
type traced interface {
	// trace finds the session of a run in progress, or of one that has ended, and what tells its lives apart.
	trace(id job.RunID) (s *session.Session, life uint64)
	inProgress() []*part
}

// stateLog is what the workers of a run did: the last maxStatesKept changes.
type stateLog struct {
	list []watchState
	last uint64 // number of the newest
	seen int64  // when the workers were looked at last
}

func (w *showing) serve(board *switchboard.Board) {
	board.Answer(watchProtocol, maxWatchQuestion, exchangeTime, func(from peer.ID, b []byte) (any, error) {
		var q watchQuestion
		if err := wire.Value().Decode(b, &q); err != nil {
			return nil, err
		}
		now := w.Now()
		if !w.admits(from, now) {
			return nil, errTooMany
		}
		return w.tell(&q, now), nil
	})
}

// admits says whether a member's question is answered.
func (w *showing) admits(from peer.ID, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.second) >= time.Second {
		w.second, w.answers, w.asked = now, 0, map[peer.ID]int{}
	}
	if w.answers >= answersPerSecond || w.asked[from] >= answersPerSecond/2 {
		return false
	}
	w.answers++
	w.asked[from]++
	return true
}

// tell answers a question, and begins to sample.
func (w *showing) tell(q *watchQuestion, now time.Time) *watchAnswer {
	w.mu.Lock()
	if w.until = now.Add(watchLease); !w.on {
		w.on = true
		w.Spawn(w.sample)
	}
	w.mu.Unlock()
	return w.answer(q, now)
}

// answer says what is new of the runs that are asked for, as far as there is room.
func (w *showing) answer(q *watchQuestion, now time.Time) *watchAnswer {
	a := &watchAnswer{Now: now.UnixMicro(), Links: w.ways(now)}
	room := maxWatchAnswer - maxWatchAnswer/4 // the rest is for links and states
	for _, c := range q.Runs[:min(len(q.Runs), maxWatchedRuns)] {
		s, life := w.runs.trace(c.Run)
		if s == nil {
			continue
		}
		if c.Life != life {
			c.After, c.States = 0, 0
		}
		share := min(room, maxWatchPart)
		list, next, more, left := s.Segments(c.After, share)
		part := watchPart{Run: c.Run, Life: life, Next: next, More: more,
			Left: watchLeft{Segments: left.Segments, Spawned: left.Spawned, Executed: left.Executed}}
		for i := range list {
			g := &list[i]
			seg := watchSegment{Serial: g.Serial, Path: g.Path, Start: g.Start.UnixMicro(), Took: -1,
				Spawned: g.Spawned, Executed: g.Executed, State: g.State, Again: g.Again}
			if !g.End.IsZero() {
				seg.Took = max(0, g.End.Sub(g.Start).Microseconds())
			}
			part.Segments = append(part.Segments, seg)
			room -= 48 + 5*len(g.Path)
		}
		part.States, part.StatesTo = w.since(c.Run, c.States, now)
		a.Runs = append(a.Runs, part)
	}
	return a
}

// sample looks at the workers of all runs until the lease ends.
func (w *showing) sample(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if !w.holds(now) {
				return
			}
			for _, r := range w.runs.inProgress() {
				w.note(r.manifest.Run, now, r.session)
			}
		}
	}
}

// holds says whether somebody watches; if not, the sampler ends and what it saw is forgotten.
func (w *showing) holds(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on = now.Before(w.until); !w.on {
		w.states = nil
	}
	return w.on
}

// note adds a sample of a run's workers.
func (w *showing) note(id job.RunID, now time.Time, s *session.Session) {
	cores, idle, wait := s.Workers()
	state := watchState{Work: uint16(cores - idle)}
	switch wait {
	case session.WaitSteal:
		state.Steal = uint16(idle)
	case session.WaitHome:
		state.Comm = uint16(idle)
	default:
		state.Idle = uint16(idle)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.states == nil {
		w.states = map[job.RunID]*stateLog{}
	}
	l := w.states[id]
	if l == nil {
		if len(w.states) >= maxStateLogs {
			return
		}
		l = &stateLog{}
		w.states[id] = l
	}
	// The state is taken to be that since the last look, which may be some time ago on a busy machine.
	since := max(l.seen, now.Add(-time.Second).UnixMicro())
	if l.seen == 0 {
		since = now.Add(-sampleEvery).UnixMicro()
	}
	l.seen = now.UnixMicro()
	if state.Start, state.For = since, l.seen-since; state.For > 0 {
		l.add(state, w.Every)
	}
}

// add continues the newest state, if it is the same and not an old one, or begins another. One that was told
// is not continued for longer than every, so that a reader gets it soon.
func (l *stateLog) add(s watchState, every time.Duration) {
	if n := len(l.list); n > 0 {
		last := &l.list[n-1]
		same := last.Work == s.Work && last.Steal == s.Steal && last.Comm == s.Comm && last.Idle == s.Idle
		if same && s.Start == last.Start+last.For && last.For < every.Microseconds() {
			last.For = s.Start + s.For - last.Start
			return
		}
	}
	l.last++
	if l.list = append(l.list, s); len(l.list) >= 2*maxStatesKept {
		l.list = slices.Clone(l.list[maxStatesKept:])
	}
}

// since gives the states after the one with the given number, but not the newest while it may go on.
func (w *showing) since(id job.RunID, after uint64, now time.Time) ([]watchState, uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.states[id]
	if l == nil {
		return nil, after
	}
	told := len(l.list)
	if now.Sub(time.UnixMicro(l.seen)) <= w.Every {
		told--
	}
	if after > l.last { // of an earlier lease
		after = 0
	}
	first := l.last - uint64(len(l.list)) // the number before that of the oldest
	from := max(after, first) - first
	if from >= uint64(told) {
		return nil, after
	}
	list := l.list[from:told]
	list = list[:min(len(list), maxStatesTold)]
	return slices.Clone(list), first + from + uint64(len(list))
}

// ways is what this peer knows of its ways to the clusters. It is the same for a while, as many may ask.
func (w *showing) ways(now time.Time) []watchLink {
	w.mu.Lock()
	list, fresh := w.linked, now.Sub(w.at) < w.Every
	w.mu.Unlock()
	if fresh {
		return list
	}
	list = w.links()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.linked, w.at = list, now
	return list
}

// links are the ways to the clusters.
func (x *traffic) links() []watchLink {
	index := map[string]*watchLink{}
	rtts := map[string][]int64{}
	for _, c := range x.places.Members.List() {
		where := x.places.Of(c.Peer)
		l := index[where.Name]
		if l == nil {
			if len(index) >= maxLinks {
				continue
			}
			l = &watchLink{Cluster: where.Name}
			index[where.Name] = l
		}
		l.Taken += uint64(max(0, x.tradeWith(steal.PeerID(c.Peer.String())).taken.Load()))
		if where.RTT > 0 {
			rtts[where.Name] = append(rtts[where.Name], where.RTT.Microseconds())
		}
	}
	list := make([]watchLink, 0, len(index))
	for name, l := range index {
		if r := rtts[name]; len(r) > 0 {
			slices.Sort(r)
			l.RTT = r[len(r)/2]
		}
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b watchLink) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return list
}
