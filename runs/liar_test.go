package runs

import (
	"fmt"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// What two bring of one run may give way to this peer's own: whoever brought it is answered, and what is said of its
// writing is not taken for that.
func TestWhoBroughtItIsAnswered(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	c.RootHeld(noon, m.Run, true)
	for i, who := range []PeerID{"a", "b"} {
		k := &Claim{Run: m.Run, Author: who, Hash: Hash{byte(i + 1)}}
		c.Keep(noon, Ticket(i+1), k, Outcome{Bytes: []byte{byte(i)}, Hash: k.Hash}, 0, 1)
	}
	out := c.RootEnded(noon, m.Run, Outcome{Bytes: []byte{9}, Hash: Hash{9}})
	out = append(out, c.Written(noon, HeldFile, m.Run, "")...)
	out = append(out, c.Written(noon, RivalFile, m.Run, "")...) // of b's
	if own := c.kept.of[m.Run].answers[1]; own.Author != "self" || own.written {
		t.Errorf("its own is taken for written: %+v", own)
	}
	out = append(out, c.Written(noon, RivalFile, m.Run, "")...)
	replied := map[Ticket]bool{}
	for _, r := range of[Reply](out) {
		replied[r.Ticket] = true
	}
	if own := c.kept.of[m.Run].answers[1]; !replied[1] || !replied[2] || !own.written || len(c.kept.outdated) > 0 {
		t.Errorf("answered %v; its own is %+v", replied, own)
	}
}

// Paths of deaths are bounded for each peer that names them, and what kills two is found though they are long.
func TestLongSuspects(t *testing.T) {
	var d deaths
	for v := range 8 {
		for i := range 64 {
			p := make(job.Path, 8000)
			p[len(p)-1], p[len(p)-2] = uint32(v), uint32(i)
			d.note(PeerID(fmt.Sprint("p", v)), []Suspect{{Path: p, Identity: job.Identity{1}}}, "")
		}
	}
	for who, x := range d.by {
		if len(x.jobs) != 1 || len(x.keys) != 1 || x.jobs[0].hash() != x.keys[0] {
			t.Errorf("%s names %d jobs of 8,000 steps", who, len(x.jobs))
		}
	}
	if _, peers := d.killer(anybody); peers != nil {
		t.Errorf("%v are to have named the same", peers)
	}
	d.note("p9", d.by["p3"].jobs, "")
	if j, peers := d.killer(anybody); len(peers) != 2 || peers[0] != "p3" || peers[1] != "p9" || len(j.Path) != 8000 {
		t.Errorf("%v named the same", peers)
	}
}

// What a deputy says while the owner is away does not outlast that: neither how many take part, nor who is out, nor
// that no number of the owner's is higher.
func TestDeputysRosterEnds(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	v.partners = []PeerID{"d1", "x", "y"}
	m := adaptive(1, "self", "d1")
	c.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m, Began: noon.UnixNano()}}}})
	s := &Roster{Run: m.Run, Author: "d1", Number: 1 << 62, Wanted: 1, Out: []Outsider{{Peer: "x", Left: 1 << 20,
		Times: 1}}}
	c.Rostered(noon, s, "d1")
	c.RootHeld(noon, m.Run, true)
	told := of[TellRoster](c.Tick(noon.Add(time.Second)))
	if len(told) != 1 || told[0].Roster.Wanted != m.firstWanted() || len(told[0].Roster.Out) != 0 {
		t.Fatalf("the owner says %+v", told)
	}
	last := told[0].Roster.Number
	for i := range 3 {
		for _, o := range of[TellRoster](c.Musters.Muster(noon.Add(time.Duration(i+1)*time.Minute), m.Run,
			&Muster{Wanted: 5 + i})) {
			if o.Roster.Number <= last {
				t.Errorf("number %d follows %d", o.Roster.Number, last)
			}
			last = o.Roster.Number
		}
		if got := c.Musters.Roster(m.Run).Wanted; got != 5+i {
			t.Errorf("%d are wanted, the owner says %d", got, 5+i)
		}
	}
}

// A member that passes on claims of authors whom it has made up keeps no member's claim out.
func TestMadeUpAuthors(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	for i := range 8 {
		author := PeerID(fmt.Sprint("key ", i))
		v.strange = append(v.strange, author)
		c.Claimed(noon, &Claim{Run: m.Run, Author: author, Hash: Hash{byte(i)}}, "liar")
	}
	c.Claimed(noon, &Claim{Run: m.Run, Author: "b", Hash: Hash{1}}, "b")
	list := c.runs[m.Run].claims.list
	if len(list) != 2 || list[0].Author != "key 0" || list[1].Author != "b" {
		t.Errorf("the claims are %+v", list)
	}
}
