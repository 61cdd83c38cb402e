package steal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/job"
)

// electorate is a world of masterships and nothing else: gossip that loses, delays, repeats and never crosses
// between groups, peers that stall, crash, come back and join late, clocks of their own that are off and go
// at different rates, each with its own idea of who the members are and which of them are alive. Faults end
// at calm; what then has to be true is in check.
type electorate struct {
	cfg     Config
	world   electorateConfig
	rnd     *rand.Rand
	now     time.Duration
	voters  []*voter
	flight  []rumour
	ids     []PeerID
	elect   func(*mastership) elector
	mishaps time.Duration         // when the next one happens
	zero    map[int]time.Duration // since when a group has no master, by group
	longest time.Duration         // that a group had none after calm
	wrong   error                 // what must not happen at any time
}

// elector is what the world needs of a mastership; the broken twins are others.
type elector interface {
	pass(now time.Duration)
	hear(from Address, b *Beacon) (decision, verdict)
	look(alive func(PeerID) bool) decision
	over(id PeerID, floor Incarnation)
	finished(outcome [16]byte)
	next() time.Duration
}

type electorateConfig struct {
	seed               uint64
	peers, deputies    int
	late               int // of the peers, join later
	loss               float64
	delay              time.Duration
	crashes, restarts  int
	stalls, partitions int
	answers            int
	split              bool // two groups remain
	partial            bool // each peer knows only some of the members
}

// calm is when faults end.
const calm = 60 * time.Second

// calmDelay is the longest that gossip takes after that, lateness the longest that a tick is late.
const (
	calmDelay = 300 * time.Millisecond
	lateness  = 400 * time.Millisecond
)

type rumour struct {
	at    time.Duration
	to    int
	group int // of the sender, when it was sent
	from  Address
	b     *Beacon
}

type voter struct {
	id      PeerID
	m       elector
	inner   *mastership
	inc     Incarnation
	group   int
	up      bool
	stalled time.Duration
	inbox   []rumour
	got     []rumour // heard in this life, to be repeated at any time
	offset  time.Duration
	rate    float64
	late    time.Duration // of the next tick
	busy    bool          // no worker for the root
	runs    bool          // it has begun the root
}

func (v *voter) local(t time.Duration) time.Duration {
	return v.offset + time.Duration(float64(t)*v.rate)
}

func (v *voter) global(t time.Duration) time.Duration {
	return time.Duration(float64(t-v.offset)/v.rate) + 1
}

func newElectorate(world electorateConfig, elect func(*mastership) elector) *electorate {
	e := &electorate{cfg: LAN(), world: world, rnd: rand.New(rand.NewPCG(world.seed, 3)), elect: elect,
		zero: make(map[int]time.Duration)}
	for i := range world.peers {
		e.ids = append(e.ids, PeerID(fmt.Sprintf("p%02d", i)))
	}
	for i, id := range e.ids {
		v := &voter{id: id, offset: e.upTo(time.Hour), rate: 0.98 + 0.04*e.rnd.Float64()}
		e.voters = append(e.voters, v)
		if i < world.peers-world.late {
			e.start(v, i == 0)
		}
	}
	return e
}

func (e *electorate) upTo(d time.Duration) time.Duration {
	return time.Duration(e.rnd.Int64N(int64(d) + 1))
}

// start begins a life.
func (e *electorate) start(v *voter, fresh bool) {
	var known []Member
	for _, id := range e.ids {
		if id == v.id || !e.world.partial || e.rnd.IntN(3) > 0 {
			known = append(known, Member{ID: id})
		}
	}
	v.inc++
	v.up, v.stalled, v.inbox, v.got, v.runs = true, 0, nil, nil, false
	v.inner = newMastership(&e.cfg, &Run{ID: job.RunID{5}, Root: Job{Function: "f"}, Deputies: e.ids[:e.world.deputies],
		Fresh: fresh}, v.id, NewMembers(known))
	v.m = e.elect(v.inner)
	v.m.pass(v.local(e.now))
	e.look(v)
	for _, w := range e.voters { // some see it begin a new life
		if w.up && w != v && e.rnd.IntN(3) == 0 {
			w.m.over(v.id, v.inc)
		}
	}
}

func (e *electorate) look(v *voter) {
	e.carryOut(v, v.m.look(func(PeerID) bool { return e.rnd.IntN(5) > 0 }))
	v.late = e.upTo(lateness)
}

// carryOut begins the root as soon as there is a worker.
func (e *electorate) carryOut(v *voter, d decision) {
	v.runs = !d.StepDown && v.inner.master && (v.runs || !v.busy && !v.inner.starts)
	v.inner.work(!v.busy, v.runs)
	e.tell(v, d.Send)
}

