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
// missed that it was resumed would not ask.
func TestRefusedOwnRunIsAnnounced(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.NotStarted(noon, m.Run, "in quarantine")
	if told := of[Announce](c.Tick(noon.Add(time.Minute))); stateOf(c, m) != StateRefused || len(told) != 1 {
		t.Errorf("it is %q, and %v is announced", stateOf(c, m), told)
	}
}
