package deposits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A world is some members, their disks and what they ask each other, in virtual time. All that happens follows from its
// seed.
type world struct {
	t     *testing.T
	rand  *rand.Rand
	cfg   Config
	now   time.Time
	peers []*member
	lossy int // of a hundred questions
}

type member struct {
	id      PeerID
	core    *Core
	disk    map[Hash]int64
	written map[Hash]Item
	room    int64 // bytes left
	took    map[PeerID]int64
	gone    bool
	broken  bool // it can write down what it is to keep, and not the bytes
	asked   int
}

// Take and Back make it a Room.
func (m *member) Take(giver PeerID, n int64) string {
	if m.room < n {
		return "full"
	}
	m.room -= n
	m.took[giver] += n
	return ""
}

func (m *member) Back(giver PeerID, n int64) {
	m.room += n
	m.took[giver] -= n
}

func newWorld(t *testing.T, seed uint64, n int) *world {
	cfg := DefaultConfig()
	cfg.Most, cfg.MostOf, cfg.Coming, cfg.AtOnce = 300, 200, 8, 3
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), cfg: cfg, now: time.Unix(1e9, 0)}
	for i := range n {
		w.peers = append(w.peers, &member{id: PeerID(fmt.Sprint("p", i)), disk: map[Hash]int64{},
			written: map[Hash]Item{}, took: map[PeerID]int64{}, room: 1 << 40})
	}
	for _, p := range w.peers {
		w.start(p)
	}
	w.meet(true)
	return w
}

// start begins a life: what was written down is still there.
func (w *world) start(p *member) {
	var items []Item
	for _, i := range p.written {
		items = append(items, i)
	}
	for id, n := range p.took {
		p.Back(id, n)
	}
	p.core = New(w.cfg, p.id, p, func(h Hash) int64 { return p.disk[h] }, items)
	p.asked = 0
}

// meet tells all who there is; also whoever is gone, if nobody has heard of that.
func (w *world) meet(heard bool) {
	var list []PeerID
	for _, p := range w.peers {
		if !p.gone || !heard {
			list = append(list, p.id)
		}
	}
	for _, p := range w.peers {
		p.core.SetMembers(list)
	}
}

func (w *world) find(id PeerID) *member {
	return w.peers[slices.IndexFunc(w.peers, func(p *member) bool { return p.id == id })]
}

// carryOut does what a core orders. A question is answered, or found to be lost, at once.
func (w *world) carryOut(p *member, o Orders) {
	for _, i := range o.Save {
		p.written[i.Hash] = i
	}
	for _, h := range o.Drop {
		delete(p.written, h)
		delete(p.disk, h)
	}
	for _, i := range o.Want {
		holders := slices.DeleteFunc(slices.Clone(w.peers),
			func(q *member) bool { return q.gone || q.disk[i.Hash] == 0 })
		if len(holders) > 0 && w.rand.IntN(100) >= w.lossy && p.written[i.Hash].Hash == i.Hash && !p.broken {
			p.disk[i.Hash] = holders[0].disk[i.Hash]
		}
	}
	if p.asked += len(o.Ask); p.asked > w.cfg.AtOnce {
		w.t.Fatalf("%s asks %d questions at once", p.id, p.asked)
	}
	for _, q := range o.Ask {
		reply := Silent
		if to := w.find(q.To); !to.gone && w.rand.IntN(100) >= w.lossy {
			giver := p.written[q.Hash].Giver
			if giver == "" {
				giver = p.id
			}
			r, why, orders := to.core.Asked(w.now, p.id, giver, q.Deposit)
			if reply = r; (why != "") != (r == Refused) {
				w.t.Fatalf("%s says %d, because of %q", to.id, r, why)
			}
			if r == Kept && to.disk[q.Hash] != q.Size {
				w.t.Fatalf("%s says that it keeps what it has not", to.id)
			}
			w.carryOut(to, orders)
		}
		p.asked--
		w.carryOut(p, p.core.Answered(w.now, q.To, q.Hash, reply))
	}
	if n := len(p.core.coming); n > w.cfg.Coming {
		w.t.Fatalf("%d deposits are coming to %s", n, p.id)
	}
}

func (w *world) run(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(20 * time.Second) {
		for _, p := range w.peers {
			if !p.gone {
				w.carryOut(p, p.core.Tick(w.now))
			}
		}
	}
}

func (w *world) deposit(p *member, n int) (list []Hash) {
	for range n {
		var h Hash
		for i := range h {
			h[i] = byte(w.rand.Uint32())
		}
		p.disk[h] = 1 << 20
		o, ok := p.core.Deposit(w.now, h, 1<<20)
		if !ok {
			w.t.Fatal("a deposit is refused")
		}
		w.carryOut(p, o)
		list = append(list, h)
	}
	return list
}

// holders counts who has a deposit.
func (w *world) holders(h Hash) (n int) {
	for _, p := range w.peers {
		if !p.gone && p.disk[h] > 0 {
			n++
		}
	}
	return n
}

