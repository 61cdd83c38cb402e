package runs

import (
	"testing"
	"time"
)

// Guards that a checkpoint which was found is removed when somebody says that its run is over, also if he keeps another
// answer than its owner has, and tells of that as well.
func TestDormantRunWithAClaimIsOver(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	v.partners = []PeerID{"a"}
	m := manifest(1, "o")
	c.Dormant(noon, m, "")
	c.Tick(noon)
	c.Asked(noon, &Told{Run: m.Run, From: "a", Claim: &Claim{Run: m.Run, Author: "a", Hash: Hash{9}},
		Tombstone: &Tombstone{Run: m.Run, Author: "o", Reason: Finished, Hash: &Hash{1}, Until: m.Expires}})
	orders := c.Tick(noon.Add(time.Second))
	if gone := of[Discard](orders); len(gone) != 1 || stateOf(c, m) != "" {
		t.Errorf("the run is %q, and the orders are %v", stateOf(c, m), orders)
	}
}

// Guards that an own run is announced while this peer takes no part in it: it goes on elsewhere, and whoever has
// missed that it was resumed would not ask. Once it has expired all would fetch its manifest at each word, in vain.
func TestRefusedOwnRunIsAnnounced(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.NotStarted(noon, m.Run, "in quarantine")
	for i, at := range []time.Time{noon.Add(time.Minute), time.Unix(m.Expires, 0)} {
		if told := of[Announce](c.Tick(at)); stateOf(c, m) != StateRefused || len(told) != 1-i {
			t.Errorf("at %s it is %q, and %v is announced", at, stateOf(c, m), told)
		}
	}
}

// Guards that what is kept of a run goes when its owner ends it, also where it was given up for want of what it needs.
func TestRunThatWasLetGoEnds(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	c.Announced(noon, m.Run, "x")
	c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m, Unfit: "its module is not here"})
	c.Tick(noon.Add(2 * time.Minute))
	if stateOf(c, m) != StateCancelled {
		t.Fatalf("it is %q", stateOf(c, m))
	}
	orders := c.Buried(noon.Add(3*time.Minute), &Tombstone{Run: m.Run, Author: "o", Reason: Finished, Until: m.Expires})
	if len(of[Discard](orders)) != 1 || stateOf(c, m) != StateDone {
		t.Errorf("it is %q, and the orders are %v", stateOf(c, m), orders)
	}
}

// Guards that a run which was refused here, and is let in again, takes no room if nobody speaks of it any more.
func TestRunThatIsLetInIsNotHeardOf(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Active = 1
	c, _ := coreOf(cfg)
	m, next := manifest(1, "o"), manifest(2, "p")
	c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m})
	c.NotStarted(noon, m.Run, "in quarantine")
	c.NotStarted(noon, m.Run, "")
	c.Tick(noon.Add(2 * time.Minute))
	c.Fetched(noon.Add(2*time.Minute), &Told{Run: next.Run, From: "x", Manifest: next})
	if stateOf(c, m) != StateCancelled || stateOf(c, next) != StateRunning {
		t.Errorf("it is %q, and the next one is %q", stateOf(c, m), stateOf(c, next))
	}
	if orders := c.Announced(noon.Add(time.Hour), m.Run, "x"); len(of[Fetch](orders)) != 1 {
		t.Errorf("it is not taken up when it is heard of: %v", orders)
	}
}

// Guards that two who leave a run alone do not keep it in each other's minds when nobody computes it any more.
func TestThoseWhoRefuseForget(t *testing.T) {
	m, now := manifest(1, "o"), noon
	cores := map[PeerID]*Core{}
	for id, other := range map[PeerID]PeerID{"a": "b", "b": "a"} {
		c, v := coreOf(DefaultConfig())
		v.silent, v.partners = []PeerID{"o"}, []PeerID{other}
		c.Fetched(noon, &Told{Run: m.Run, From: "o", Manifest: m, Unfit: "its module is not here"})
		cores[id] = c
	}
	for range 120 {
		now = now.Add(time.Second)
		for _, c := range cores {
			for _, q := range of[Ask](c.Tick(now)) {
				k := cores[q.Whom].Knows(m.Run, "", false)
				c.Asked(now, &Told{Run: m.Run, From: q.Whom, Known: k.Known})
			}
		}
	}
	for id, c := range cores {
		if got := stateOf(c, m); got != StateCancelled {
			t.Errorf("at %s it is %q", id, got)
		}
	}
}
