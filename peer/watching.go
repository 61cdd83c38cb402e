package peer

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/switchboard"
)

const (
	// maxWatchAsks is how many members are asked in one go, one every Config.Every, and watchWithin how long one may
	// take.
	maxWatchAsks = 64
	watchWithin  = 3 * time.Second
	// watchedAfter is for how long members are asked after a run that has ended: there may be ends that were
	// not told yet.
	watchedAfter = 5 * time.Second
	// maxPastRuns is how many of the runs that ended before are asked after.
	maxPastRuns = 4
	// maxCursors is of how many runs it is remembered what a member has told, at least.
	maxCursors = 64
	// maxReports bounds the reports that wait for Watch.
	maxReports = 1024
)

// watching asks the members for their segments; it goes on while Watch is called.
type watching struct {
	*base.Base
	board *switchboard.Board
	swarm *swarm
	runs  func() []life                    // that members may be asked about
	live  func(job.RunID) *session.Session // nil unless the run is in progress
	own   *showing                         // what this peer has itself

	mu      sync.Mutex
	until   time.Time
	on      bool
	reports []report.Part
	cursors map[peer.ID]*watchedPeer
	done    map[job.RunID]bool // ended runs of which everything there is was asked for
	next    int                // where the next round begins
}

// life is this peer's part in a run, as those see it who watch.
type life struct {
	run   job.RunID
	over  bool
	ended time.Time
	// traced says that its segments can still be shown.
	traced bool
}

func newWatching(b *base.Base, board *switchboard.Board, s *swarm, of *conductor, own *showing) *watching {
	return &watching{Base: b, board: board, swarm: s, runs: of.lives, live: of.sessions.of, own: own,
		cursors: map[peer.ID]*watchedPeer{}, done: map[job.RunID]bool{}}
}

// watchedPeer is what is known of a member that is asked.
type watchedPeer struct {
	at     map[job.RunID]watchCursor
	asking bool
	offset time.Duration // its clock's, ahead of this one's
	within time.Duration // the offset is right by half of this
	rest   time.Time     // it does not answer: not to be asked before
}

// take gives what the members, and this peer, have reported of the runs since the last call, and has them asked for
// the next few seconds.
func (w *watching) take() []report.Part {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until = w.Now().Add(watchLease); !w.on {
		w.on = true
		w.Spawn(w.ask)
	}
	reports := w.reports
	w.reports = nil
	return reports
}

// ask asks while somebody wants it.
func (w *watching) ask(ctx context.Context) {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for now := w.Now(); ; {
		w.mu.Lock()
		w.on = now.Before(w.until)
		on := w.on
		w.mu.Unlock()
		if !on {
			return
		}
		w.round(now)
		select {
		case <-ctx.Done():
			return
		case now = <-tick.C:
		}
	}
}

// round asks this peer and the members, each about the runs that are of interest.
func (w *watching) round(now time.Time) {
	runs := w.chosen(now)
	if len(runs) == 0 {
		return
	}
	own := w.swarm.self
	if q := w.question(own, runs, now); q != nil {
		w.hear(own, q, w.own.tell(q, now), now, now)
	}
	var list []peer.ID
	for _, c := range w.swarm.members.List() {
		if w.board.Connected(c.Peer) && !w.swarm.places.Silent(c.Peer) {
			list = append(list, c.Peer)
		}
	}
	w.mu.Lock()
	from := w.next
	w.next += maxWatchAsks
	if w.next >= len(list) {
		w.next = 0
	}
	for id := range w.cursors {
		if id != own && w.swarm.members.Get(id) == nil {
			delete(w.cursors, id)
		}
	}
	w.mu.Unlock()
	for _, id := range list[min(from, len(list)):min(from+maxWatchAsks, len(list))] {
		if q := w.question(id, runs, now); q != nil {
			w.Spawn(func(ctx context.Context) { w.askOne(ctx, id, q) })
		}
	}
}

// chosen lists the runs to ask after: those in progress, those that have just ended, and once the last ones that ended
// before.
func (w *watching) chosen(now time.Time) (ids []job.RunID) {
	lives := w.runs()
	w.mu.Lock()
	defer w.mu.Unlock()
	var past []life
	known := map[job.RunID]bool{}
	for _, l := range lives {
		known[l.run] = true
		switch {
		case !l.traced:
		case !l.over || now.Sub(l.ended) < watchedAfter:
			ids = append(ids, l.run)
			delete(w.done, l.run)
		case !w.done[l.run]:
			past = append(past, l)
		}
	}
	slices.SortFunc(ids, func(a, b job.RunID) int { return slices.Compare(a[:], b[:]) })
	slices.SortFunc(past, func(a, b life) int { return b.ended.Compare(a.ended) })
	for i, l := range past {
		if i < maxPastRuns && len(ids) < maxWatchedRuns {
			ids = append(ids, l.run)
		}
	}
	maps.DeleteFunc(w.done, func(id job.RunID, _ bool) bool { return !known[id] })
	for _, l := range past { // in the next rounds only if there is more
		w.done[l.run] = true
	}
	return ids[:min(len(ids), maxWatchedRuns)]
}