// Guards the rule: enough members have each deposit, whatever is lost, whoever is full or can write nothing; who made
// it may be gone with its disk, and others one after the other, and there are enough again each time.
func TestCopiesOutliveTheirMaker(t *testing.T) {
	for seed := range uint64(3) {
		w := newWorld(t, seed, 9)
		w.lossy = int(seed % 3 * 20)
		w.peers[3].room, w.peers[4].room, w.peers[7].broken = 0, 7<<20, true
		all := w.deposit(w.peers[0], 20)
		settle := 3 * (w.cfg.Every + w.cfg.Passed)
		for round := range 4 {
			w.run(settle)
			for _, h := range all {
				if n := w.holders(h); n < 1+w.cfg.Copies {
					t.Fatalf("seed %d, round %d: %d members have %x", seed, round, n, h[:4])
				}
			}
			if round == 0 && w.lossy == 0 {
				least := len(w.peers)
				for _, h := range all {
					n, ok := w.peers[0].core.Copies(h)
					if least = min(least, n); !ok {
						t.Fatal("a deposit is not known any more")
					}
				}
				if least < w.cfg.Copies {
					t.Errorf("seed %d: its maker knows of %d copies", seed, least)
				}
			}
			gone := w.peers[[]int{0, 1, 2, 5}[round]]
			gone.gone = true
			w.start(w.peers[6])
			w.meet(round%2 == 0)
		}
	}
}

// Guards what a member may have: as many deposits as Config says, of one giver and of all, for as long as it says; what
// nobody sends does not stay.
func TestDepositsAreBounded(t *testing.T) {
	w := newWorld(t, 1, 3)
	p := w.peers[0]
	ask := func(from PeerID, n int, here bool, until time.Time) (got int) {
		for i := range n {
			h := Hash{byte(i), byte(i >> 8), from[1]}
			if here {
				p.disk[h] = 1 << 20
			}
			r, _, o := p.core.Asked(w.now, from, from, Deposit{h, 1 << 20, until})
			w.carryOut(p, o)
			if r != Refused && p.written[h].Hash == h {
				got++
			}
		}
		return got
	}
	far := w.now.Add(w.cfg.Life)
	if n := ask("p7", 50, false, far); n != w.cfg.Coming/4 {
		t.Errorf("%d of one giver are coming", n)
	}
	for i := range 10 {
		ask(PeerID(fmt.Sprint("q", i)), 10, false, far)
	}
	if len(p.core.coming) != w.cfg.Coming {
		t.Errorf("%d are coming", len(p.core.coming))
	}
	w.start(p) // its time begins again
	w.run(w.cfg.Patience + time.Minute)
	if len(p.written) > 0 || p.room != 1<<40 || len(p.core.coming) > 0 {
		t.Errorf("%d that nobody sends are still there, and %d coming", len(p.written), len(p.core.coming))
	}
	if n := ask("p8", 500, true, w.now.Add(20*w.cfg.Life)); n != w.cfg.MostOf {
		t.Errorf("%d of one giver are kept", n)
	}
	if n := ask("p9", 500, true, far); n != w.cfg.Most-w.cfg.MostOf {
		t.Errorf("%d more are kept", n)
	}
	if r, _, _ := p.core.Asked(w.now, "p8", "p8", Deposit{Hash{9, 9, 9}, w.cfg.MaxSize + 1, far}); r != Refused {
		t.Error("one that is too large is kept")
	}
	w.peers[1].gone, w.peers[2].gone = true, true
	w.now = w.now.Add(w.cfg.Life)
	w.run(time.Minute)
	if len(p.written) > 0 || p.took["p8"] != 0 || len(p.core.Items()) > 0 {
		t.Errorf("%d are kept for longer than any may be", len(p.written))
	}
}

// Guards that what a job has left, whose bytes are here, does not wait for what is coming, counts as his whose job it
// was, has copies at others on the account of whoever has it, and is refused where there is no room.
func TestWhatJobsLeave(t *testing.T) {
	w := newWorld(t, 1, 4)
	p := w.peers[0]
	far := w.now.Add(w.cfg.Life)
	for i := range w.cfg.Coming {
		p.core.coming[Hash{9, byte(i)}] = arrival{w.now, PeerID(fmt.Sprint("q", i))}
	}
	leave := func(h Hash) (Reply, string) {
		p.disk[h] = 1 << 20
		r, why, o := p.core.Asked(w.now, "", "owner", Deposit{h, 1 << 20, far})
		w.carryOut(p, o)
		return r, why
	}
	if r, why := leave(Hash{1}); r != Kept || p.took["owner"] != 1<<20 {
		t.Fatalf("what is here is answered %d, %q: %d bytes are its owner's", r, why, p.took["owner"])
	}
	w.run(time.Minute)
	if n := w.holders(Hash{1}); n < 1+w.cfg.Copies {
		t.Errorf("%d have it", n)
	}
	p.room = 0
	if r, why := leave(Hash{2}); r != Refused || why == "" || len(p.written) != 1 {
		t.Errorf("where there is no room: %d, %q", r, why)
	}
}

