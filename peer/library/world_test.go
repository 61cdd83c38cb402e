package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/sharedobj"
)

// A world is some peers, their disks and the network between them, in virtual time. All that happens follows from
// its seed.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	now     time.Duration
	peers   []*member
	lossy   int // of a hundred messages
	flights []flight
	made    map[Hash][]byte
	crossed map[sharedobj.Hash]int // bytes of pieces that went from one cluster to another
}

type flight struct {
	at time.Duration
	m  *sharedobj.Message
}

// member is a peer of the world. A liar answers whatever it likes.
type member struct {
	sharedobj.Member
	core  *Core
	disk  map[Hash][]byte
	wants map[Hash]bool
	uses  map[Hash]bool
	liar  bool
	down  bool
}

func newWorld(t *testing.T, seed uint64, clusters, each int, most int64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), now: time.Second, made: map[Hash][]byte{},
		crossed: map[sharedobj.Hash]int{}}
	for c := range clusters {
		for i := range each {
			p := &member{Member: sharedobj.Member{ID: PeerID(fmt.Sprintf("p%d-%d", c, i)),
				Cluster: sharedobj.ClusterID(fmt.Sprint("c", c))}, disk: map[Hash][]byte{}, wants: map[Hash]bool{},
				uses: map[Hash]bool{}}
			w.peers = append(w.peers, p)
		}
	}
	for _, p := range w.peers {
		w.start(p, most)
	}
	return w
}

// start begins a life of a peer.
func (w *world) start(p *member, most int64) {
	var files []File
	for h, b := range p.disk {
		files = append(files, File{h, int64(len(b)), -time.Duration(h[0])})
	}
	core, err := New(DefaultConfig(most), p.ID, w.rand, files)
	if err != nil {
		w.t.Fatal(err)
	}
	p.core, p.down, p.uses = core, false, map[Hash]bool{}
	var list []sharedobj.Member
	for _, o := range w.peers {
		list = append(list, o.Member)
	}
	w.carryOut(p, core.SetMembers(w.now, list))
	w.carryOut(p, core.Unuse(""))
}

// make makes a module's bytes, of no use but to be fetched.
func (w *world) make(size int) (Hash, *sharedobj.Recipe, *sharedobj.Body) {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(w.rand.Uint32())
	}
	r, body := module.AsConstant(b)
	w.made[Hash(r.Digest())] = b
	return Hash(r.Digest()), r, body
}

func (w *world) want(p *member, h Hash, holders ...PeerID) {
	p.wants[h] = true
	w.carryOut(p, p.core.Want(w.now, h, "run "+h.String(), "owner", holders...))
}

// carryOut does what a core orders, and checks it.
func (w *world) carryOut(p *member, o Orders) {
	for _, h := range o.Remove {
		if p.uses[h] && string(p.disk[h]) == string(w.made[h]) {
			w.t.Fatalf("%s removes module %s, which a run needs", p.ID, h)
		}
		delete(p.disk, h)
	}
	for _, s := range o.Store {
		if string(s.Bytes) != string(w.made[s.Hash]) {
			w.t.Fatalf("%s keeps other bytes than those of module %s", p.ID, s.Hash)
		}
		p.disk[s.Hash] = s.Bytes
	}
	for _, h := range o.Here {
		if !p.wants[h] {
			w.t.Fatalf("%s is told of a module that it does not want", p.ID)
		}
		if b := p.core.InMemory(h); b != nil && string(b) != string(w.made[h]) {
			w.t.Fatalf("%s has other bytes than those of module %s", p.ID, h)
		}
		delete(p.wants, h)
		p.uses[h] = true
	}
	for _, m := range o.Messages {
		w.send(m)
	}
	for _, h := range o.Load {
		var r *sharedobj.Recipe
		var b *sharedobj.Body
		if bin, ok := p.disk[h]; ok {
			if r, b = module.AsConstant(bin); Hash(r.Digest()) != h {
				r, b = nil, nil
			}
		}
		w.carryOut(p, p.core.Loaded(w.now, h, r, b))
	}
	w.bounded(p)
}

// bounded checks what a peer may have on its disk.
func (w *world) bounded(p *member) {
	unused := int64(0)
	for h, b := range p.disk {
		if !p.uses[h] {
			unused += int64(len(b))
		}
	}
	if unused > p.core.cfg.Most {
		w.t.Fatalf("%s has %d bytes on its disk that no run needs", p.ID, unused)
	}
	if n := p.core.Stats().BytesHeld; n > p.core.cfg.Objects.MaxBytes {
		w.t.Fatalf("%s has %d bytes in memory", p.ID, n)
	}
}

