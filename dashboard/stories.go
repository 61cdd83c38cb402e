package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// Stories is what was seen of the swarm while somebody watched: trees, timelines, ways between clusters, notices.
type stories struct {
	mu      sync.Mutex
	self    string   // the peer that the source is, which is none of peers
	list    []*story // oldest first
	ways    map[string]wayReport
	notices []Notice
	last    uint64 // number of the newest notice

	since time.Time // somebody watches, without a pause
	heard time.Time // what was said last

	peers map[string]Peer // as they were at the last look; nil before the first
	runs  map[string]knownRun
}

// A knownRun is a run that the source knows, and when it was heard here that there is one, and that it is over: at the
// latest then it was. Its owner may say anything.
type knownRun struct {
	as          Run
	first, over time.Time
}

// A wayReport is what a peer has said last of its ways.
type wayReport struct {
	cluster string
	ways    []report.Way
}

// maxNotices bounds the notices that are kept.
const maxNotices = 50

func newStories() *stories { return &stories{ways: map[string]wayReport{}} }

// hear takes in what the source says, until ctx ends.
func (s *stories) hear(ctx context.Context, self string, reports []report.Part, peers []Peer, runs []Run,
	now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.heard) > settleAfter {
		s.since = now
	}
	s.self, s.heard = self, now
	s.notice(peers, runs, now)
	for i := range reports {
		if ctx.Err() != nil {
			break
		}
		r := &reports[i]
		if len(s.ways) < maxPeers || s.ways[r.Peer].cluster != "" {
			s.ways[r.Peer] = wayReport{r.Cluster, r.Ways}
		}
		run, ok := s.runs[r.Run]
		if ok && (len(r.Segments) > 0 || len(r.Activities) > 0 || s.find(r.Run) != nil) {
			s.of(&run.as, run.first).hear(r, now)
		}
	}
	for _, st := range s.list {
		if !st.ended {
			st.loses(func(peer string) bool { p, ok := s.peers[peer]; return peer == self || ok && p.Alive })
		}
		k, ok := s.runs[st.run]
		run := &k.as
		if ok && !run.Ended {
			st.give(now, run.CPU)
		}
		if !run.Ended || st.ended {
			continue
		}
		end := st.origin.Add(time.Duration(run.Elapsed * float64(time.Second)))
		if end.After(k.over) {
			end = k.over
		}
		if now.Sub(end) > settleAfter && now.Sub(s.since) > settleAfter {
			st.settle(end, run.State == "done")
		}
	}
}

func (s *stories) find(run string) *story {
	for _, st := range s.list {
		if st.run == run {
			return st
		}
	}
	return nil
}

// of finds the story of a run, or begins one; the oldest are forgotten. None is of a time after the run was first heard
// of, whatever its owner says: else who has one more than there are stories would have each begin as the newest.
func (s *stories) of(run *Run, first time.Time) *story {
	if st := s.find(run.Run); st != nil {
		return st
	}
	origin := run.Submitted
	if origin.After(first) {
		origin = first
	}
	st := newStory(run.Run, origin, func(letter, tone, text string) { s.say(time.Now(), letter, tone, text) })
	s.list = append(s.list, st)
	slices.SortStableFunc(s.list, func(a, b *story) int { return a.origin.Compare(b.origin) })
	if len(s.list) > maxStories {
		s.list = s.list[1:]
	}
	for _, old := range s.list[:len(s.list)-1] {
		if old.ended {
			old.tree.Shrink(pastSegments)
		}
	}
	return st
}

// say adds a notice. The mutex is held.
func (s *stories) say(now time.Time, letter, tone, text string) {
	s.last++
	s.notices = append(s.notices, Notice{Number: s.last, At: now.UTC(), Letter: letter, Tone: tone, Text: text})
	s.notices = s.notices[max(0, len(s.notices)-maxNotices):]
}

// briefRun is how old a run may be that is first seen when it has ended, to be told of: others are of long ago.
const briefRun = time.Minute

