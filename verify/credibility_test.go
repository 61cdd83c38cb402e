package verify

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// doubting is a core that believes what is wrong in one case of 10,000, among n peers by as many introducers who have
// passed so many comparisons.
func doubting(n int, passed uint64) (*Core, *world) {
	w := &world{passed: map[PeerID]uint64{}}
	for i := range n {
		id := PeerID(fmt.Sprintf("p%02d", i))
		w.list = append(w.list, Candidate{id, "by " + id})
		w.passed[id] = passed
	}
	return New(Config{Quorum: 1, Doubt: 1e-4, Liars: 0.2, Own: true, Wait: time.Minute, MaxOpen: 100}, w, w), w
}

// passed says whether the record of one peer, and no other, has grown.
func passed(out []Order, id PeerID) bool {
	got := of[Passed](out)
	return len(got) == 1 && slices.Equal(got[0].Peers, []PeerID{id})
}

// The paper's formulas (section 4.2): how many strangers have to agree, by what is known of them.
func TestCredibility(t *testing.T) {
	for _, x := range []struct {
		passed uint64
		copies int // in all
	}{{0, 7}, {1, 5}, {9, 3}, {10, 2}, {919, 2}, {920, 1}, {1 << 40, 1}} {
		c, _ := doubting(12, x.passed)
		claim := leaf("1", 7).Claim()
		out := c.Came(noon, claim, "p03")
		copies := of[Copy](out)
		if len(copies)+1 != x.copies {
			t.Errorf("after %d comparisons: %d copies in all, want %d", x.passed, len(copies)+1, x.copies)
			continue
		}
		for i, o := range copies {
			if len(of[Accept](out)) > 0 {
				t.Fatalf("believed after %d of %d", i+1, x.copies)
			}
			out = c.Came(noon, claim, o.To)
		}
		if len(of[Accept](out)) != 1 {
			t.Errorf("after %d comparisons: %d agree and are not believed", x.passed, x.copies)
		}
		if p, n := c.InDoubt(); p > 1e-4 || p == 0 || n > 0 {
			t.Errorf("after %d comparisons: wrong with %g, %d of liars", x.passed, p, n)
		}
		if passed := of[Passed](out); (len(passed) == 1) != (x.copies > 1) {
			t.Errorf("records that grow: %v", passed)
		}
	}
	c, w := doubting(1, 3)
	if got, want := c.scale.oddsOf("p00"), 0.2/(0.8*3*math.E); math.Abs(got/(1+got)-want) > 1e-12 {
		t.Errorf("a peer is wrong with %g, want %g", got/(1+got), want)
	}
	if w.passed["p00"] = 0; c.scale.oddsOf("p00") != 0.25 {
		t.Errorf("the odds against a stranger are %g", c.scale.oddsOf("p00"))
	}
}

// Whom one member has let in are one: however many it invents, and however often they say it.
func TestInventedVoices(t *testing.T) {
	c, w := doubting(30, 0)
	for i := range w.list[:25] {
		w.list[i].Introducer = "gang"
	}
	claim := leaf("1", 7).Claim()
	for i, x := range w.list[:25] {
		for range 2 {
			out := c.Came(noon, claim, x.ID)
			if len(of[Accept](out)) > 0 || len(of[Passed](out)) > 0 {
				t.Fatalf("%d of one gang are believed", i+1)
			}
		}
	}
}

// A machine that is trusted is never copied, nor is this one; nor is there a record of it.
func TestTrustedMachines(t *testing.T) {
	for _, id := range []PeerID{"", "p04"} {
		c, w := doubting(9, 0)
		w.trusted, c.cfg.Again = "p04", 1
		out := c.Came(noon, leaf("1", 7).Claim(), id)
		if len(out) != 1 || len(of[Accept](out)) != 1 {
			t.Errorf("of %q: %v", id, out)
		}
		if p, _ := c.InDoubt(); p != 0 {
			t.Errorf("of %q: in doubt with %g", id, p)
		}
	}
	c, w := doubting(9, 0)
	w.trusted = "p04"
	c.Came(noon, leaf("1", 7).Claim(), "p00")
	out := c.Came(noon, leaf("1", 7).Claim(), "p04")
	if len(of[Accept](out)) != 1 || !passed(out, "p00") {
		t.Errorf("one copy by a trusted machine: %v", out)
	}
}

