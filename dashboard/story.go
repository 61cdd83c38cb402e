package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// Bounds of what is remembered of runs.
const (
	maxStories   = 4    // runs whose trees are held
	pastSegments = 5000 // of those that have ended, but the newest
	maxJob       = 4096 // characters of a job's path
	// maxSpans bounds the state runs of a run, of all peers together; when a peer has more than its part,
	// neighbours become one.
	maxSpans  = 40_000
	leastPart = 60
	// settleAfter is for how long after the end of a run, and after somebody began to watch, peers may tell how
	// segments ended. What still seems to run then is settled.
	settleAfter = 8 * time.Second
	// lately is over how long efficiency is measured.
	lately = 10 * time.Second
	// spokenEvery is how often at most what one peer tells of lost jobs makes a notice: it may not be so, and others'
	// notices would make way.
	spokenEvery = time.Minute
	// maxLife bounds the times of a run, and ahead how much later than now what is told may be: clocks are not quite
	// the same.
	maxLife = 10 * 365 * 24 * time.Hour
	ahead   = 2 * time.Second
)

// A story is what is remembered of one run.
type story struct {
	run    string
	origin time.Time // of its times
	tree   *Tree
	peers  []string           // in the order in which they were first heard of
	index  map[string]int     // into peers
	places []string           // their clusters
	spans  []spanLog          // theirs
	last   uint64             // number of the newest span
	thin   uint64             // how often neighbours became one
	parts  []report.Forgotten // what the peers have no memory of
	heard  []time.Duration    // when each peer was heard of last
	looked []int              // what its reports have cost: see maxLooked
	spoken []time.Duration    // when each has last told of lost jobs, for a notice; 0: never
	unsaid []int              // lost segments of which each has told since
	newest time.Duration      // the latest time heard of
	latest time.Duration      // that can be
	ended  bool               // its segments are settled
	full   uint64             // segments for which there was no room
	given  []given            // of the last seconds, the oldest first

	notice func(letter, tone, text string)
}

// A given is how much processor time a run had had at a moment.
type given struct{ at, cpu float64 } // seconds

// give notes how much processor time all peers have given. They tell it at different times, about once a second.
func (s *story) give(now time.Time, cpu float64) {
	at := s.at(now).Seconds()
	if n := len(s.given); n > 0 && (at <= s.given[n-1].at || cpu < s.given[n-1].cpu) {
		s.given = nil // a clock was set, or a peer began anew
	}
	s.given = append(s.given, given{at, cpu})
	for len(s.given) > 2 && at-s.given[1].at >= lately.Seconds() {
		s.given = s.given[1:]
	}
}

// cores is how much of it came in each second lately; 0 while that is not known.
func (s *story) cores() float64 {
	if len(s.given) < 2 {
		return 0
	}
	first, last := s.given[0], s.given[len(s.given)-1]
	return (last.cpu - first.cpu) / (last.at - first.at)
}

type spanLog struct{ list []span }

// A span is a state run in worker-seconds, so that two can be added.
type span struct {
	number                  uint64
	start, end              time.Duration
	work, steal, comm, idle float64
}

func newStory(run string, origin time.Time, notice func(letter, tone, text string)) *story {
	return &story{run: run, origin: origin, tree: NewTree(DefaultSegments), index: map[string]int{}, notice: notice}
}

// hear takes in what a peer has told.
func (s *story) hear(r *report.Part, now time.Time) {
	i, ok := s.index[r.Peer]
	if !ok {
		if len(s.peers) >= maxPeers {
			return
		}
		i = len(s.peers)
		s.index[r.Peer] = i
		s.peers, s.places = append(s.peers, r.Peer), append(s.places, r.Cluster)
		s.spans, s.parts, s.heard = append(s.spans, spanLog{}), append(s.parts, report.Forgotten{}), append(s.heard, 0)
		s.looked, s.spoken, s.unsaid = append(s.looked, 0), append(s.spoken, 0), append(s.unsaid, 0)
	}
	paid := (s.at(now) - s.heard[i]).Seconds() * lookedRate
	s.tree.looked = max(0, s.looked[i]-int(min(paid, maxLooked)))
	s.heard[i] = s.at(now)
	if s.latest = maxLife; now.After(s.origin) { // else this clock was set back
		s.latest = s.heard[i] + ahead
	}
	if s.places[i] != r.Cluster {
		s.places[i] = r.Cluster
	}
	if r.Forgotten.Segments > s.parts[i].Segments {
		s.parts[i] = r.Forgotten
	}
	for k := range r.Segments {
		s.unsaid[i] += s.put(i, &r.Segments[k])
	}
	if at := s.heard[i]; s.unsaid[i] > 0 && (s.spoken[i] == 0 || at-s.spoken[i] >= spokenEvery) {
		s.notice("X", "bad", plural(s.unsaid[i], "segment is lost with its peer", "segments are lost with their peers")+
			", and run again.")
		s.spoken[i], s.unsaid[i] = max(at, 1), 0
	}
	s.looked[i] = min(s.tree.looked, maxLooked)
	for _, run := range r.Activities {
		s.span(i, run)
	}
}

// at is a time since the run was submitted. Peers may say anything: what cannot be is brought within what can.
func (s *story) at(t time.Time) time.Duration { return min(max(0, t.Sub(s.origin)), maxLife) }

// told is a time of which a peer tells: nothing has happened later than now.
func (s *story) told(t time.Time) time.Duration { return min(s.at(t), s.latest) }