// question is what a member is asked now; nil if it is not.
func (w *watching) question(id peer.ID, runs []job.RunID, now time.Time) *watchQuestion {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.cursors[id]
	if m == nil {
		m = &watchedPeer{at: map[job.RunID]watchCursor{}, within: time.Hour}
		w.cursors[id] = m
	}
	if m.asking || now.Before(m.rest) {
		return nil
	}
	m.asking = true
	q := &watchQuestion{}
	for _, run := range runs {
		c := m.at[run]
		c.Run = run
		q.Runs = append(q.Runs, c)
	}
	for run := range m.at {
		if w.live(run) == nil && !slices.Contains(runs, run) && len(m.at) > maxCursors {
			delete(m.at, run)
		}
	}
	return q
}

func (w *watching) askOne(ctx context.Context, id peer.ID, q *watchQuestion) {
	began := w.Now()
	var a watchAnswer
	if err := w.board.Ask(ctx, id, watchProtocol, q, &a, maxWatchAnswer, watchWithin); err != nil {
		w.Log.Debug("not told what runs there", "error", err)
		w.unasked(id, w.Now())
		return
	}
	w.hear(id, q, &a, began, w.Now())
}

// unasked notes that a member did not answer.
func (w *watching) unasked(id peer.ID, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.cursors[id]; m != nil {
		m.asking, m.rest = false, now.Add(watchLease)
	}
}

// hear makes reports of an answer to a question that was asked from began to now.
func (w *watching) hear(id peer.ID, q *watchQuestion, a *watchAnswer, began, now time.Time) {
	cluster := w.swarm.places.Mine().Name
	if id != w.swarm.self {
		cluster = w.swarm.places.Of(id).Name
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.cursors[id]
	if m == nil {
		return
	}
	m.asking = false
	if took := now.Sub(began); took <= m.within {
		m.offset, m.within = time.UnixMicro(a.Now).Sub(began.Add(took/2)), took
	}
	ways := waysOf(a.Links)
	for i := range a.Runs[:min(len(a.Runs), maxWatchedRuns)] {
		part := &a.Runs[i]
		if !slices.ContainsFunc(q.Runs, func(c watchCursor) bool { return c.Run == part.Run }) {
			continue
		}
		m.at[part.Run] = watchCursor{Life: part.Life, After: part.Next, States: part.StatesTo}
		if part.More {
			delete(w.done, part.Run)
		}
		if len(w.reports) < maxReports {
			w.reports = append(w.reports, m.report(id.String(), cluster, part, ways))
		}
	}
}

// waysOf reads what another peer says of its ways to clusters.
func waysOf(links []watchLink) []report.Way {
	ways := make([]report.Way, 0, min(len(links), maxLinks))
	for _, l := range links[:min(len(links), maxLinks)] {
		ways = append(ways, report.Way{Cluster: plain.Name(plain.Clip(l.Cluster)),
			RTT: time.Duration(max(0, l.RTT)) * time.Microsecond, Taken: l.Taken})
	}
	return ways
}

// report is a part of an answer as pages take it, by this peer's clock.
func (m *watchedPeer) report(id, cluster string, part *watchPart, ways []report.Way) report.Part {
	at := func(micro int64) time.Time { return time.UnixMicro(micro).Add(-m.offset).UTC() }
	r := report.Part{
		Run: hex.EncodeToString(part.Run[:]), Peer: id, Cluster: cluster, Ways: ways,
		Forgotten: report.Forgotten{Segments: part.Left.Segments, Spawned: part.Left.Spawned,
			Executed: part.Left.Executed},
	}
	for _, s := range part.Segments {
		if !s.State.Told() || s.Start <= 0 {
			continue
		}
		t := report.Segment{
			ID: fmt.Sprintf("%s/%x.%d", id, part.Life, s.Serial), Job: s.Path.String(), Start: at(s.Start),
			Spawned: s.Spawned, Executed: s.Executed, State: s.State, Again: s.Again,
		}
		if s.Took >= 0 && s.Took <= maxTook.Microseconds() {
			t.End = t.Start.Add(time.Duration(s.Took) * time.Microsecond)
		}
		r.Segments = append(r.Segments, t)
	}
	for _, s := range part.States[:min(len(part.States), maxStatesTold)] {
		if s.Start <= 0 || s.For < 0 || s.For > watchLease.Microseconds() {
			continue
		}
		r.Activities = append(r.Activities, report.Activity{
			Start: at(s.Start), For: time.Duration(s.For) * time.Microsecond, Work: int(s.Work),
			Steal: int(s.Steal), Comm: int(s.Comm), Idle: int(s.Idle),
		})
	}
	return r
}

// maxTook bounds what is believed of how long a segment took.
const maxTook = 2 * runLife
