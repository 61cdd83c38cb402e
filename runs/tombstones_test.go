package runs

import (
	"fmt"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
)

// What is final stays so, whatever comes later; else the last word of the owner counts.
func TestTombstonesInOrder(t *testing.T) {
	stone := func(r Reason, seq uint64) *Tombstone {
		return &Tombstone{Reason: r, Seq: seq}
	}
	suspended, resumed, again := stone(Suspended, 1), stone(Resumed, 2),
		stone(Suspended, 3)
	finished, cancelled := stone(Finished, 0), stone(Cancelled, 0)
	for _, c := range []struct {
		a, b *Tombstone
		want bool
	}{
		{resumed, suspended, true}, {suspended, resumed, false}, {again, resumed, true}, {suspended, suspended, false},
		{finished, again, true}, {again, finished, false}, {cancelled, finished, false}, {finished, finished, false},
	} {
		if got := c.a.Supersedes(c.b); got != c.want {
			t.Errorf("%v %d after %v %d: %t", c.a.Reason, c.a.Seq, c.b.Reason, c.b.Seq, got)
		}
	}
}

// Of what an owner says to some and what it says to others one thing counts for everybody who hears both, in whatever
// order, whatever numbers it has given them; but a peer knows best what it has said itself.
func TestTombstonesForSomeAndOthers(t *testing.T) {
	var all []*Tombstone
	for _, r := range []Reason{Finished, Cancelled, Suspended, Resumed} {
		for seq := range uint64(2) {
			for _, text := range []string{"a", "b"} {
				all = append(all, &Tombstone{Author: "o", Reason: r, Seq: seq, Sealed: []byte(text)})
			}
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			one, other, own := stones("self"), stones("self"), stones("o")
			one.put(a)
			one.put(b)
			other.put(b)
			other.put(a)
			if x, y := one.by(RunID{}, "o"), other.by(RunID{}, "o"); x != y {
				t.Errorf("%v %d or %v %d: %+v and %+v", a.Reason, a.Seq, b.Reason, b.Seq, x, y)
			}
			if own.say(a); a.Seq == b.Seq && a.Reason.Final() == b.Reason.Final() && own.put(b) {
				t.Errorf("it said %v %d, and hears %v %d", a.Reason, a.Seq, b.Reason, b.Seq)
			}
		}
	}
}

// stones are those of a peer to which all are members.
func stones(self PeerID) *tombstones {
	return newTombstones(self, 8, 3, func(PeerID) bool { return true })
}

// Nobody drives out what others have said, and this peer's own words stay.
func TestTombstonesAreBounded(t *testing.T) {
	g := stones("self")
	say := func(author PeerID, run byte) { g.put(&Tombstone{Run: RunID{run}, Author: author, Reason: Cancelled}) }
	say("a", 1)
	for run := range byte(100) {
		say("z", run)
	}
	if g.by(RunID{1}, "a") == nil {
		t.Error("one author has driven out another one's tombstone")
	}
	if n := g.count("z"); n != 3 || g.by(RunID{99}, "z") == nil || g.by(RunID{96}, "z") != nil {
		t.Errorf("%d of the flood are kept, want the last three", n)
	}
	for _, author := range []PeerID{"b", "c", "d", "e", "f", "g"} {
		say(author, 1)
	}
	if len(g.of) > 8 {
		t.Errorf("%d are kept", len(g.of))
	}
	for run := range byte(4) {
		say("self", run)
	}
	if g.count("self") != 4 || len(g.of) > 8 {
		t.Errorf("%d of the own are kept", g.count("self"))
	}
	for run := range byte(100) { // a list of runs, one after the other
		say("self", run)
	}
	if n := g.count("self"); n != 4 || g.by(RunID{99}, "self") == nil || len(g.of) != 8 {
		t.Errorf("%d of the own are kept, of %d: what others say has no room", n, len(g.of))
	}
}

// A member that makes up authors leaves no room for what members say, were it not that what it has made up gives way.
func TestTombstonesOfMadeUpAuthors(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Graves, cfg.GravesOf = 8, 3
	c, v := coreOf(cfg)
	for i := range 20 {
		author := PeerID(fmt.Sprint("key ", i))
		v.strange = append(v.strange, author)
		c.Buried(noon, &Tombstone{Run: RunID{9}, Author: author, Reason: Cancelled, Until: 1 << 62})
	}
	m := manifest(1, "o")
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Cancelled, Until: m.Expires})
	if len(of[Start](take(c, m))) > 0 {
		t.Error("a run is taken up whose owner was heard to have cancelled it")
	}
	if len(c.graves.of) != 8 || c.graves.by(RunID{9}, "key 7") == nil {
		t.Errorf("%d are kept", len(c.graves.of))
	}
}

// What this peer has said in an earlier life stays however much members say, though it is not in its own list of them:
// else its cancelled run would go on as soon as somebody shows it the manifest.
func TestOwnTombstonesStay(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Graves = 4
	c, v := coreOf(cfg)
	v.strange = []PeerID{"self"}
	m := manifest(1, "self")
	said := &Tombstone{Run: m.Run, Author: "self", Reason: Cancelled, Until: m.Expires}
	c.Recall(noon, &Recalled{Cancelled: []*Tombstone{said}})
	for i := range byte(8) {
		c.Buried(noon, &Tombstone{Run: RunID{9, i}, Author: "a", Reason: Cancelled, Until: m.Expires})
	}
	take(c, m)
	if i, goesOn := c.Run(m.Run); goesOn {
		t.Errorf("the run that was cancelled is %s", i.State)
	}
}

// on is a calendar on which it is that time.
func on(unix int64) *calendar.Calendar {
	var c calendar.Calendar
	for range 2 {
		c.Pass(time.Unix(unix, 0), 0)
	}
	return &c
}

// They are kept until the run has expired.
func TestTombstonesExpire(t *testing.T) {
	g := stones("self")
	g.put(&Tombstone{Author: "a", Reason: Finished, Until: 10})
	if g.expire(on(10)); !g.over(RunID{}, "a") {
		t.Error("it is gone too early")
	}
	if g.expire(on(11)); g.over(RunID{}, "a") {
		t.Error("it stays for ever")
	}
}