// notice says what is different from the last look.
func (s *stories) notice(peers []Peer, runs []Run, now time.Time) {
	nowPeers, nowRuns := map[string]Peer{}, map[string]knownRun{}
	for _, p := range peers {
		nowPeers[p.Peer] = p
	}
	for _, r := range runs {
		k, met := s.runs[r.Run]
		if k.as = r; !met {
			k.first, k.over = now, now
		} else if !r.Ended {
			k.over = now
		}
		nowRuns[r.Run] = k
	}
	first := s.peers == nil
	wasPeers, wasRuns := s.peers, s.runs
	s.peers, s.runs = nowPeers, nowRuns
	if first {
		return
	}
	for _, p := range peers {
		was, ok := wasPeers[p.Peer]
		switch name := peerName(p); {
		case !ok:
			s.say(now, "+", "good", name+" is a member.")
		case was.Alive && !p.Alive:
			s.say(now, "X", "bad", name+" is not heard any more.")
		case was.Alive && was.Connected && !p.Connected:
			s.say(now, "-", "quiet", name+" is not connected.")
		case !was.Alive && p.Alive:
			s.say(now, "+", "good", name+" is heard again.")
		}
	}
	for id, p := range wasPeers {
		if _, ok := nowPeers[id]; !ok {
			s.say(now, "-", "quiet", peerName(p)+" is gone.")
		}
	}
	for _, r := range slices.Backward(runs) {
		name := clipped(cmp.Or(r.Title, r.App))
		before, ok := wasRuns[r.Run]
		was := &before.as
		ended := r.Ended && (ok && !was.Ended || !ok && now.Sub(r.Submitted) < briefRun)
		switch {
		case !ok && !r.Ended:
			s.say(now, "R", "good", name+" was submitted.")
		case ended && r.State == "done":
			s.say(now, "D", "good", name+" is done.")
		case ended && (r.State == "cancelled" || r.State == "suspended"): // as its owner wanted it
			s.say(now, strings.ToUpper(r.State[:1]), "quiet", name+": "+r.State+".")
		case r.Quarantined && !was.Quarantined:
			s.say(now, "Q", "bad", name+" is in quarantine here: the process that computes for it ended twice.")
		case ended:
			s.say(now, "X", "bad", name+": "+r.State+".")
		}
	}
}

// peerName is a peer for people: the first characters of IDs are alike.
func peerName(p Peer) string {
	id := p.Peer[max(0, len(p.Peer)-8):]
	if p.Name != "" {
		return fmt.Sprintf("%s (…%s)", clipped(p.Name), id)
	}
	return "…" + id
}

// digests are the trees at one glance, by run.
func (s *stories) digests() []TreeDigest {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []TreeDigest{}
	for _, st := range s.list {
		list = append(list, st.digest())
	}
	return list
}

// flows adds up what the peers of each cluster say of their ways to the others. Of ways to where nobody is one member
// could name so many that those between others are not shown.
func (s *stories) flows() []Flow {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[string]bool{}
	for _, p := range s.peers {
		there[p.Cluster] = true
	}
	for id, r := range s.ways {
		if _, ok := s.peers[id]; !ok && id != s.self && len(s.ways) > 2*len(s.peers)+2 {
			delete(s.ways, id) // it is gone for long
			continue
		}
		there[r.cluster] = true
	}
	type pair struct{ from, to string }
	sums := map[pair]*Flow{}
	rtts := map[pair][]float64{}
	for _, r := range s.ways {
		for _, w := range r.ways {
			if !there[w.Cluster] {
				continue
			}
			k := pair{w.Cluster, r.cluster}
			if sums[k] == nil {
				sums[k] = &Flow{From: w.Cluster, To: r.cluster}
			}
			sums[k].Taken += w.Taken
			if w.RTT > 0 {
				rtts[k] = append(rtts[k], w.RTT.Seconds())
			}
		}
	}
	list := []Flow{}
	for k, f := range sums {
		if r := rtts[k]; len(r) > 0 {
			slices.Sort(r)
			f.RTT = rough(r[len(r)/2])
		}
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Flow) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return list[:min(len(list), maxFlows)]
}

// maxFlows bounds the pairs of clusters that are shown.
const maxFlows = 1024

// rough keeps a measurement from changing what is sent all the time.
func rough(seconds float64) float64 {
	return float64(time.Duration(seconds*float64(time.Second)).Round(50*time.Microsecond)) / float64(time.Second)
}

func (s *stories) noticed() []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notices)
}
