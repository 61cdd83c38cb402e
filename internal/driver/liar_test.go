package driver_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Hand-overs that wait for what they name are held whole: of one peer 64 are, whatever it numbers them, and a job
// that names something finds its place.
func TestHandOversThatWait(t *testing.T) {
	s := newSharer(t, "a", true)
	for i := range 200 {
		var d sharedobj.Digest
		binary.LittleEndian.PutUint32(d[:], uint32(i+1))
		outcome, err := port.NameIn(make([]byte, 100<<10), []sharedobj.Digest{d})
		if err != nil {
			t.Fatal(err)
		}
		s.d.Step(s.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1},
			To: steal.Address{Peer: "a"},
			HandOver: &steal.HandOver{ID: uint64(i / 2), Parts: []steal.Partial{{Path: job.Path{1},
				Outcome: outcome}}}})
	}
	if n := s.d.Waiting(); n != 64 {
		t.Errorf("one member has %d hand-overs wait", n)
	}
	made := constant("sea")
	names := &port.Names{Needs: []sharedobj.Need{{Digest: made.Shared.Recipe.Digest()}}}
	b, _ := names.Encode()
	s.said = nil
	s.d.Step(s.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1},
		To: steal.Address{Peer: "a", Inc: 1},
		Reply: &steal.StealReply{Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: job.Path{1}, Function: "f",
			Names: b}}}}})
	if strings.Contains(strings.Join(s.said, " "), "back") {
		t.Errorf("a job that names something: %q", s.said)
	}
}

// One hand-over does not take all fetches: what a job here reads is fetched.
func TestOneHandOverTakesAllFetches(t *testing.T) {
	s := newSharer(t, "a", true)
	over := &steal.HandOver{ID: 1}
	size := 0
	for i := range 5 {
		var ds []sharedobj.Digest
		for k := range port.MaxNeeds {
			ds = append(ds, sharedobj.Digest{1, byte(i), byte(k)})
		}
		outcome, _ := port.NameIn(nil, ds)
		size += len(outcome)
		over.Parts = append(over.Parts, steal.Partial{Path: job.Path{uint32(i)}, Outcome: outcome})
	}
	s.d.Step(s.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1},
		To: steal.Address{Peer: "a"}, HandOver: over})
	s.did = nil
	made := constant("sea")
	s.tell(port.Event{Kind: port.Wanted,
		Shared: &port.Shared{Digest: made.Shared.Recipe.Digest()}}) // a job here reads something
	if slices.Contains(s.did, "failed") {
		t.Errorf("after one hand-over of %d bytes a read of a job here fails at once: %v", size, s.did)
	}
}

// Whoever answers each question about a job just in time does not hold the run: its job is computed here once all
// answers have taken two minutes longer than it had the job. Who answers sooner is asked for all that there is.
func TestSlowAnswersEnd(t *testing.T) {
	const deep, had = 100, 10 * time.Second
	for after, most := range map[time.Duration]int{9 * time.Second: 15, 100 * time.Millisecond: deep} {
		var asked []verify.Open
		var trials []*driver.Trial
		s, d, from := hearing(t, false, func(p *driver.Proving) {
			p.Config.Quorum, p.Config.Spot = 1, 0.01
			p.Rand = last{}
			p.Open = func(o verify.Open) { asked = append(asked, o) }
			p.Rerun = func(t *driver.Trial) { trials = append(trials, t) }
		})
		path, shows := chain(s, deep)
		s.gives(d, s.now, path[:1])
		s.now += had
		from(path[:1])("b", "b", "truth")
		for i := 0; i < len(asked); i++ {
			s.now += after
			d.Opened(s.now, asked[i], shows[asked[i].Claim.Node])
		}
		d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
		if here := s.ran > 1; len(asked) != most || here != (most < deep) || here == (len(trials) > 0) {
			t.Errorf("answers after %v: %d questions, %d trials, computed here: %v", after, len(asked), len(trials), here)
		}
	}
}

// Whoever commits to many nodes, each of which takes long to run again, has its job computed here once that has taken
// two minutes and what such a job may cost. Of one whose nodes are short all are.
func TestRerunsOfAPeerAreBounded(t *testing.T) {
	const deep, had = 100, 20 * time.Millisecond
	for took, most := range map[time.Duration]int{25 * time.Second: 6, 100 * time.Millisecond: deep} {
		var trials []*driver.Trial
		var asked []verify.Open
		s, d, from := hearing(t, false, func(p *driver.Proving) {
			p.Config.Quorum, p.Config.Spot = 1, 1
			p.Rand = new(inTurn)
			p.Open = func(o verify.Open) { asked = append(asked, o) }
			p.Rerun = func(t *driver.Trial) { trials = append(trials, t) }
		})
		path, shows := chain(s, deep)
		s.gives(d, s.now, path[:1])
		s.now += had
		from(path[:1])("b", "b", "truth")
		for i, k := 0, 0; i < len(asked) || k < len(trials); {
			if i < len(asked) {
				d.Opened(s.now, asked[i], shows[asked[i].Claim.Node])
				i++
				continue
			}
			d.Reran(s.now, trials[k], driver.Tried{OK: true, Outcome: []byte("truth"), Used: []bool{true}, Took: took})
			k++
		}
		d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
		if here := s.ran > 1; len(trials) != most || here != (most < deep) {
			t.Errorf("of %v each %d were run again; computed here: %v", took, len(trials), here)
		}
	}
}

// inTurn draws one after the other.
type inTurn uint64

func (x *inTurn) Below(n uint64) uint64 {
	*x++
	return uint64(*x) % n
}

// chain makes a tree in which each node is the only child of the next, and what is shown of them.
func chain(s *signed, deep int) (path job.Path, shows map[verify.Node]*driver.Shown) {
	path, shows = slices.Repeat(job.Path{1}, deep), map[verify.Node]*driver.Shown{}
	for n := deep; n > 0; n-- {
		sh := &driver.Shown{Made: driver.Made{Job: steal.Job{Function: "f", Arg: []byte{1}}}}
		o := &verify.Opening{Node: driver.NodeOf(path[:n], idOf(path)), Outcome: s.Digest([]byte("truth"))}
		if s.made != nil {
			o.Children = []verify.Claim{s.made.Claim()}
			sh.Children = []driver.Given{{Claim: o.Children[0], Bytes: []byte("truth")}}
		}
		s.made, shows[o.Node] = o, sh
	}
	return path, shows
}

// last draws the last one.
type last struct{}

func (last) Below(n uint64) uint64 { return n - 1 }

// A process of jobs says of one that it names as much as may be said, and there is no room for what is added to it: the
// job leaves without.
func TestNamesThatFillAll(t *testing.T) {
	s := newSharer(t, "a", true)
	names := &port.Names{Needs: []sharedobj.Need{{Digest: sharedobj.Digest{1}}}}
	const most = 64 << 20
	for n := most; ; {
		names.Holders = []sharedobj.PeerID{sharedobj.PeerID(strings.Repeat("h", n))}
		b, err := names.Encode()
		if err != nil {
			n -= 16
			continue
		}
		s.d.Happened(s.now, port.Event{Kind: port.Taken, Ticket: 1, Jobs: []steal.Taken{{Ref: 1, Spawned: true,
			Job: steal.Job{Path: job.Path{1}, Function: "f", Names: b}}}})
		return
	}
}
