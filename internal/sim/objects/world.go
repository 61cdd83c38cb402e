package objects

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim/agenda"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/sharedobj"
)

// tick is how late a peer's clock may ring.
const tick = 50 * time.Millisecond

// World is a run in progress.
type World struct {
	cfg   Config
	now   time.Duration
	rnd   *rand.Rand
	queue agenda.Agenda
	net   *wan.Model
	peers []*peer
	group []int // of a partition, by peer

	truth    map[sharedobj.Digest][]byte
	seeds    map[sharedobj.Digest]*sharedobj.Recipe // of lattices
	objects  []*object
	lattices []sharedobj.Digest
	offers   map[sharedobj.Digest]set // everything valid ever offered
	nextJob  sharedobj.JobID
	seen     []*sharedobj.Message // some, for the liar
	lies     map[sharedobj.Hash]*sharedobj.Body

	begun, messages int
	wide            map[int]uint64 // bytes of pieces that came into a cluster from others
	search          *search
}

// object is a phased one: its versions, the newest last.
type object struct {
	maker    *peer
	life     int // of its maker
	recipe   sharedobj.Recipe
	versions []sharedobj.Digest
}

// event is one thing to come.
func (w *World) post(after time.Duration, do func()) {
	w.queue.Post(w.now+after, do)
}

func (w *World) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(w.rnd.Int64N(int64(d)))
}

// New makes a world.
func New(cfg Config) *World {
	w := &World{cfg: cfg, rnd: rand.New(rand.NewPCG(cfg.Seed, 0x6f626a)), net: cfg.Network(),
		truth: make(map[sharedobj.Digest][]byte), seeds: make(map[sharedobj.Digest]*sharedobj.Recipe),
		offers: make(map[sharedobj.Digest]set), wide: make(map[int]uint64),
		lies: make(map[sharedobj.Hash]*sharedobj.Body)}
	for c, size := range w.net.Sizes() {
		for range size {
			w.peers = append(w.peers, &peer{world: w, number: len(w.peers), cluster: c,
				id: sharedobj.PeerID(fmt.Sprintf("p%02d", len(w.peers)))})
		}
	}
	w.peers[len(w.peers)-1].liar = cfg.Liar && (cfg.Guests == 0 || cfg.Seed%2 == 0)
	w.addGuests()
	w.group = make([]int, len(w.peers))
	for i, p := range w.peers {
		p.skewed = cfg.Skewed && i%3 == 1
		p.start()
	}
	w.plan()
	return w
}

// members are those that a peer knows: of guests its own, and a guest knows its host.
func (p *peer) members() (all []sharedobj.Member) {
	for _, q := range p.world.peers {
		if q.host == nil && p.host == nil || p.meets(q) {
			all = append(all, sharedobj.Member{ID: q.id, Cluster: sharedobj.ClusterID(fmt.Sprint("c", q.cluster)),
				Guest: q.host != nil})
		}
	}
	return all
}

// Run plays a world to its end. The error is a *Violation.
func Run(cfg Config) (w *World, err error) {
	w = New(cfg)
	return w, w.Play()
}

// Play goes on to the end, and checks what must hold there.
func (w *World) Play() (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Violation:
			err = v
		default:
			panic(v)
		}
	}()
	w.playUntil(w.cfg.End)
	w.verify()
	return nil
}

// playUntil goes on up to a time.
func (w *World) playUntil(end time.Duration) {
	for at, ok := w.queue.Due(); ok && at <= end; at, ok = w.queue.Due() {
		w.next()
	}
	w.now = end
}

// next does the next thing; false if there is none.
func (w *World) next() bool {
	if _, ok := w.queue.Due(); !ok {
		return false
	}
	var do func()
	w.now, do = w.queue.Next()
	do()
	return true
}

// peer is one process: a core and an engine, which a crash takes with it.
type peer struct {
	world   *World
	number  int
	id      sharedobj.PeerID
	cluster int
	life    int
	up      bool
	liar    bool
	skewed  bool
	host    *peer // of a guest; nil: it is none
	core    *sharedobj.Core
	crowd   *crowd // nil: what is shared here has the memory for itself
	engine  *engine
	pins    map[sharedobj.Digest]int
	reads   map[sharedobj.Digest][]func()
	fed     time.Duration // when a value, or a piece of one, came last
	ringing time.Duration // when a tick is due; 0: none
	sent    int           // messages in this moment
	moment  time.Duration
}

