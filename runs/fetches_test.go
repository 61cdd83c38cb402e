package runs

import (
	"testing"
	"time"
)

// A manifest is fetched from one peer, and from a second one after some seconds; nobody has many of the places.
func TestFetches(t *testing.T) {
	c := DefaultConfig()
	c.Fetches, c.FetchesFrom, c.SecondAfter = 4, 2, 3*time.Second
	f, now := newFetches(&c), time.Unix(100, 0)
	for i, x := range []struct {
		run  byte
		from PeerID
		at   time.Duration
		want bool
	}{
		{1, "a", 0, true}, {1, "a", 9 * time.Second, false}, {1, "b", 2 * time.Second, false},
		{1, "b", 3 * time.Second, true}, {1, "c", 9 * time.Second, false}, {2, "a", 0, true}, {3, "a", 0, false},
		{3, "c", 0, true}, {4, "d", 0, false},
	} {
		if got := f.begin(RunID{x.run}, x.from, now.Add(x.at)); got != x.want {
			t.Errorf("step %d: %t", i, got)
		}
	}
	if f.done(RunID{1}, "a"); !f.begin(RunID{4}, "d", now) {
		t.Error("a place that is free again is not used")
	}
}