func (w *world) find(id PeerID) *member {
	return w.peers[slices.IndexFunc(w.peers, func(p *member) bool { return p.ID == id })]
}

func (w *world) send(m *sharedobj.Message) {
	from, to := w.find(m.From), w.find(m.To)
	if from.liar {
		m = w.lie(m)
	}
	if m.Piece != nil && from.Cluster != to.Cluster {
		w.crossed[m.Piece.Top] += len(m.Piece.Data)
	}
	if w.rand.IntN(100) < w.lossy {
		return
	}
	delay := time.Duration(1+w.rand.IntN(3)) * time.Millisecond
	if from.Cluster != to.Cluster {
		delay *= 20
	}
	w.flights = append(w.flights, flight{w.now + delay, m})
	if w.rand.IntN(100) < w.lossy {
		w.flights = append(w.flights, flight{w.now + 3*delay, m})
	}
}

// lie makes something else of a message: wrong pieces, things that are no modules, riches that are not there.
func (w *world) lie(m *sharedobj.Message) *sharedobj.Message {
	l := &sharedobj.Message{From: m.From, To: m.To}
	switch {
	case m.Piece != nil && w.rand.IntN(2) == 0:
		l.Piece = &sharedobj.Piece{Top: m.Piece.Top, ID: m.Piece.ID, Data: make([]byte, len(m.Piece.Data))}
	case m.Answer != nil && w.rand.IntN(2) == 0:
		l.Answer = &sharedobj.Answer{Digest: m.Answer.Digest, Status: sharedobj.Here, Told: []sharedobj.Told{{
			Recipe: sharedobj.Recipe{Kind: sharedobj.Constant, Name: "something else",
				State: sharedobj.Blob{Size: 1 << 40}}}}}
	case m.Answer != nil:
		l.Answer = &sharedobj.Answer{Digest: m.Answer.Digest, Status: sharedobj.Lacking}
	case m.Get != nil:
		l.Gone = &sharedobj.Gone{Top: m.Get.Top}
	default:
		return m
	}
	return l
}

// step lets the next thing happen; false if nothing is left to happen before a time.
func (w *world) step(until time.Duration) bool {
	at, who, which := until, -1, -1
	for i, f := range w.flights {
		if f.at < at {
			at, which = f.at, i
		}
	}
	for i, p := range w.peers {
		if next := p.core.Next(); !p.down && next != 0 && max(next, w.now) < at {
			at, who, which = max(next, w.now), i, -1
		}
	}
	if at >= until {
		w.now = until
		return false
	}
	w.now = max(w.now, at)
	if who >= 0 {
		w.carryOut(w.peers[who], w.peers[who].core.Tick(w.now))
		return true
	}
	m := w.flights[which].m
	w.flights = slices.Delete(w.flights, which, which+1)
	if to := w.find(m.To); !to.down {
		w.carryOut(to, to.core.Received(w.now, m))
	}
	return true
}

func (w *world) run(d time.Duration) {
	for until := w.now + d; w.step(until); {
	}
}

func (w *world) wanting() (list []string) {
	for _, p := range w.peers {
		for h := range p.wants {
			if !p.down && !p.liar { // whoever says nothing that makes sense gets nothing
				list = append(list, fmt.Sprintf("%s wants %s", p.ID, h))
			}
		}
	}
	return list
}

