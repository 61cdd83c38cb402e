package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// peer is one simulated peer: a driver with a protocol core, a modelled engine, a clock and a network interface.
type peer struct {
	world   *world
	number  int32
	id      steal.PeerID
	cluster int
	alive   bool
	leaving bool // it has begun to leave, and has not said goodbye
	quit    bool // the run was cancelled, and it knows
	inc     steal.Incarnation
	core    *steal.Core
	driver  *driver.Driver
	engine  engine

	speed        float64
	clock        clock
	stalledUntil int64
	pauses       int // while there is one it has no core
	cores        allotment
	cameHome     []port.Order // outcomes that came then
	membersKnown *steal.Members
	reported     steal.Load
	everReported bool
	events       []port.Event // scratch
	witness      witness
	hoard        *hoard // of a withholder
	made         made
	exile        exile
	alarms       []int64 // when tick events are due that are in the queue: each sooner than the one before
	debt         int64   // processor time that the next job pays: messages, inner jobs
	backlog      backlog
	nicFree      int64 // when the network interface has sent what it was given
	disk         disk
	beaconAt     int64 // when it last told that it is master
	usage        usage
	sampled      sampled
}

// usage is what a peer's time and messages went into, over all its lives.
type usage struct {
	work  int64       // nanoseconds at speed 1 spent on leaves that were completed, overhead not included
	busy  int64       // nanoseconds that workers were not idle
	stats steal.Stats // of earlier lives
	books books       // of earlier lives
	sends rate
	ticks rate
}

// clock maps virtual time to what the peer believes the time is.
type clock struct {
	base  int64   // virtual time of the last change
	value int64   // what it showed then
	rate  float64 // of drift; 1 is true
	most  int64   // what it showed at most before it jumped: until it does so again, a core's time stands still
}

func (c *clock) at(now int64) int64 { return c.value + int64(float64(now-c.base)*c.rate) }

// when is the first virtual time at which the clock shows at least that.
func (c *clock) when(shown int64) int64 {
	t := c.base + int64(float64(shown-c.value)/c.rate)
	for c.at(t) < shown {
		t++
	}
	return t
}

// jump moves the hands; drift changes the rate.
func (c *clock) jump(now, by int64) {
	c.most = max(c.most, c.at(now))
	c.base, c.value = now, c.at(now)+by
}

func (c *clock) drift(now int64, rate float64) { c.base, c.value, c.rate = now, c.at(now), rate }

// clockStart is what clocks show when a run begins: not zero, which a core may take for "never".
const clockStart = int64(time.Second)

func (p *peer) local() time.Duration { return time.Duration(p.clock.at(p.world.now)) }

// start gives the peer a new life: a new core and an empty engine.
func (p *peer) start() error {
	w := p.world
	p.inc++
	p.alive, p.leaving, p.quit = true, false, false
	p.cores = allotment{p, w.cfg.Workers, w.now, p.cores.had}
	if w.cfg.Cores != nil {
		p.cores.cores = w.cfg.Cores(int(p.number))
	}
	p.engine = newEngine(w.cfg.Tree, p.cores.cores)
	p.engine.deaf, p.engine.halts = w.cfg.Deaf, p.pause
	p.engine.owner, p.engine.run = p.number, w.run
	if w.cfg.Outcast != nil {
		p.engine.traced = int32(w.cfg.Outcast.Peer)
	}
	if w.cfg.Recovery == steal.Salvage || w.cfg.Quorum.asks() {
		p.engine.keep = int64(w.cfg.KeepAfter)
	}
	p.engine.largest = w.cfg.Largest
	if w.audit != nil {
		p.engine.nodes = w.audit.nodes
	}
	if w.cfg.Reorder > 0 {
		p.engine.shuffled = func(again bool) bool { return again && w.happens(w.cfg.Reorder) }
	}
	p.engine.where = func() Where { return Where{int(p.number), time.Duration(w.now)} }
	if t, ok := w.cfg.Tree.(Writing); ok {
		p.engine.writing = t
		p.engine.wrote = func(n Node) { w.wrote(p, int64(t.Writes(n)), t.Step(n)) }
	}
	p.backlog = backlog{since: w.now}
	p.debt, p.everReported, p.alarms, p.cameHome = 0, false, nil, nil
	p.sampled = sampled{at: w.now, busy: p.usage.busy, had: p.cores.had}
	for i := range p.engine.workers {
		p.engine.workers[i].token = uint64(p.inc) << 32 // events of earlier lives are void
	}
	random := rand.New(rand.NewPCG(w.cfg.Seed, uint64(p.number)<<32|uint64(p.inc)))
	run := w.plan
	run.Fresh = p.number == 0 && p.inc == 1
	run.Restored, run.Room = p.exile.cleanParts(p.restored()), newRoom(p)
	run = w.cfg.Quorum.plan(run, p.number)
	core, err := steal.NewCore(w.cfg.Core, run, p.address(), p.membersKnown, w.cfg.Policy(), random)
	if p.core = core; err != nil {
		return err
	}
	cfg := driver.Config{Core: core, Engine: p, Transport: p, Store: p, Notary: newNotary(p),
		MaxJobBytes: w.cfg.Core.MaxJobBytes, Proving: w.cfg.Quorum.proving(p), Observe: p.witness.see}
	p.engine.sharing = newSharer(p)
	p.engine.sharing.join(&cfg, random)
	if p.made = nil; w.cfg.Quorum.asks() && p.number != 0 {
		p.made, p.engine.keepJobs = made{}, true
		cfg.Commit = func(c *verify.Claim, m *driver.Made) { p.made[c.Tree] = m }
	}
	p.driver = driver.New(cfg)
	p.exile.begin()
	p.witness.checkRestored(run.Restored)
	return nil
}