func (p *peer) start() {
	p.life++
	p.up = true
	cfg := p.world.cfg.Core
	if p.crowd = nil; p.world.cfg.Crowded {
		p.crowd = newCrowd(p)
		cfg.Room = p.crowd
	}
	core, err := sharedobj.NewCore(cfg, p.id, p.members(),
		rand.New(rand.NewPCG(p.world.cfg.Seed, uint64(p.number))))
	if err != nil {
		panic(err)
	}
	p.core = core
	p.core.SetMaster(p.world.peers[0].id)
	p.pins, p.reads, p.ringing = make(map[sharedobj.Digest]int), make(map[sharedobj.Digest][]func()), 0
	p.engine = &engine{peer: p, values: make(map[sharedobj.Digest][]byte),
		lattices: make(map[sharedobj.Digest]*lattice), notes: make(map[string]bool),
		jobs: make(map[sharedobj.JobID]*job)}
}

// after does something later, if the peer still lives then.
func (p *peer) after(d time.Duration, do func()) {
	life := p.life
	p.world.post(d, func() {
		if p.up && p.life == life {
			do()
		}
	})
}

// later is for what an engine does for its core.
func (p *peer) later(do func()) { p.after(p.world.upTo(p.world.cfg.Slow), do) }

func (p *peer) pin(names []sharedobj.Digest) {
	for _, d := range names {
		p.pins[d]++
	}
}

func (p *peer) unpin(names []sharedobj.Digest) {
	for _, d := range names {
		p.pins[d]--
	}
}

// absorb carries an output out.
func (p *peer) absorb(out sharedobj.Output) {
	w := p.world
	orders, messages := slices.Clone(out.Orders), slices.Clone(out.Messages)
	for _, o := range orders {
		p.engine.carryOut(o)
	}
	for _, m := range messages {
		w.send(p, m)
	}
	if s := p.core.Stats(); s.BytesHeld > w.cfg.Core.MaxBytes {
		w.violate(bounded, "%s holds %d bytes of %d", p.id, s.BytesHeld, w.cfg.Core.MaxBytes)
	} else if p.crowd != nil && s.BytesHeld > p.crowd.told {
		w.violate(bounded, "%s holds %d bytes, and says %d", p.id, s.BytesHeld, p.crowd.told)
	} else if c := p.crowd; c != nil && (s.PushedMost != c.mostSent() || s.Pushed != c.sent[""]) {
		w.violate(bounded, "of senders %s has %d bytes, of one %d, and says %d and %d", p.id, s.Pushed, s.PushedMost, c.sent[""],
			c.mostSent())
	} else if most := w.cfg.Core.MaxBytes; s.PushedMost > most/4 || s.Pushed > most/2 {
		w.violate(bounded, "of %d bytes %s has %d that nobody has named, %d of one sender", most, p.id, s.Pushed,
			s.PushedMost)
	}
	if at, ok := p.core.Next(); ok && (p.ringing == 0 || at < p.ringing) {
		p.ringing = max(at, w.now+1)
		p.after(p.ringing-w.now+w.upTo(w.cfg.Late), p.ring(p.ringing))
	}
}

func (p *peer) ring(at time.Duration) func() {
	return func() {
		if p.ringing == at {
			p.ringing = 0
			p.absorb(p.core.Tick(p.world.now))
		}
	}
}

// noisy is so many messages of one peer in a second that it must be out of its mind.
const noisy = 50_000

// send puts a message on its way.
func (w *World) send(p *peer, m *sharedobj.Message) {
	if second := w.now / time.Second; second != p.moment {
		p.moment, p.sent = second, 0
	}
	if p.sent++; p.sent > noisy {
		w.violate(noSpin, "%s sends %d messages in a second", p.id, p.sent)
	}
	w.messages++
	to := w.find(m.To)
	if m.Validate() != nil {
		w.violate(noSpin, "%s sends a malformed message: %v", p.id, m.Validate())
	}
	if len(w.seen) < 200 {
		w.seen = append(w.seen, m)
	}
	size := 64
	if m.Piece != nil {
		size += len(m.Piece.Data)
		if p.cluster != to.cluster {
			w.wide[to.cluster] += uint64(len(m.Piece.Data))
		}
	}
	at, err := w.net.Deliver(w.now, p.cluster, to.cluster, size)
	if err != nil {
		return
	}
	copies := 1
	if w.now < w.cfg.Calm {
		switch x := w.rnd.Float64(); {
		case x < w.cfg.Loss:
			copies = 0
			if w.rnd.IntN(4) == 0 {
				p.later(func() { p.absorb(p.core.SendFailed(w.now, m)) })
			}
		case x < w.cfg.Loss+w.cfg.Repeat:
			copies = 2
		}
		at += w.upTo(w.cfg.Shuffle)
	}
	for range copies {
		w.post(at-w.now, func() {
			if to.up && !to.liar && w.group[to.number] == w.group[p.number] {
				if m.Piece != nil {
					to.fed = w.now
				}
				to.absorb(to.core.Step(w.now, m))
			} else if to.liar && m.Get != nil {
				w.liarHas(to, p, m.Get)
			}
		})
		at += w.upTo(time.Second)
	}
}