// put takes in a segment of a peer, or counts those that were lost of which it tells. All of a peer's hold one copy of
// its name.
func (s *story) put(peer int, t *report.Segment) (lost int) {
	if t.State == report.SegmentRestarted {
		return s.lost(t.Job, s.told(t.End))
	}
	seg := Segment{
		ID: t.ID, Job: t.Job, Peer: s.peers[peer], Cluster: s.places[peer], Start: s.told(t.Start), Spawned: t.Spawned,
		Executed: t.Executed, Restarted: t.Again,
	}
	old, known := s.tree.Get(t.ID)
	if known {
		seg.Start, seg.Cluster = old.Start, old.Cluster
	} else if len(t.Job) > maxJob || s.tree.Put(seg) != nil { // it is full, or the record cannot be: others' word
		s.full++
		return 0
	}
	if t.State != report.SegmentRunning {
		seg.State, seg.End = report.SegmentDone, max(seg.Start, s.told(t.End))
		if t.State == report.SegmentAborted {
			seg.State = report.SegmentAborted
		} else if up, ok := s.tree.Above(t.ID); ok && up.State == report.SegmentRestarted && up.End < seg.End {
			seg.State = report.SegmentOrphan
		}
	}
	if known && old.State == report.SegmentRestarted && seg.State == report.SegmentRunning &&
		seg.Executed == old.Executed {
		return 0 // nothing that was not known when it was lost
	}
	s.newest = max(s.newest, seg.Start, seg.End)
	_ = s.tree.Put(seg) // it is known, so there is room
	return 0
}

// lost ends the segments of a job whose thief was lost, and counts them.
func (s *story) lost(job string, at time.Duration) (n int) {
	for _, seg := range s.tree.At(job) {
		if !seg.State.Ended() && seg.Start < at {
			seg.State, seg.End = report.SegmentRestarted, at
			if s.tree.Put(seg) == nil {
				n++
			}
		}
	}
	return n
}

// loses ends what runs on peers that are not there any more, as far as is known, at the time when they were last
// heard of. A peer that is heard of again runs what it says.
func (s *story) loses(there func(peer string) bool) {
	lost := map[string]int{}
	for _, seg := range s.tree.Running() {
		if there(seg.Peer) {
			continue
		}
		seg.State, seg.End = report.SegmentRestarted, max(seg.Start, min(s.heard[s.index[seg.Peer]], s.newest))
		if s.tree.Put(seg) == nil {
			lost[seg.Peer]++
		}
	}
	for peer, n := range lost {
		s.notice("X", "bad", fmt.Sprintf("%s lost with …%s, and run again.",
			plural(n, "segment is", "segments are"), peer[max(0, len(peer)-8):]))
	}
}

// settle ends what still seems to run though the run has ended. If it has an answer the root is done, and of the rest
// nobody knows: the results may have been used, or not. Else nobody wanted them any more.
func (s *story) settle(end time.Time, answered bool) {
	s.ended = true
	for _, seg := range s.tree.Running() {
		switch {
		case !answered:
			seg.State = report.SegmentAborted
		case seg.Job == "root":
			seg.State = report.SegmentDone
		default:
			seg.State = report.SegmentUnseen
		}
		seg.End = max(seg.Start, s.at(end))
		_ = s.tree.Put(seg) // it is known, so there is room
	}
}

// span takes in what the workers of a peer did for a while.
func (s *story) span(i int, r report.Activity) {
	start := s.told(r.Start)
	r.For = min(max(0, r.For), time.Minute, s.latest-start)
	f := r.For.Seconds()
	s.last++
	log := &s.spans[i]
	log.list = append(log.list, span{
		s.last, start, start + r.For, float64(r.Work) * f, float64(r.Steal) * f, float64(r.Comm) * f,
		float64(r.Idle) * f,
	})
	s.newest = max(s.newest, start+r.For)
	if len(log.list) <= max(leastPart, maxSpans/len(s.peers)) {
		return
	}
	half := log.list[:0]
	for k := 0; k+1 < len(log.list); k += 2 {
		a, b := log.list[k], log.list[k+1]
		half = append(half, span{b.number, min(a.start, b.start), max(a.end, b.end), a.work + b.work,
			a.steal + b.steal, a.comm + b.comm, a.idle + b.idle})
	}
	if len(log.list)%2 == 1 {
		half = append(half, log.list[len(log.list)-1])
	}
	log.list = half
	s.thin++
}

// workers adds up what all workers did lately.
func (s *story) workers() (w Workers) {
	from := s.newest - lately
	for i := range s.spans {
		for _, p := range slices.Backward(s.spans[i].list) {
			if p.end <= from {
				break
			}
			w.Work += p.work
			w.Steal += p.steal
			w.Comm += p.comm
			w.Idle += p.idle
			w.For = max(w.For, (s.newest - max(from, p.start)).Seconds())
		}
	}
	return w
}

// digest is the run's steal tree at one glance.
func (s *story) digest() TreeDigest {
	total := s.tree.Total()
	d := TreeDigest{
		Run: s.run, Version: s.tree.version, Spans: s.last, Segments: total.Segments,
		Running: total.States[report.SegmentRunning], Folded: s.tree.Folded(),
		Executed: total.Executed, Spawned: total.Spawned, Restarted: total.States[report.SegmentRestarted],
		Orphans: total.States[report.SegmentOrphan],
		Aborted: total.States[report.SegmentAborted], Peers: len(s.peers), Newest: s.newest.Seconds(),
		Workers: s.workers(), Cores: s.cores(), Unknown: s.full, Unseen: total.States[report.SegmentUnseen],
	}
	for _, p := range s.parts {
		d.Unknown += p.Segments
		d.Executed += p.Executed
		d.Spawned += p.Spawned
	}
	return d
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

// clipped is a text of another peer for a notice.
func clipped(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