func (p *peer) address() steal.Address { return steal.Address{Peer: p.id, Inc: p.inc} }

// stop ends a life; what it did stays on the books.
func (p *peer) stop() {
	p.cores.halt()
	p.usage.keep(p)
	p.world.net.bulk.end(p)
	p.alive, p.leaving = false, false
	p.core = nil
}

// Send, Tell and Answer are what the peer is to its driver on the side of the network.
func (p *peer) Send(m *steal.Message) {
	p.witness.checkVouchers(m)
	if m = p.hoard.says(m); m != nil {
		p.world.net.send(p, p.world.cfg.Quorum.says(p, m))
	}
}

func (p *peer) Tell(n *steal.News) { p.world.broadcast.tell(p, n) }

func (p *peer) Answer(outcome []byte) { p.world.answer(p, outcome) }

// settle gives idle workers jobs and tells the driver how busy the engine is, until nothing is left to do. It
// then sees to the next tick and checks what must hold between events.
func (p *peer) settle() {
	for p.alive {
		if p.leaving && p.core.Gone() {
			p.world.harm.gone(p)
			return
		}
		p.cores.resume()
		if p.cores.free() > 0 && p.engine.queue.len() > 0 {
			e := p.engine.queue.popNewest()
			if t, hit := p.engine.salvage(&e); hit {
				p.happened(p.engine.sharing.leaving(port.Event{Kind: port.Found, Jobs: []steal.Taken{t}})...)
			} else {
				p.begin(e)
			}
			continue
		}
		load := p.load()
		if p.everReported && !port.Differs(&load, &p.reported) {
			break
		}
		p.reported, p.everReported = load, true
		p.happened(port.Event{Kind: port.LoadChanged, Load: load})
	}
	if p.alive {
		p.engine.check()
		p.witness.checkBounds()
		p.wind()
	}
}

func (p *peer) load() steal.Load {
	if p.cores.rests() {
		return steal.Load{Runs: p.engine.runs, Queued: p.engine.queue.len()}
	}
	return steal.Load{Workers: p.cores.cores, Idle: p.cores.free(), Runs: p.engine.runs, Queued: p.engine.queue.len()}
}

// wind sees to it that a tick event comes no later than the core's next tick is due. One that comes too soon
// is wound again: an idle peer that asks for a tick in a millisecond, and then for one in a second, a
// thousand times a second, must not fill the queue.
func (p *peer) wind() {
	at, ok := p.driver.Next()
	if !ok {
		return
	}
	when := max(p.clock.when(int64(at)), p.world.now+1) // a tick that is due already comes as soon as time moves at all
	if n := len(p.alarms); n > 0 && p.alarms[n-1] <= when {
		return
	}
	p.alarms = append(p.alarms, when)
	p.world.queue.post(event{at: when, what: tickDue, peer: p.number, worker: int32(p.inc), number: uint64(when)})
}

// tick is the clock's alarm, in the life in which it was wound.
func (p *peer) tick(life int32, alarm uint64) {
	if life != int32(p.inc) {
		return
	}
	p.alarms = slices.DeleteFunc(p.alarms, func(at int64) bool { return at == int64(alarm) })
	if at, ok := p.driver.Next(); !ok || int64(at) > p.clock.at(p.world.now) {
		p.wind()
		return
	}
	if p.usage.ticks.tooMany(p.world.now) {
		panic(violation(noSpin, "%s has something to do more than %d times within a second", p.id, maxRate))
	}
	p.witness.examined = examined{tick: true}
	p.driver.Tick(p.local())
	p.settle()
}

// happened tells the driver what has happened in the engine.
func (p *peer) happened(events ...port.Event) { p.driver.Happened(p.local(), events...) }