func (w *World) find(id sharedobj.PeerID) *peer {
	for _, p := range w.peers {
		if p.id == id {
			return p
		}
	}
	panic("a message to " + string(id))
}

// gossip tells everybody, more or less.
func (w *World) gossip(p *peer, n *sharedobj.News) {
	if err := n.Validate(); err != nil {
		w.violate(noSpin, "%s tells malformed news: %v", p.id, err)
	}
	for _, to := range w.peers {
		if to == p || !to.meets(p) || w.now < w.cfg.Calm && w.rnd.Float64() < w.cfg.Loss {
			continue
		}
		w.post(time.Millisecond+w.upTo(100*time.Millisecond), func() {
			if to.up && !to.liar && w.group[to.number] == w.group[p.number] {
				to.absorb(to.core.Hear(w.now, p.id, n))
				w.relay(to, n)
			}
		})
	}
}

// verify checks what must hold at the end.
func (w *World) verify() {
	for _, d := range w.lattices {
		var first *peer
		for _, p := range w.peers {
			l := p.engine.lattices[d]
			if !p.up || p.liar || l == nil || p.host != nil && (!p.host.up || p.host.engine.lattices[d] == nil) {
				continue
			}
			w.checkLattice(p, d, l)
			if first == nil {
				first = p
			} else if !maps.Equal(l.value, first.engine.lattices[d].value) {
				w.violate(agree, "%s has %d numbers in %v, %s has %d", first.id,
					len(first.engine.lattices[d].value), d, p.id, len(l.value))
			}
		}
	}
	if w.cfg.Liar {
		w.verifyHeeded()
	}
	if w.search != nil {
		w.search.verify()
	}
	if w.cfg.OneCopy > 0 {
		w.verifyCopies()
	}
}

// checkLattice sees to it that a value holds what is valid, was offered, and what was offered here.
func (w *World) checkLattice(p *peer, d sharedobj.Digest, l *lattice) {
	for n := range l.value {
		if n%witness != 0 || !w.offers[d][n] {
			w.violate(valid, "%s has %d in %v", p.id, n, d)
		}
	}
	if !contains(l.value, l.offered) {
		w.violate(onlyGrows, "%s lost its own offers to %v", p.id, d)
	}
}

// verifyHeeded tells each honest peer an offer of each other one.
func (w *World) verifyHeeded() {
	for _, d := range w.lattices {
		n := &sharedobj.News{Offers: []sharedobj.Offer{{Digest: d, Value: set{witness: true}.encode()}}}
		for _, p := range w.peers {
			for _, q := range w.peers {
				if !p.up || !q.up || p.liar || q.liar || p == q || !p.meets(q) || p.engine.lattices[d] == nil {
					continue
				}
				orders := p.core.Hear(w.now, q.id, n).Orders
				if !slices.ContainsFunc(orders, func(o sharedobj.Order) bool { return o.Kind == sharedobj.OrderJoin }) {
					w.violate(heeded, "%s does not join what %s offers to %v", p.id, q.id, d)
				}
			}
		}
	}
}

func (p *peer) somebodyHas(d sharedobj.Digest) bool {
	return slices.ContainsFunc(p.world.peers, func(q *peer) bool {
		return q.up && !q.liar && q.meets(p) && q.engine.values[d] != nil
	})
}

func (w *World) verifyCopies() {
	for c := range w.net.Sizes() {
		if most := uint64(float64(w.cfg.OneCopy) * 1.1); w.wide[c] > most {
			w.violate(onePerLink, "%d bytes of pieces came into cluster %d, %d were announced", w.wide[c], c,
				w.cfg.OneCopy)
		}
	}
}

func compareDigests(a, b sharedobj.Digest) int { return slices.Compare(a[:], b[:]) }