// tell gossips a beacon.
func (e *electorate) tell(v *voter, b *Beacon) {
	if b == nil {
		return
	}
	for i, w := range e.voters {
		if w == v {
			continue
		}
		delay := e.upTo(calmDelay)
		if e.now < calm {
			if e.rnd.Float64() < e.world.loss {
				continue
			}
			delay = e.upTo(e.world.delay)
		}
		e.flight = append(e.flight, rumour{e.now + delay, i, v.group, Address{v.id, v.inc}, b})
	}
}

func (e *electorate) arrive(r rumour) {
	v := e.voters[r.to]
	switch {
	case !v.up || r.group != v.group:
	case v.stalled > e.now:
		v.inbox = append(v.inbox, r)
	default:
		v.m.pass(v.local(e.now))
		e.hears(v, r)
	}
}

func (e *electorate) hears(v *voter, r rumour) {
	d, verdict := v.m.hear(r.from, r.b)
	if verdict == counts {
		v.got = append(v.got, r)
	}
	mine, its := slices.Index(e.ids[:e.world.deputies], v.id), slices.Index(e.ids[:e.world.deputies], r.from.Peer)
	if later := mine >= 0 && (its < 0 || its > mine); d.StepDown && later && (v.runs || r.b.Waiting) {
		e.wrong = fmt.Errorf("at %v: deputy %s steps down for %s", e.now, v.id, r.from.Peer)
	}
	e.carryOut(v, d)
	e.look(v)
}

// step does the next thing that is due.
func (e *electorate) step() {
	at, what := time.Duration(1<<62), func() {}
	consider := func(t time.Duration, f func()) {
		if t = max(t, e.now); t < at {
			at, what = t, f
		}
	}
	for i := range e.flight {
		consider(e.flight[i].at, func() {
			r := e.flight[i]
			e.flight = slices.Delete(e.flight, i, i+1)
			e.arrive(r)
		})
	}
	for _, v := range e.voters {
		if !v.up {
			continue
		}
		if v.stalled > e.now {
			consider(v.stalled, func() { e.wake(v) })
			continue
		}
		consider(v.global(v.m.next())+v.late, func() {
			v.m.pass(v.local(e.now))
			e.look(v)
		})
	}
	if e.now < calm {
		consider(min(e.mishaps, calm), e.mishap)
	} else {
		consider(e.mishaps, e.repeat)
	}
	e.now = at
	what()
	e.count()
}

// wake lets a stalled peer go on: the clock may come first, or what lies in its inbox.
func (e *electorate) wake(v *voter) {
	v.stalled = 0
	if e.rnd.IntN(2) == 0 {
		v.m.pass(v.local(e.now))
		e.look(v)
	}
	inbox := v.inbox
	v.inbox = nil
	for _, r := range inbox {
		e.arrive(r)
	}
}

// repeat lets somebody hear again what it has heard before.
func (e *electorate) repeat() {
	e.mishaps = e.now + e.upTo(time.Second)
	v := e.voters[e.rnd.IntN(len(e.voters))]
	if v.up && v.stalled <= e.now && len(v.got) > 0 {
		v.m.pass(v.local(e.now))
		r := v.got[e.rnd.IntN(len(v.got))]
		e.hears(v, r)
	}
}

// mishap does one of the things that the world is allowed, or calms down.
func (e *electorate) mishap() {
	e.mishaps = e.now + e.upTo(2*time.Second)
	if e.now >= calm {
		e.calmDown()
		return
	}
	i := e.rnd.IntN(len(e.voters))
	v, w := e.voters[i], &e.world
	awake := v.up && v.stalled <= e.now
	switch kind := e.rnd.IntN(8); {
	case kind == 0 && w.crashes > 0 && awake && e.others(v) > 0:
		w.crashes--
		v.up = false
		if e.rnd.IntN(3) == 0 { // it said goodbye, and some heard it
			for _, u := range e.voters {
				if u.up && u.stalled <= e.now && e.rnd.IntN(2) == 0 {
					u.m.pass(u.local(e.now))
					u.m.over(v.id, v.inc+1)
					e.look(u)
				}
			}
		}
	case kind == 1 && w.restarts > 0 && v.inc > 0:
		w.restarts--
		e.start(v, false)
	case kind == 2 && v.inc == 0:
		e.start(v, false)
	case kind == 3 && w.stalls > 0 && awake:
		w.stalls--
		v.stalled = min(e.now+e.upTo(20*time.Second), calm)
	case kind == 4 && w.partitions > 0:
		w.partitions--
		for _, u := range e.voters {
			u.group = e.rnd.IntN(2)
		}
	case kind == 5 && w.answers > 0 && awake && v.inner.master && v.inner.answered == nil:
		w.answers--
		v.m.pass(v.local(e.now))
		v.m.finished([16]byte{1})
		e.look(v)
	case kind == 6:
		e.repeat()
	case kind == 7 && awake:
		v.busy = !v.busy
		e.look(v)
	}
}

