package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/steal"
)

// peer is one simulated peer: a protocol core, a modelled engine, a clock and a network interface.
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
	engine  engine

	speed        float64
	clock        clock
	stalledUntil int64
	membersKnown *steal.Members
	orders       []steal.Order // not yet carried out
	reported     steal.Load
	everReported bool
	alarms       []int64 // when tick events are due that are in the queue: each sooner than the one before
	debt         int64   // processor time that the next job pays: messages, inner jobs
	nicFree      int64   // when the network interface has sent what it was given
	disk         disk
	beaconAt     int64 // when it last told that it is master
	usage        usage
}

// usage is what a peer's time and messages went into, over all its lives.
type usage struct {
	work     int64 // nanoseconds at speed 1 spent on leaves that were completed, overhead not included
	busy     int64 // nanoseconds that workers were not idle
	sent     uint64
	stats    steal.Stats // of earlier lives
	books    books       // of earlier lives
	second   int64       // for no-spin
	inSecond int
}

// clock maps virtual time to what the peer believes the time is.
type clock struct {
	base  int64   // virtual time of the last change
	value int64   // what it showed then
	rate  float64 // of drift; 1 is true
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
func (c *clock) jump(now, by int64) { c.base, c.value = now, c.at(now)+by }

func (c *clock) drift(now int64, rate float64) { c.base, c.value, c.rate = now, c.at(now), rate }

// clockStart is what clocks show when a run begins: not zero, which a core may take for "never".
const clockStart = int64(time.Second)

func (p *peer) local() time.Duration { return time.Duration(p.clock.at(p.world.now)) }

// start gives the peer a new life: a new core and an empty engine.
func (p *peer) start() error {
	w := p.world
	p.inc++
	p.alive, p.leaving, p.quit = true, false, false
	p.engine = newEngine(w.cfg.Tree, w.cfg.Workers)
	p.engine.owner, p.engine.run = p.number, w.run
	if w.cfg.Recovery == steal.Salvage {
		p.engine.keep = int64(w.cfg.KeepAfter)
	}
	if w.audit != nil {
		p.engine.nodes = w.audit.nodes
	}
	if w.cfg.Reorder > 0 {
		p.engine.shuffled = func(again bool) bool { return again && w.happens(w.cfg.Reorder) }
	}
	p.orders, p.debt, p.everReported, p.alarms = nil, 0, false, nil
	for i := range p.engine.workers {
		p.engine.workers[i].token = uint64(p.inc) << 32 // events of earlier lives are void
	}
	random := rand.New(rand.NewPCG(w.cfg.Seed, uint64(p.number)<<32|uint64(p.inc)))
	run := w.plan
	run.Fresh = p.number == 0 && p.inc == 1
	run.Restored = p.restored()
	core, err := steal.NewCore(w.cfg.Core, run, p.address(), p.membersKnown, w.cfg.Policy(), random)
	p.core = core
	if err == nil {
		p.checkRestored(run.Restored)
	}
	return err
}

func (p *peer) address() steal.Address { return steal.Address{Peer: p.id, Inc: p.inc} }

// stop ends a life; what it did stays on the books.
func (p *peer) stop() {
	p.usage.keep(p)
	p.alive, p.leaving = false, false
	p.core = nil
}

// absorb takes what the core wants done: messages leave at once, orders wait for settle.
func (p *peer) absorb(out steal.Output) {
	for _, m := range out.Messages {
		p.world.send(p, m)
	}
	p.orders = append(p.orders, out.Orders...)
}

// settle carries out orders, gives idle workers jobs and tells the core how busy the engine is, until nothing
// is left to do. It then sees to the next tick and checks what must hold between events.
func (p *peer) settle() {
	for p.alive {
		if len(p.orders) > 0 {
			o := p.orders[0]
			p.orders = append(p.orders[:0], p.orders[1:]...)
			p.carryOut(&o)
			continue
		}
		if p.leaving && p.core.Gone() {
			p.world.gone(p)
			return
		}
		if p.engine.idle > 0 && p.engine.queue.len() > 0 {
			e := p.engine.queue.popNewest()
			if t, hit := p.engine.salvage(&e); hit {
				p.absorb(p.core.Found(p.local(), []steal.Taken{t}))
			} else {
				p.begin(e)
			}
			continue
		}
		load := p.load()
		// A worker that began a segment and found all of it elsewhere is idle again, but not as it was: the
		// core counts its order.
		same := load.Idle == p.reported.Idle && (load.Idle == 0 || load.Runs == p.reported.Runs)
		if p.everReported && same && class(load) == class(p.reported) {
			break
		}
		p.reported, p.everReported = load, true
		p.absorb(p.core.Report(p.local(), load))
	}
	if p.alive {
		p.engine.check()
		p.checkBounds()
		p.wind()
	}
}

func (p *peer) load() steal.Load {
	return steal.Load{
		Workers: len(p.engine.workers), Idle: p.engine.idle, Runs: p.engine.runs, Queued: p.engine.queue.len(),
	}
}

// class is what a report must be exact about: none queued, at most as many as workers, more.
func class(l steal.Load) int {
	switch {
	case l.Queued == 0:
		return 0
	case l.Queued <= l.Workers:
		return 1
	}
	return 2
}

// wind sees to it that a tick event comes no later than the core's next tick is due. One that comes too soon
// is wound again: an idle peer that asks for a tick in a millisecond, and then for one in a second, a
// thousand times a second, must not fill the queue.
func (p *peer) wind() {
	at, ok := p.core.Next()
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
	if at, ok := p.core.Next(); !ok || int64(at) > p.clock.at(p.world.now) {
		p.wind()
		return
	}
	out := p.core.Tick(p.local())
	p.checkOrphans(out.Orders)
	p.absorb(out)
	p.settle()
}

// carryOut does what the core orders.
func (p *peer) carryOut(o *steal.Order) {
	if p.world.trace != nil {
		p.world.traceOrder(p, o)
	}
	switch o.Kind {
	case steal.Take:
		if p.world.cfg.ServeDelay > 0 {
			p.world.queue.post(event{at: p.world.now + int64(p.world.cfg.ServeDelay), what: takeServed, peer: p.number,
				worker: int32(o.Max), number: uint64(o.Ticket)<<16 | uint64(p.inc)&0xffff})
			return
		}
		p.absorb(p.core.Taken(p.local(), o.Ticket, p.engine.take(o.Max)))
	case steal.RunSegment:
		p.runSegment(o)
	case steal.PutBack:
		p.engine.putBack(o.Ref, o.Restarted)
	case steal.Deliver:
		p.deliver(o)
	case steal.AbortSegment:
		p.forget(p.engine.abort(o.Segment))
	case steal.Tell:
		p.world.tell(p, o.News)
	case steal.Watch:
		p.engine.watch(o.Orphans)
	case steal.Answer:
		p.world.answer(p, o.Outcome)
	default:
		panic(fmt.Sprintf("sim: order %v", o.Kind))
	}
}

// serve answers a Take order after the engine's delay.
func (p *peer) serve(number uint64, most int) {
	if number&0xffff != uint64(p.inc)&0xffff {
		return // asked in an earlier life
	}
	p.absorb(p.core.Taken(p.local(), steal.Ticket(number>>16), p.engine.take(most)))
	p.settle()
}

func (p *peer) runSegment(o *steal.Order) {
	n, ok := decodeNode(o.Job.Arg)
	if !ok || o.Job.Function != modelFunction || o.Job.Identity != identify(o.Job.Arg) {
		panic(violation(rightJob, "job %v does not have the identity it was sent with", o.Job.Path))
	}
	p.engine.runs++
	p.engine.enter(n, &segment{id: o.Segment, path: o.Job.Path}, o.Job.Restarted)
}

// deliver fills the slot of a job that was given away, or found.
func (p *peer) deliver(o *steal.Order) {
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
		panic(violation(rightResult, "job %s (%x) gets the outcome of another", pathText(j.path), j.node.Key))
	}
	p.complete(child{place: j.place, node: j.node, result: r.result, took: r.took, outside: true})
}

// forget tells the core which jobs given away are not wanted any more.
func (p *peer) forget(refs []steal.Ref) {
	if len(refs) > 0 {
		p.absorb(p.core.Aborted(p.local(), refs...))
	}
	if p.world.cfg.Audit {
		p.engine.checkAwaited()
	}
}

// complete passes a result up and reports what came to its end by it.
func (p *peer) complete(c child) {
	g := &p.engine
	done, unwanted := g.complete(c)
	if len(g.kept) > 0 {
		p.store(g.kept)
		p.absorb(p.core.Keep(p.local(), g.kept))
		g.kept = nil // the core may keep them
	}
	p.forget(unwanted)
	if done != nil {
		part := g.partial(done.segment.path, done.node, done.result, done.took)
		if len(part.Path) > 0 { // the root's outcome is the answer, and not for the core to give back
			p.store([]steal.Partial{part})
		}
		p.absorb(p.core.Finished(p.local(), done.segment.id, part.Outcome))
	}
}
