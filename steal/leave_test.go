package steal

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// A goodbye says to whom the jobs go back which of their parts others have; nobody else hears of those.
func TestGoodbyeNamesParts(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	c.Report(c.now, Load{Workers: 1, Idle: 1})
	c.Step(c.now, &Message{From: thiefNo(1), To: c.self,
		Reply: &StealReply{Jobs: []Grant{{Handle: 4, Job: jobAt(7)}}}})
	c.Report(c.now, Load{Workers: 1, Queued: 9})
	for i, j := range []Job{jobAt(7, 2), jobAt(9), jobAt(7, 1, 3)} {
		out := c.Step(c.now, request(2*(i%2), RequestID(i+1), 0))
		c.Taken(c.now, orders(out, Take)[0].Ticket, []Taken{{Ref: Ref(i + 1), Job: j}})
	}
	c.Report(c.now+time.Second, Load{Workers: 1, Queued: 9})
	want := []Tuple{
		{Path: job.Path{7, 2}, Identity: pathIdentity(job.Path{7, 2}), Holder: thiefNo(0), Age: time.Second},
		{Path: job.Path{7, 1, 3}, Identity: pathIdentity(job.Path{7, 1, 3}), Holder: thiefNo(0), Age: time.Second},
	}
	said := 0
	for _, m := range c.Leave(c.now, time.Second).Messages {
		if m.Goodbye == nil {
			continue
		}
		said++
		same := slices.EqualFunc(m.Goodbye.Parts, want, func(a, b Tuple) bool {
			return slices.Equal(a.Path, b.Path) && a.Identity == b.Identity && a.Holder == b.Holder && a.Age == b.Age
		})
		if mine := m.To.Peer == thiefNo(1).Peer; mine && !same || !mine && len(m.Goodbye.Parts) > 0 {
			t.Errorf("%v is told of %+v", m.To, m.Goodbye.Parts)
		}
	}
	if said != 3 {
		t.Errorf("%d of 3 partners hear a goodbye", said)
	}
}

// Of what a goodbye says counts what is about jobs that its sender had from here, and about other members.
func TestGoodbyeIsHearsay(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	give(t, c, 0, 1, 1)
	part := func(holder PeerID, path ...uint32) Tuple {
		return Tuple{Path: path, Identity: pathIdentity(path), Holder: Address{Peer: holder, Inc: 2}}
	}
	good := part("t01", 1, 2)
	c.Step(c.now, &Message{From: thiefNo(0), To: c.self, Goodbye: &Goodbye{Parts: []Tuple{good, part("zz", 1, 3),
		part("v", 1, 4), part("t01", 2, 1)}}})
	if ts := c.lost.tuples.index; len(ts) != 1 || !slices.Equal(ts[0].Path, good.Path) || ts[0].Holder != good.Holder {
		t.Errorf("it is known of %d parts, want that of %v alone", len(ts), good.Path)
	}
	many := &Message{From: thiefNo(1), To: c.self, Goodbye: &Goodbye{Parts: make([]Tuple, maxTuples+1)}}
	for i := range many.Goodbye.Parts {
		many.Goodbye.Parts[i] = part("t02", 1, uint32(i))
	}
	if many.Validate() == nil {
		t.Errorf("a goodbye of %d parts passes", len(many.Goodbye.Parts))
	}
}

// What had no room while a peer ran is not handed over when it leaves, and is counted, since it may be on its disk
// alone. What had gone home, or came from elsewhere and was never here, is not.
func TestDisplacedIsCounted(t *testing.T) {
	c := salvageCore(t, func(cfg *Config) { cfg.MaxKept = 2 })
	for i, x := range []struct {
		class keptClass
		want  uint64
	}{{settled, 0}, {settled, 0}, {settled, 0}, {own, 0}, {own, 0}, {own, 1}, {restored, 2}, {handed, 2},
		{settled, 2}} {
		p := job.Path{uint32(i + 1)}
		c.lost.keep(Partial{Path: p, Identity: pathIdentity(p), Outcome: []byte{1}}, x.class, "b")
		if got := c.Stats().PartialsDisplaced; got != x.want {
			t.Errorf("after outcome %d %d had no room, want %d", i, got, x.want)
		}
	}
	c.Leave(c.now, 0)
	if got := c.Stats().PartialsDisplaced; got != 2 {
		t.Errorf("when it has left, %d had no room", got)
	}
}
