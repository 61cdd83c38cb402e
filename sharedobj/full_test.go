package sharedobj

import (
	"slices"
	"testing"
	"time"
)

// leads tells a core of versions one after the other that lead to what a job wants, with their writes.
func leads(c *Core, now time.Duration, root *Recipe, sizes ...int) (ds []Digest, states []*Body) {
	parent, told := root, []Told(nil)
	for i, size := range sizes {
		r, write, state := version(parent, i+1, size)
		told = append(told, Told{Recipe: *r, Write: write.Bytes()})
		ds, states, parent = append(ds, r.Digest()), append(states, state), r
	}
	slices.Reverse(told)
	c.Step(now, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: ds[len(ds)-1], Status: Here, Told: told}})
	return ds, states
}

// wants has a job name the last of such versions.
func wants(c *Core, now time.Duration, id JobID, root *Recipe, sizes ...int) {
	r := root
	for i, size := range sizes {
		r, _, _ = version(r, i+1, size)
	}
	c.JobCame(now, Job{ID: id, Victim: "a2", Needs: []Need{{Digest: r.Digest()}}})
}

// chains makes a core that holds the first versions of two objects, which are pinned.
func chains(t *testing.T, most uint64) (c *Core, x, y *Recipe) {
	c = newTestCore(t, func(c *Config) { c.MaxBytes = most })
	first := Build(noise(100))
	x = &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	y = &Recipe{Kind: Phased, Name: "y", State: first.Blob}
	for _, r := range []*Recipe{x, y} {
		c.Created(1, r, first)
		c.Pin(r.Digest())
	}
	return c, x, y
}

// makes lists the versions that an output has the engine make.
func makes(out Output) (ds []Digest) {
	for _, o := range out.Orders {
		if o.Kind == OrderApply {
			ds = append(ds, o.Digest)
		}
	}
	return ds
}

// What was made on the way to a version stays while the next write is on its way: to make room for that, or for others,
// it would be dropped, and made again.
func TestWhatIsMadeIsUsed(t *testing.T) {
	c, x, y := chains(t, 1000)
	now := time.Second
	wants(c, now, 1, y, 950) // for which there is no room beside what is pinned
	leads(c, now, y, 950)
	one, write, state := version(x, 1, 300)
	two, _, _ := version(one, 2, 300)
	c.JobCame(now, Job{ID: 2, Victim: "a2", Needs: []Need{{Digest: two.Digest()}}})
	c.Step(now, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: two.Digest(), Status: Here,
		Told: []Told{{Recipe: *two}, {Recipe: *one, Write: write.Bytes()}}}})
	now += c.cfg.RetryAfter // the first looks for room again
	c.Applied(now, c.store.find(one.Digest()).applying, state)
	if f := c.fetches.byDigest[two.Digest()]; f == nil || f.pull == nil || !f.write {
		t.Fatalf("the next write is not on its way: %+v", f)
	}
	now += c.cfg.RetryAfter
	if c.Tick(now); !c.Has(one.Digest()) {
		t.Error("what was made is dropped")
	}
	c.Withdrawn(now, 2)
	now += c.cfg.RetryAfter
	if c.Tick(now); c.Has(one.Digest()) {
		t.Error("what nobody waits for stays where others need the room")
	}
}

// Who has found no room rests: what others get meanwhile is not dropped for it at every input.
func TestWhoFindsNoRoomRests(t *testing.T) {
	c, x, y := chains(t, 1000)
	now := time.Second
	wants(c, now, 1, y, 950)
	leads(c, now, y, 950)
	next, ok := c.Next()
	if !ok || next > now+c.cfg.RetryAfter {
		t.Errorf("it looks for room again at %v, now is %v", next, now)
	}
	wants(c, now, 2, x, 300)
	ds, states := leads(c, now, x, 300)
	c.Applied(now, c.store.find(ds[0]).applying, states[0])
	c.Withdrawn(now, 2)
	for ; now < next; now += c.cfg.RetryAfter / 8 {
		if c.Tick(now); !c.Has(ds[0]) {
			t.Fatalf("at %v what has come is dropped for whom there is no room", now)
		}
	}
	c.Unpin(y.Digest())
	c.Unpin(x.Digest())
	if got := makes(c.Tick(next)); len(got) != 0 {
		t.Errorf("the engine is to make %v, for which there is room beside its parent only", got)
	}
	if at, _ := c.Next(); at <= next {
		t.Errorf("it looks for room again at once: at %v, after %v", at, next)
	}
}

// What leads to what a job wants is the run's, whoever has told of it: what that member may have is no bound of it.
// What it may not have rests until then, though it is here under another name.
func TestWaysAreTheRuns(t *testing.T) {
	c, x, _ := chains(t, 1000)
	write, state := Build(noise(300)), Build(noise(400))
	r := &Recipe{Kind: Phased, Name: "x", Parent: x.Digest(), Write: write.Blob, State: state.Blob}
	same := &Recipe{Kind: Constant, Name: "z", State: write.Blob}
	c.Created(1, same, write)
	c.Pin(same.Digest())
	c.Step(2, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *r}})
	if e := c.store.find(r.Digest()); e == nil || e.from != "b1" || e.write != nil {
		t.Fatalf("what b1 announces is %+v", e)
	}
	last, _, _ := version(r, 2, 400)
	now := time.Second
	c.JobCame(now, Job{ID: 1, Victim: "a2", Needs: []Need{{Digest: last.Digest()}}})
	out := c.Step(now, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: last.Digest(), Status: Here,
		Told: []Told{{Recipe: *last, Write: Build([]byte{2, 0}).Bytes()}, {Recipe: *r}}}})
	if got := makes(out); !slices.Equal(got, []Digest{r.Digest()}) {
		t.Errorf("the engine is to make %v", got)
	}
	checkSenders(t, c)
}
