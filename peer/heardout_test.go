package peer

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// Guards what the figures of an answer wait for: for all that took part, for this peer's own engine, not for those of
// which nothing was heard for long, and for nobody for ever; and that it says who has not told what it did last.
func TestHeardOut(t *testing.T) {
	end := time.Unix(1_000_000, 0)
	works := load{Workers: 2, until: end.Add(loadLife)}
	for _, c := range []struct {
		name    string
		loads   []load
		settled bool
		late    int
		after   time.Duration
		heard   bool
		unheard int
	}{
		{"all have told", []load{{}, {}}, true, 0, 0, true, 0},
		{"one works still", []load{{}, works}, true, 0, 0, false, 1},
		{"one is too slow", []load{{}, works, works}, true, 0, lastWords, true, 2},
		{"one is gone", []load{{Workers: 1, until: end}}, true, 0, 0, true, 1},
		{"a worker of one was in a leaf", []load{{Late: 1}}, true, 0, 0, true, 1},
		{"so was one here", []load{{}}, true, 3, 0, true, 1},
		{"here nothing is counted yet", []load{{}}, false, 0, 0, false, 1},
		{"and never will be", []load{{}}, false, 0, lastWords, true, 1},
	} {
		r := part{ended: end, settled: c.settled, late: c.late, loads: map[peer.ID]*load{}}
		for i := range c.loads {
			r.loads[peer.ID(rune('a'+i))] = &c.loads[i]
		}
		if heard, unheard := r.heardOut(end.Add(c.after)), r.unheard(); heard != c.heard || unheard != c.unheard {
			t.Errorf("%s: heard %v, %d not, want %v, %d", c.name, heard, unheard, c.heard, c.unheard)
		}
	}
}

// A countingHouse is an engine that does nothing but count, and what happens meanwhile.
type countingHouse struct {
	meanwhile func()
	events    []port.Event
}

func (e *countingHouse) Do(o *port.Order) {
	if o.Kind == port.Count {
		e.meanwhile()
		e.events = append(e.events, port.Event{Kind: port.Counted, Figures: &port.Figures{Whole: true, Executed: 7}})
	}
}

func (e *countingHouse) Bell() <-chan struct{} { return nil }

func (e *countingHouse) Poll() (all []port.Event, _ time.Duration) {
	all, e.events = e.events, nil
	return all, 0
}

func (e *countingHouse) Close() {}

// A listener hears what a peer tells everybody.
type listener struct{ loads []load }

func (x *listener) Publish(_ gossip.Kind, b []byte) error {
	var l load
	err := wire.Figures().Decode(b, &l)
	x.loads = append(x.loads, l)
	return err
}

func (x *listener) SetMembers(gossip.Members) {}
func (x *listener) Close() error              { return nil }