// calmDown ends the faults.
func (e *electorate) calmDown() {
	for i, v := range e.voters {
		if v.inc == 0 {
			e.start(v, false)
		}
		if v.group = 0; e.world.split {
			v.group = i % 2
		}
	}
}

// others counts the peers that run, but one.
func (e *electorate) others(v *voter) (n int) {
	for _, w := range e.voters {
		if w != v && w.up {
			n++
		}
	}
	return n
}

// masters lists a group's masters, and whether anybody is there at all.
func (e *electorate) masters(group int) (ids []PeerID, anybody bool) {
	for _, v := range e.voters {
		if v.up && v.group == group {
			anybody = true
			if v.inner.master {
				ids = append(ids, v.id)
			}
		}
	}
	return ids, anybody
}

// begun says whether a group's root has begun, or nobody has a worker for it.
func (e *electorate) begun(group int) bool {
	idle := false
	for _, v := range e.voters {
		if v.up && v.group == group {
			if idle = idle || !v.busy; v.runs || v.inner.master && v.inner.answered != nil {
				return true
			}
		}
	}
	return !idle
}

// count follows how long a group goes without a master once faults have ended.
func (e *electorate) count() {
	if e.now < calm {
		return
	}
	for group := range 2 {
		ids, anybody := e.masters(group)
		since, zero := e.zero[group]
		switch {
		case !anybody || len(ids) > 0:
			delete(e.zero, group)
		case !zero:
			e.zero[group] = e.now
		default:
			e.longest = max(e.longest, e.now-since)
		}
	}
}

// check plays the world: two leases after faults have ended there is one master in every group, the same one
// as long as anybody looks, and at no time after the end is there none for longer than it takes one to begin.
func (e *electorate) check() error {
	lease := e.cfg.MasterLease + 4*e.cfg.RankStagger
	var chosen [2]PeerID
	for e.now < calm+2*lease+time.Minute {
		if e.step(); e.wrong != nil {
			return e.wrong
		}
		if limit := lease + max(e.world.delay, calmDelay) + time.Second; e.longest > limit {
			return fmt.Errorf("at %v: no master for %v", e.now, e.longest)
		}
		if e.now < calm+2*lease {
			continue
		}
		for group := range 2 {
			ids, anybody := e.masters(group)
			if anybody && len(ids) != 1 {
				return fmt.Errorf("at %v group %d has masters %v", e.now, group, ids)
			}
			if anybody && !e.begun(group) {
				return fmt.Errorf("at %v the root of group %d waits for a worker, and there are idle ones", e.now,
					group)
			}
			if anybody && chosen[group] != "" && chosen[group] != ids[0] {
				return fmt.Errorf("at %v group %d changes from %v to %v", e.now, group, chosen[group], ids[0])
			}
			if anybody {
				chosen[group] = ids[0]
			}
		}
	}
	return nil
}

func drawElectorate(t *rapid.T) electorateConfig {
	w := electorateConfig{
		seed:       rapid.Uint64().Draw(t, "seed"),
		peers:      rapid.IntRange(2, 12).Draw(t, "peers"),
		loss:       rapid.Float64Range(0, 0.6).Draw(t, "loss"),
		delay:      time.Duration(rapid.IntRange(0, 3000).Draw(t, "delay (ms)")) * time.Millisecond,
		crashes:    rapid.IntRange(0, 6).Draw(t, "crashes"),
		restarts:   rapid.IntRange(0, 4).Draw(t, "restarts"),
		stalls:     rapid.IntRange(0, 6).Draw(t, "stalls"),
		partitions: rapid.IntRange(0, 4).Draw(t, "partitions"),
		answers:    rapid.IntRange(0, 2).Draw(t, "answers"),
		split:      rapid.Bool().Draw(t, "split"),
		partial:    rapid.Bool().Draw(t, "partial"),
	}
	w.deputies = rapid.IntRange(1, min(w.peers, 4)).Draw(t, "deputies")
	w.late = rapid.IntRange(0, w.peers/2).Draw(t, "late")
	return w
}
