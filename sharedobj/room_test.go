package sharedobj

import (
	"testing"
	"time"
)

// neighbours are the runs of one peer that share its memory.
type neighbours struct {
	most uint64
	of   map[string]*neighbour
}

type neighbour struct {
	all   *neighbours
	bytes uint64
	sent  map[PeerID]uint64
	want  bool
}

func (n *neighbour) Hold(bytes uint64, must bool) bool {
	sum := bytes
	for _, o := range n.all.of {
		if o != n {
			sum += o.bytes
		}
	}
	fits := bytes <= n.bytes || sum <= n.all.most
	if fits || must {
		n.bytes = bytes
	}
	if !fits {
		for _, o := range n.all.of {
			o.want = o.want || o != n
		}
	}
	return fits
}

// Sent leaves one sender a quarter.
func (n *neighbour) Sent(from PeerID, bytes uint64, must bool) bool {
	sum := bytes
	for _, o := range n.all.of {
		if o != n {
			sum += o.sent[from]
		}
	}
	most := n.all.most / 4
	if from == "" {
		most *= 2
	}
	fits := bytes <= n.sent[from] || sum <= most
	if fits || must {
		n.sent[from] = bytes
	}
	return fits
}

func (n *neighbour) Wanted() bool {
	want := n.want
	n.want = false
	return want
}

// What two runs share at one peer: what one needs no more makes way for what the other does, what it needs does not,
// what is made here is held in any case, and what a core says that it holds is what it holds.
func TestRoomOfOtherRuns(t *testing.T) {
	all := &neighbours{most: 3000, of: map[string]*neighbour{}}
	core := func(name string) *Core {
		return newTestCore(t, func(c *Config) {
			all.of[name] = &neighbour{all: all, sent: map[PeerID]uint64{}}
			c.MaxBytes, c.Room = 2500, all.of[name]
		})
	}
	one, two := core("one"), core("two")
	check := func(where string) {
		t.Helper()
		for name, c := range map[string]*Core{"one": one, "two": two} {
			if s := c.store; s.used+s.reserved != all.of[name].bytes {
				t.Errorf("%s: %s holds %d bytes and says %d", where, name, s.used+s.reserved, all.of[name].bytes)
			}
		}
	}
	make1 := func(c *Core, n int) Digest {
		b := Build(noise(n))
		r := &Recipe{Kind: Constant, Name: "x", State: b.Blob}
		c.Created(1, r, b)
		return r.Digest()
	}
	pinned, cached := make1(one, 900), make1(one, 1100)
	one.Pin(pinned)
	check("made")

	arg := Build(noise(1200)) // a job of the other run names something that there is no room for yet
	r := Recipe{Kind: Constant, Name: "y", State: arg.Blob}
	now := time.Second
	two.JobCame(now, Job{ID: 7, Victim: "a2", Needs: []Need{{Digest: r.Digest()}}})
	told := &Message{From: "a2", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here, Told: []Told{{Recipe: r}}}}
	if two.Step(now, told); two.store.reserved != 0 || !all.of["one"].want {
		t.Fatalf("%d bytes are fetched beside what the other run has", two.store.reserved)
	}
	check("refused")
	if one.Tick(now); one.Has(cached) || !one.Has(pinned) {
		t.Error("what nobody needs stays, or what somebody needs goes")
	}
	check("made way")
	now += two.cfg.RetryAfter
	if two.Tick(now); two.store.reserved != 1200 {
		t.Errorf("%d bytes are on their way", two.store.reserved)
	}
	check("fetching")
	two.Withdrawn(now, 7)
	check("given up")
	if d := make1(two, 2400); !two.Has(d) || all.of["two"].bytes != 2400 {
		t.Errorf("what was made here is not held, beyond what the other leaves; %d bytes are", all.of["two"].bytes)
	}
	two.Unpin(make1(two, 200)) // its own bound stands
	two.Tick(now)
	if check("beyond"); two.store.used > 2500 {
		t.Errorf("%d bytes are held", two.store.used)
	}
}

// What a member sends in several runs is bounded over all of them, in the place of what it has sent in this one, and
// said once in each; what another sends still comes. What a core says that a sender has is what it has.
func TestSendersOverAllRuns(t *testing.T) {
	all := &neighbours{most: 33 * unit, of: map[string]*neighbour{}}
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	cores := map[string]*Core{}
	for _, name := range []string{"one", "two", "three"} {
		cores[name] = newTestCore(t, func(c *Config) {
			all.of[name] = &neighbour{all: all, sent: map[PeerID]uint64{}}
			c.MaxBytes, c.Room = 20*unit, all.of[name]
		})
		cores[name].Created(1, root, first)
		cores[name].Pin(root.Digest())
	}
	flood := func(name string, from PeerID) (came int) {
		c := cores[name]
		for i := range 20 {
			if _, ok := tell(c, from, root, int(from[0]%4*4+from[1]%4)<<8+i, unit); ok {
				came++
			}
			checkSenders(t, c)
			if has, says := c.store.senders.of[from].bytes, all.of[name].sent[from]; has != says {
				t.Fatalf("in %s %s has %d bytes and is said to have %d", name, from, has, says)
			}
		}
		return came
	}
	for _, name := range []string{"one", "two"} {
		if came := flood(name, "b1"); came < 20 {
			t.Errorf("in %s %d of 20 writes are applied: its own makes room", name, came)
		}
	}
	if sum := all.of["one"].sent["b1"] + all.of["two"].sent["b1"]; sum < 8*unit || sum > 9*unit {
		t.Errorf("it has %d bytes in two runs", sum)
	}
	if came := flood("three", "b1"); came > 0 || cores["three"].Stats().Refused == 0 {
		t.Errorf("in a third run %d of its writes are applied; %+v", came, cores["three"].Stats())
	}
	if came := flood("three", "b2"); came < 20 {
		t.Errorf("of another one %d of 20 writes are applied", came)
	}
	sum := uint64(0)
	for _, name := range []string{"one", "two", "three"} {
		flood(name, "b2")
		flood(name, "a2")
		sum += all.of[name].sent[""]
	}
	if sum > all.most/2 || sum < all.most/3 {
		t.Errorf("all senders have %d bytes of %d", sum, all.most)
	}
}