// Whoever wants a module gets it while an honest peer has it, whatever is lost, repeated, or said by liars, and
// over crashes; what is kept is what it is called, within its bounds.
func TestWorld(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			const most = 900 << 10
			w := newWorld(t, seed, 3, 4, most)
			w.lossy = w.rand.IntN(15)
			w.peers[5].liar = w.rand.IntN(2) == 0
			w.peers[9].liar = w.rand.IntN(2) == 0
			owner := w.peers[0]
			var all []Hash
			for range 4 {
				h, r, b := w.make(1 + w.rand.IntN(400<<10))
				all = append(all, h)
				w.carryOut(owner, owner.core.Add(w.now, r, b))
				owner.uses[h] = true
				owner.core.Use(w.now, h, "own")
			}
			for range 30 {
				p := w.peers[1+w.rand.IntN(len(w.peers)-1)]
				h := all[w.rand.IntN(len(all))]
				switch n := w.rand.IntN(10); {
				case p.down:
					w.start(p, most)
					for h := range p.wants { // its runs are taken up again
						w.want(p, h, owner.ID)
					}
				case n == 0: // what is in memory is lost, and some of the disk is damaged
					p.down = true
					for h, b := range p.disk {
						if w.rand.IntN(2) == 0 {
							p.disk[h] = append([]byte("damaged"), b...)
						}
					}
				case n == 1:
					run := "run " + h.String()
					delete(p.wants, h)
					delete(p.uses, h)
					w.carryOut(p, p.core.Unuse(run))
				default:
					other := w.peers[w.rand.IntN(len(w.peers))].ID
					w.want(p, h, owner.ID, other)
				}
				w.run(time.Duration(w.rand.IntN(3000)) * time.Millisecond)
			}
			for _, p := range w.peers {
				if p.down {
					w.start(p, most)
					for h := range p.wants {
						w.want(p, h, owner.ID)
					}
				}
			}
			for range 60 {
				if w.run(5 * time.Second); len(w.wanting()) == 0 {
					return
				}
			}
			t.Error(w.wanting())
		})
	}
}

// A module crosses each wide-area link about once, however many of a cluster want it.
func TestOnceOverEachLink(t *testing.T) {
	w := newWorld(t, 1, 4, 2, 64<<20)
	h, r, b := w.make(2 << 20)
	w.carryOut(w.peers[0], w.peers[0].core.Add(w.now, r, b))
	for _, p := range w.peers[1:] {
		w.want(p, h, w.peers[0].ID)
	}
	w.run(time.Minute)
	if list := w.wanting(); len(list) > 0 {
		t.Fatal(list)
	}
	copies := float64(w.crossed[b.Top]) / float64(len(w.made[h]))
	t.Logf("%.3f copies crossed to 3 other clusters", copies)
	if copies > 3.1 {
		t.Errorf("%.3f copies crossed to 3 other clusters", copies)
	}
}

// What nobody wants any more is not fetched again and again.
func TestGivesUp(t *testing.T) {
	w := newWorld(t, 1, 1, 2, 1<<20)
	h, _, _ := w.make(100)
	p := w.peers[0]
	w.want(p, h, w.peers[1].ID)
	w.run(2 * time.Minute)
	if p.core.Next() == 0 {
		t.Fatal("it is not tried again")
	}
	w.carryOut(p, p.core.Unuse("run "+h.String()))
	w.run(2 * time.Minute)
	if at := p.core.Next(); at != 0 {
		t.Errorf("something is still to be done in %v", at-w.now)
	}
}

// The disk's bound: what was used longest ago goes, what a run needs stays, and what does not fit is not written.
func TestShelf(t *testing.T) {
	s := newShelf(100)
	for i := range 4 {
		s.put(File{Hash: Hash{byte(i)}, Size: 25, Used: time.Duration(i)})
	}
	s.use(10, Hash{0}, "a")
	if got := s.trim(30); len(got) != 2 || got[0] != (Hash{1}) || got[1] != (Hash{2}) {
		t.Errorf("dropped %v", got)
	}
	if got := s.trim(80); len(got) != 0 || s.fits(80) {
		t.Errorf("dropped %v in vain", got)
	}
	s.unuse("a")
	s.resize(Hash{3}, 90)
	if got := s.trim(0); len(got) != 1 || got[0] != (Hash{3}) {
		t.Errorf("dropped %v", got)
	}
}

// What is no module is not taken in, whoever says that it is one.
func TestOnlyModules(t *testing.T) {
	bin := []byte("a module")
	r, b := module.AsConstant(bin)
	large, other, phased := *r, *r, *r
	large.State.Size = module.MaxSize + 1
	other.Name = "sky"
	phased.Kind = sharedobj.Phased
	for what, bad := range map[string]sharedobj.Recipe{"a large one": large, "another name": other,
		"another kind": phased} {
		w := newWorld(t, 1, 1, 2, 1<<20)
		p, h := w.peers[0], Hash(bad.Digest())
		w.want(p, h, w.peers[1].ID)
		o := p.core.Received(w.now, &sharedobj.Message{From: w.peers[1].ID, To: p.ID, Answer: &sharedobj.Answer{
			Digest: sharedobj.Digest(h), Status: sharedobj.Here,
			Told: []sharedobj.Told{{Recipe: bad, State: b.Bytes()}}}})
		if p.core.Has(h) || len(o.Here)+len(o.Store)+len(o.Messages) > 0 {
			t.Errorf("%s: %+v", what, o)
		}
	}
}