// One copy is made where a record is enough for it, by whoever has one: else two others would be asked for it, who come
// first as often. Which of those it is nobody can foresee.
func TestVeteransFirst(t *testing.T) {
	asked := map[PeerID]bool{}
	for first := range uint64(12) {
		c, w := doubting(12, 3)
		w.passed["p04"], w.passed["p09"], w.draw = 32, 32, first // 3 x 32 are enough, and 3 x 3 x 3 are not
		copies := of[Copy](c.Came(noon, leaf("1", 7).Claim(), "p00"))
		if len(copies) != 1 {
			t.Fatalf("draw %d: %v are asked where one is enough", first, copies)
		}
		asked[copies[0].To] = true
	}
	if len(asked) != 2 || !asked["p04"] || !asked["p09"] {
		t.Errorf("asked were %v", asked)
	}
}

// This machine computes rather than that many others do, as long as it has time for that, and when there are not
// enough.
func TestOwnCopyEndsDoubt(t *testing.T) {
	c, _ := doubting(12, 0)
	c.cfg.AtOnce = 1
	if out := c.Came(noon, leaf("1", 7).Claim(), "p00"); len(of[RunHere](out)) != 1 || len(of[Copy](out)) > 0 {
		t.Errorf("with time: %v", out)
	}
	if out := c.Came(noon, leaf("2", 7).Claim(), "p00"); len(of[RunHere](out)) > 0 || len(of[Copy](out)) != 6 {
		t.Errorf("without: %v", out)
	}
	out := c.Came(noon, leaf("1", 7).Claim(), "")
	if len(of[Accept](out)) != 1 || !passed(out, "p00") {
		t.Errorf("its own copy: %v", out)
	}
	c, _ = doubting(3, 0)
	if out := c.Came(noon, leaf("1", 7).Claim(), "p00"); len(of[RunHere](out)) != 1 {
		t.Errorf("among three: %v", out)
	}
	c, _ = doubting(3, 0)
	c.cfg.Own = false
	out = c.Came(noon, leaf("1", 7).Claim(), "p00")
	if got := of[Missing](out); len(got) != 1 || got[0].Peers != 4 || len(of[Copy](out)) != 2 {
		t.Errorf("among three, where this machine may not: %v", out)
	}
	if nodes, peers := c.Lacking(); nodes != 1 || peers != 4 {
		t.Errorf("%d nodes wait for %d peers", nodes, peers)
	}
}

// One that was honest until it was believed alone is compared now and then all the same; and of what rests on its word
// when it is caught the owner hears.
func TestPatientLiar(t *testing.T) {
	c, w := doubting(12, 1000)
	for i := range 5 {
		if out := c.Came(noon, leaf(fmt.Sprint(i), 9).Claim(), "p00"); len(of[Accept](out)) != 1 {
			t.Fatalf("not believed alone: %v", out)
		}
	}
	c.Came(noon, leaf("other", 7).Claim(), "p05")
	before, _ := c.InDoubt()
	c.cfg.Again = 1
	lie, truth := leaf("x", 9), leaf("x", 7)
	out := c.Came(noon, lie.Claim(), "p00")
	copies := of[Copy](out)
	if len(copies) != 1 || len(of[Accept](out)) > 0 {
		t.Fatalf("drawn, and not compared: %v", out)
	}
	c.Came(noon, truth.Claim(), copies[0].To)
	c.Opened(noon, lie.Node, "p00", lie.Claim(), lie)
	c.Opened(noon, lie.Node, copies[0].To, truth.Claim(), truth)
	if got := of[Blame](c.Reran(noon, lie.Node, truth)); len(got) != 1 || got[0].Peer != "p00" {
		t.Fatalf("blamed are %v", got)
	}
	w.passed["p00"] = 0
	// what is open is taken back; what was used (Done) cannot be
	if _, n := c.InDoubt(); n != 0 {
		t.Errorf("%d rest on a liar, and were taken back", n)
	}
	used, _ := doubting(12, 1000)
	for i := range 5 {
		n := leaf(fmt.Sprint(i), 9)
		used.Came(noon, n.Claim(), "p00")
		used.Done(n.Node)
	}
	used.blameForTest("p00")
	if p, n := used.InDoubt(); n != 5 || p != 0 {
		t.Errorf("%d rest on a liar, want 5; doubt %g, before %g", n, p, before)
	}
}

// What is remembered of what was believed is bounded, and beyond that nothing is taken for certain.
func TestBeliefsAreBounded(t *testing.T) {
	c, w := doubting(0, 0)
	for i := range maxBeliefs + 10 {
		id := PeerID(fmt.Sprint("n", i))
		w.list = append(w.list, Candidate{id, id})
		w.passed[id] = 1 << 40
		n := leaf("1", 7)
		c.Came(noon, n.Claim(), id)
		c.Done(n.Node)
	}
	if p, _ := c.InDoubt(); len(c.used.sets) != maxBeliefs || p < 10*1e-4 {
		t.Errorf("%d sets, doubt %g", len(c.used.sets), p)
	}
}
