package quota

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// A run has a quarter of the disk that others may have, an owner a half, and so what one peer has computed, all
// together all of it; what is refused is
// said once for each run, and what compacting gives back counts.
func TestQuota(t *testing.T) {
	const mib = 1 << 20
	q := &Quota{Most: 64 * mib}
	has := map[byte]int64{}
	by := peer.ID("")
	enter := func(run byte, owner runs.PeerID) job.RunID {
		id := job.RunID{run}
		q.Enter(id, owner, false, func() (int64, bool) { return has[run], true })
		return id
	}
	// fill takes MiB after MiB until there is no more.
	fill := func(id job.RunID) (n int64, why string) {
		said := 0
		for range 100 {
			text, news := q.Take(id, by, mib)
			if news {
				said++
			}
			if text != "" {
				why = text
				continue
			}
			n++
			has[id[0]] += mib
		}
		if said > 1 {
			t.Errorf("run %d: said %d times", id[0], said)
		}
		return n, why
	}
	for _, step := range []struct {
		run   byte
		owner runs.PeerID
		most  int64
		why   string
	}{
		{1, "a", 16, "kept of it "}, {2, "a", 16, "of it "}, {3, "a", 0, "of its owner's runs"},
		{4, "b", 16, "of it "}, {5, "c", 16, "of it "}, {6, "d", 0, "of others' runs"},
	} {
		id := enter(step.run, step.owner)
		if n, why := fill(id); n != step.most || !strings.Contains(why, step.why) {
			t.Errorf("run %d has %d MiB, want %d: %s", step.run, n, step.most, why)
		}
	}
	q.Leave(job.RunID{1})
	if n, _ := fill(enter(7, "e")); n != 16 {
		t.Errorf("a run that is over leaves %d MiB, want 16", n)
	}
	q.Leave(job.RunID{2})
	by = "sender" // it has computed what is in two runs of two owners, and has its half
	if n, _ := fill(enter(8, "f")); n != 16 {
		t.Errorf("what another has computed takes %d MiB, want 16", n)
	}
	q.Leave(job.RunID{4})
	if n, _ := fill(enter(9, "g")); n != 16 {
		t.Errorf("what another has computed takes %d MiB of a second run, want 16", n)
	}
	q.Leave(job.RunID{5})
	third := enter(10, "h")
	if n, why := fill(third); n != 0 || !strings.Contains(why, "has computed") {
		t.Errorf("what another has computed takes %d MiB of a third run: %s", n, why)
	}
	by = "other"
	if why, _ := q.exceeded(q.of[third], by, mib); why != "" {
		t.Error("what one may not have nobody may")
	}
	own := job.RunID{99}
	q.Enter(own, "self", true, func() (int64, bool) { return 0, false })
	if why, _ := q.Take(own, "", 1<<40); why != "" {
		t.Errorf("an own run is bounded: %s", why)
	}
	if n, why := fill(own); n != 32 || !strings.Contains(why, "has computed") {
		t.Errorf("what another has computed takes %d MiB of an own run, want 32: %s", n, why)
	}
	if why, _ := q.exceeded(q.of[third], "", mib); why != "" {
		t.Error("an own run takes the room of others")
	}
	one := &Quota{Most: 8 * mib}
	one.Enter(job.RunID{1}, "a", false, func() (int64, bool) { return 0, true })
	if why, news := one.Take(job.RunID{1}, "liar", 5*mib); why == "" || !news {
		t.Error("one has more than its half")
	}
	for i := range 50 { // it is compacted all the time
		if why, _ := one.Take(job.RunID{1}, "x", mib); why != "" {
			t.Fatalf("after a refusal, and %d MiB that were given back: %s", i, why)
		}
	}
	c := &Quota{Most: 8 * mib}
	size := int64(0)
	c.Enter(job.RunID{1}, "a", false, func() (int64, bool) { return size, true })
	for i := range 50 { // it is compacted all the time
		if why, _ := c.Take(job.RunID{1}, "x", mib); why != "" {
			t.Fatalf("after %d MiB that were given back: %s", i, why)
		}
	}
}