// counting is a session whose engine does nothing but count.
func counting(t *testing.T, meanwhile func()) *session.Session {
	p, err := policy.ByName("rs", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(session.Config{
		Run: steal.Run{ID: job.NewRunID(), Deputies: []steal.PeerID{"p0"}}, Self: steal.Address{Peer: "self", Inc: 1},
		Core: steal.LAN(), Policy: p, Engine: &countingHouse{meanwhile: meanwhile},
		Members: steal.NewMembers([]steal.Member{{ID: "self"}, {ID: "p0"}}),
		Send:    func(*steal.Message) {}, Tell: func(*steal.News) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Guards that a run which nobody computes yet says that its module is being compiled here, or its process starts, and
// that one which others compute says nothing of it.
func TestRunIsPrepared(t *testing.T) {
	s, now := counting(t, func() {}), time.Now()
	s.SetCores(1, false)
	s.Figures()
	s.Figures() // what was before is in the session's counters now
	r := &part{manifest: &runs.Manifest{Entry: module.Func}, session: s, loads: map[peer.ID]*load{}}
	x := &reporter{}
	if got := x.waits(r, now); got != "its module is being compiled on this machine" {
		t.Errorf("of a module it says %q", got)
	}
	r.manifest = &runs.Manifest{}
	if got := x.waits(r, now); got != "the process for its jobs starts on this machine" {
		t.Errorf("of what is built in it says %q", got)
	}
	r.loads["p1"] = &load{Workers: 1, until: now.Add(time.Minute)}
	if got := x.waits(r, now); got != "" {
		t.Errorf("of one that others compute it says %q", got)
	}
}

// Guards that a peer's last word about a run is its last: it may end while the peer counts what to tell of it.
func TestNothingIsToldAfterTheLastWord(t *testing.T) {
	var ends func()
	s := counting(t, func() { ends() })
	heard := &listener{}
	now := time.Unix(1000, 0)
	x := someMembers(0, now)
	r := &part{manifest: &runs.Manifest{Owner: "p0"}, session: s}
	b := &base.Base{Now: time.Now, Every: time.Second}
	c := &conductor{Base: b, outside: outside{swarm: &swarm{members: x}, voice: &voice{Base: b, gossip: heard},
		crew: &crew{cfg: &Config{AdaptEvery: time.Minute}}}, parts: map[job.RunID]*part{{}: r}}
	ends = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.final == nil {
			r.final = new(report.RunStats)
			r.tellLast(c, r.final, 3)
		}
	}
	c.tellLoads(time.Now())
	if len(heard.loads) != 1 || heard.loads[0].Late != 3 {
		t.Errorf("told were %+v", heard.loads)
	}
}

// Guards that what a peer told before its last word, and that comes later, is not taken for the present, and that one
// that comes back is heard.
func TestLastWordIsNotOvertaken(t *testing.T) {
	now := time.Unix(1000, 0)
	x := someMembers(0, now)
	c := &conductor{Base: &base.Base{Now: func() time.Time { return now }, Every: time.Second},
		outside: outside{swarm: &swarm{members: x}},
		parts:   map[job.RunID]*part{{}: {final: new(report.RunStats), manifest: &runs.Manifest{}}}}
	c.self = "self"
	says := func(workers int, done uint64) (l load) {
		l.Workers, l.Stats.Executed = workers, done
		return l
	}
	for i, h := range []struct {
		after   time.Duration
		told    load
		workers int
		done    uint64
	}{
		{0, says(2, 5), 2, 5},
		{0, says(0, 9), 0, 9},
		{time.Second, says(2, 9), 0, 9},
		{time.Second, says(2, 7), 0, 9},
		{time.Second, says(0, 8), 0, 9},
		{time.Second, says(2, 10), 2, 10},
		{time.Second, says(0, 10), 0, 10},
		{time.Minute, says(2, 1), 2, 1},
	} {
		now = now.Add(h.after)
		c.hearLoad("b1", encode(&h.told))
		if l := c.parts[job.RunID{}].loads["b1"]; l.Workers != h.workers || l.Stats.Executed != h.done {
			t.Errorf("%d: %d workers, %d jobs done", i, l.Workers, l.Stats.Executed)
		}
	}
}

// Guards that what a slow worker tells afterwards is added to the figures of all runs, and nothing twice.
func TestWhatIsToldAfterwardsIsAdded(t *testing.T) {
	c := &conductor{outside: outside{work: &work{running: func() report.RunStats { return report.RunStats{} }},
		hours: &hours{}}}
	r := &part{manifest: &runs.Manifest{}}
	for _, done := range []uint64{5, 9, 9} {
		var final report.RunStats
		final.Executed, final.Given = done, 1
		r.conclude(c, &final)
		if all := c.work.sum(); all.Executed != done || all.Given != 1 || r.final.Executed != done {
			t.Errorf("after %d jobs all are %d", done, all.Executed)
		}
	}
}

// Guards that a run which was suspended begins anew: what a peer told last before is not its last word afterwards,
// whoever hears it, and this peer does not tell it any more either.
func TestLastWordBeforeSuspension(t *testing.T) {
	now, heard := time.Unix(1000, 0), &listener{}
	x := someMembers(0, now)
	b := &base.Base{Now: func() time.Time { return now }, Every: time.Second}
	c := &conductor{Base: b, outside: outside{swarm: &swarm{members: x}, voice: &voice{Base: b, gossip: heard},
		work: &work{running: func() report.RunStats { return report.RunStats{} }}, hours: &hours{}},
		parts: map[job.RunID]*part{}}
	var last, first load
	last.Stats.Executed, first.Workers, first.Stats.Executed = 9, 2, 1
	old := &part{manifest: &runs.Manifest{Owner: "p0"}}
	c.parts[job.RunID{}] = old
	c.hearLoad("b1", encode(&last))
	now = now.Add(time.Second)
	next := &part{manifest: old.manifest, loads: old.loads, began: now}
	c.parts[job.RunID{}] = next
	old.settle(c, port.Figures{}, session.Stats{})
	if len(heard.loads) != 0 {
		t.Errorf("it tells %+v of the part before", heard.loads)
	}
	c.hearLoad("b1", encode(&first))
	if l := next.loads["b1"]; l.Workers != 2 || l.Stats.Executed != 1 {
		t.Errorf("%d workers, %d jobs done", l.Workers, l.Stats.Executed)
	}
	next.settle(c, port.Figures{}, session.Stats{})
	if len(heard.loads) != 1 {
		t.Errorf("of the part that is %+v is told", heard.loads)
	}
}