// Do carries out an order: the modelled engine is one like any other.
func (p *peer) Do(o *port.Order) {
	if p.world.trace != nil {
		p.world.trace.ordered(p.world.now, p, o)
	}
	switch o.Kind {
	case port.Take:
		if p.world.cfg.ServeDelay > 0 {
			p.world.queue.post(event{at: p.world.now + int64(p.world.cfg.ServeDelay), what: takeServed, peer: p.number,
				worker: int32(o.Max), number: uint64(o.Ticket)<<16 | uint64(p.inc)&0xffff})
			return
		}
		p.happened(p.engine.sharing.leaving(port.Event{Kind: port.Taken, Ticket: o.Ticket,
			Jobs: p.engine.take(o.Max)})...)
	case port.Run:
		p.runSegment(o)
	case port.PutBack:
		p.engine.putBack(o)
	case port.Deliver:
		p.deliver(o)
	case port.Abort:
		p.engine.sharing.ends(o.Segment)
		p.forget(p.engine.abort(o.Segment))
	case port.LostWork:
		p.engine.watch(o.Orphans)
	case port.Judge:
		p.happened(essence(o))
	default:
		p.engine.sharing.do(o)
	}
}

// serve answers a Take order after the engine's delay.
func (p *peer) serve(number uint64, most int) {
	if number&0xffff != uint64(p.inc)&0xffff {
		return // asked in an earlier life
	}
	p.happened(p.engine.sharing.leaving(port.Event{Kind: port.Taken, Ticket: steal.Ticket(number >> 16),
		Jobs: p.engine.take(most)})...)
	p.settle()
}

func (p *peer) runSegment(o *port.Order) {
	n, ok := decodeNode(o.Job.Arg)
	if !ok || o.Job.Function != modelFunction || o.Job.Identity != identify(o.Job.Arg) {
		panic(violation(rightJob, "job %v does not have the identity it was sent with", o.Job.Path))
	}
	if p.engine.runs++; p.cores.cores == 0 {
		p.world.waiting = append(p.world.waiting, p)
	}
	p.engine.enter(n, &segment{id: o.Segment, path: o.Job.Path, alone: o.Alone}, o.Job, p.engine.sharing.begins(o))
}

// deliver fills the slot of a job that was given away, or found.
func (p *peer) deliver(o *port.Order) {
	if p.cores.rests() {
		p.cameHome = append(p.cameHome, *o)
		return
	}
	j, ok := p.engine.close(o.Ref)
	if !ok {
		return
	}
	if j.salvaged {
		p.engine.books.salvaged++
	} else {
		p.engine.books.filled++
	}
	r, ok := decodeOutcome(o.Outcome)
	if !ok || r.claim != claimOf(p.world.run, j.path, j.node) {
		panic(violation(rightResult, "job %s (%x) gets the outcome of another", j.path, j.node.Key))
	}
	if s := p.world.shared; s != nil && s.MaxOutcome > 0 && len(o.Outcome) > s.MaxOutcome {
		p.world.counts.Outcomes++
	}
	if p.number == 0 {
		p.world.checkUsed(j.path, &r)
	}
	names, _ := port.NamedBy(o.Outcome)
	p.complete(child{place: j.place, node: j.node, result: r.result, took: r.took, outside: true, names: names,
		touched: r.touched},
		port.Event{Kind: port.Delivered, Ref: o.Ref, Good: true})
}

// forget tells which jobs given away are not wanted any more.
func (p *peer) forget(refs []steal.Ref) {
	if len(refs) > 0 {
		p.happened(port.Event{Kind: port.Dropped, Refs: refs})
	}
	if p.world.cfg.Audit {
		p.engine.checkAwaited()
	}
}

// complete passes a result up and tells what came to its end by it, after first.
func (p *peer) complete(c child, first ...port.Event) {
	g := &p.engine
	done, unwanted := g.complete(c)
	var outcome []byte
	events := append(p.events[:0], first...) // the driver has heard the last ones
	if done != nil {
		g.sharing.ends(done.segment.id)
		outcome = g.partial(done.segment.path, done).Outcome
		p.witness.ended = done.segment.path
	}
	events = append(events, g.sharing.news()...)
	if len(g.kept) > 0 {
		events = append(events, port.Event{Kind: port.Kept, Kept: g.kept})
		g.kept = nil // the driver may keep them
	}
	if len(unwanted) > 0 {
		events = append(events, port.Event{Kind: port.Dropped, Refs: unwanted})
	}
	if done != nil {
		events = append(events, port.Event{Kind: port.Finished, Segment: done.segment.id, Outcome: outcome,
			Good: true, Tally: port.Tally{Own: time.Duration(done.own)}})
	}
	p.events = events
	p.happened(events...)
	p.witness.ended = nil
	p.forget(nil)
}