// Guards against members that lie: what is not as large as was said is dropped, and whoever says so rightly may have it
// kept then; whoever wants another's kept for longer has it on his own account; and what this machine's user wants kept
// is on nobody's.
func TestWhoseDepositsAre(t *testing.T) {
	w := newWorld(t, 1, 3)
	p, h := w.peers[0], Hash{1}
	w.peers[1].disk[h] = 5 << 20
	soon := w.now.Add(2 * w.cfg.Every)
	ask := func(from PeerID, size int64, until time.Time) Reply {
		r, _, o := p.core.Asked(w.now, "asker", from, Deposit{h, size, until})
		w.carryOut(p, o)
		return r
	}
	has := func(want map[PeerID]int64) {
		t.Helper()
		for _, id := range []PeerID{"a", "b"} {
			if p.took[id] != want[id] {
				t.Errorf("%s has %d bytes, want %d", id, p.took[id], want[id])
			}
		}
	}
	if r := ask("a", 1, soon); r != Coming {
		t.Errorf("what may be right is answered %d", r)
	}
	for range 3 { // as often as it is said
		if r := ask("a", 1, soon); r != Refused || len(p.written)+len(p.disk)+len(p.core.turn) > 0 {
			t.Errorf("what is larger than was said is answered %d, and %d are kept", r, len(p.written))
		}
	}
	h = Hash{2}
	w.peers[1].disk[h] = 5 << 20
	ask("a", 1, soon)
	w.peers[1].gone, w.peers[2].gone = true, true // nobody asks again
	w.run(time.Minute)
	w.peers[1].gone, w.peers[2].gone = false, false
	if has(nil); len(p.written)+len(p.disk)+len(p.core.turn) > 0 {
		t.Errorf("%d are kept that are larger than was said", len(p.written))
	}
	if ask("a", 5<<20, soon); ask("a", 5<<20, soon) != Kept {
		t.Error("what is right is not kept")
	}
	has(map[PeerID]int64{"a": 5 << 20})
	for _, until := range []time.Time{soon, soon.Add(w.cfg.Every), w.now.Add(-time.Hour)} {
		ask("b", 5<<20, until)
		has(map[PeerID]int64{"a": 5 << 20})
	}
	ask("b", 5<<20, w.now.Add(w.cfg.Life))
	has(map[PeerID]int64{"b": 5 << 20})
	if got := p.written[h]; got.Giver != "b" || got.Until != w.now.Add(w.cfg.Life) {
		t.Errorf("it is written down as %+v", got)
	}
	w.start(p)
	has(map[PeerID]int64{"b": 5 << 20})
	o, ok := p.core.Deposit(w.now, h, 5<<20)
	w.carryOut(p, o)
	if has(nil); !ok || p.written[h].Giver != "" {
		t.Error("the user's own is on another's account")
	}
	ask("a", 5<<20, w.now.Add(2*w.cfg.Life))
	has(nil)
}

// Guards that whoever cannot be asked, as it has just come, is asked again soon, and less and less often while it is
// silent.
func TestSilentIsAskedAgain(t *testing.T) {
	cfg, now, h := DefaultConfig(), time.Unix(1e9, 0), Hash{1}
	c := New(cfg, "self", nil, func(Hash) int64 { return 1 }, nil)
	c.SetMembers([]PeerID{"silent"})
	out, _ := c.Deposit(now, h, 1)
	for wait := cfg.Soon; wait <= 8*cfg.Soon; wait *= 2 {
		if len(out.Ask) != 1 {
			t.Fatalf("before %v: %d questions", wait, len(out.Ask))
		}
		for _, o := range []Orders{c.Answered(now, "silent", h, Silent), c.Tick(now.Add(wait - 1))} {
			if len(o.Ask) != 0 {
				t.Fatalf("asked again before %v", wait)
			}
		}
		now = now.Add(wait)
		out = c.Tick(now)
	}
	c.Answered(now, "silent", h, Kept)
	if n, _ := c.Copies(h); n != 1 {
		t.Errorf("%d copies", n)
	}
}

// Guards that a deposit that nobody was there to keep is kept by whoever comes, and not when it would have been looked
// at again; one that enough keep is not asked for.
func TestNewcomerIsAsked(t *testing.T) {
	cfg, now, h := DefaultConfig(), time.Unix(1e9, 0), Hash{1}
	c := New(cfg, "self", nil, func(Hash) int64 { return 1 }, nil)
	if out, _ := c.Deposit(now, h, 1); len(out.Ask) != 0 {
		t.Fatal("nobody is there to be asked")
	}
	for _, members := range [][]PeerID{{"a"}, {"a", "b"}, {"a", "b", "c"}} {
		c.SetMembers(members)
		asked, want := c.Tick(now).Ask, 1
		if len(members) > cfg.Copies {
			want = 0
		}
		if len(asked) != want {
			t.Fatalf("%v: asked %v", members, asked)
		}
		for _, q := range asked {
			c.Answered(now, q.To, h, Kept)
		}
	}
}