// What a peer passes on to its cluster, and wants for no run of its own, is not written.
func TestPassedOn(t *testing.T) {
	w := newWorld(t, 2, 2, 3, 64<<20)
	passed := 0
	for range 6 { // which peer of a cluster fetches for it goes by the module
		h, r, b := w.make(300 << 10)
		w.carryOut(w.peers[0], w.peers[0].core.Add(w.now, r, b))
		w.want(w.peers[3], h, w.peers[0].ID)
		w.run(time.Minute)
		for _, p := range w.peers[3:] {
			if p.core.InMemory(h) != nil && !p.uses[h] {
				passed++
			}
			if (p.disk[h] != nil) != p.uses[h] {
				t.Errorf("%s: used %v, on the disk %v", p.ID, p.uses[h], p.disk[h] != nil)
			}
		}
	}
	if list := w.wanting(); len(list) > 0 || passed == 0 {
		t.Errorf("%d were passed on; %v", passed, list)
	}
}

// Guards that what is in memory, and not on the disk, gets there when it is wanted: it was passed on, or the disk
// was full.
func TestWantedFromMemory(t *testing.T) {
	w := newWorld(t, 1, 1, 1, 64<<20)
	c := w.peers[0].core
	h, r, b := w.make(1 << 10)
	c.Add(1, r, b)
	c.NotStored(h)
	if c.Size(h) != 0 || !c.Has(h) {
		t.Fatalf("%d bytes of it are on the disk", c.Size(h))
	}
	if o := c.Want(2, h, "run", "owner"); len(o.Store) != 1 || len(o.Here) != 1 || c.Size(h) != 1<<10 {
		t.Errorf("%d bytes of it are on the disk after %+v", c.Size(h), o)
	}
	if o := c.Want(3, h, "run", "owner"); len(o.Store) != 0 || len(o.Here) != 1 {
		t.Errorf("it is written twice: %+v", o)
	}
}

// Questions that wait for the disk are few, of one member a quarter, so that the others are answered too, and each file
// is read once for all of them.
func TestQuestionsWait(t *testing.T) {
	h := Hash{1}
	c, err := New(DefaultConfig(1<<20), "a", rand.New(rand.NewPCG(1, 1)), []File{{Hash: h, Size: 1}})
	if err != nil {
		t.Fatal(err)
	}
	all := []PeerID{"b", "c", "d", "e", "f"}
	members := []sharedobj.Member{{ID: "a"}}
	for _, id := range all {
		members = append(members, sharedobj.Member{ID: id})
	}
	c.SetMembers(1, members)
	loads := 0
	for i, id := range all {
		for range 1000 {
			o := c.Received(1, &sharedobj.Message{From: id, To: "a", Ask: &sharedobj.Ask{Digest: sharedobj.Digest(h)}})
			loads += len(o.Load)
		}
		if want := min(i+1, 4) * c.cfg.Waiting / 4; c.waits != want {
			t.Errorf("with %s %d wait, not %d", id, c.waits, want)
		}
	}
	if o := c.Loaded(1, h, nil, nil); loads != 1 || len(o.Messages) != c.cfg.Waiting || len(o.Remove) != 1 || c.Has(h) {
		t.Errorf("%d loads, then %+v", loads, o)
	}
}

// Memory is bounded: what was used longest ago is dropped, and read from the disk again.
func TestMemory(t *testing.T) {
	w := newWorld(t, 3, 1, 1, 1<<30)
	p := w.peers[0]
	cfg := DefaultConfig(1 << 30)
	cfg.Objects.MaxBytes = 1 << 20
	var err error
	if p.core, err = New(cfg, p.ID, w.rand, nil); err != nil {
		t.Fatal(err)
	}
	var all []Hash
	for range 4 {
		h, r, b := w.make(400 << 10)
		all = append(all, h)
		w.carryOut(p, p.core.Add(w.now, r, b))
	}
	if p.core.InMemory(all[0]) != nil || !p.core.Has(all[0]) || p.core.InMemory(all[3]) == nil {
		t.Error("what is in memory is not what was used last")
	}
}
