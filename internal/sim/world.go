package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// world is a run in progress.
type world struct {
	*stage
	*cast
	run       job.RunID
	plan      steal.Run // what every core is told of it
	audit     *audit
	net       *network
	broadcast *broadcast
	harm      *harm
	timeline  timeline

	rootDone    bool
	doneAt      int64
	result      Result
	cancelled   bool
	cancelledAt int64
	adapt       *adapting // nil: nobody decides who takes part
	shared      *shared   // nil: nothing is shared
	exhibits    exhibits
	passed      map[verify.PeerID]uint64
	out         bool    // the outcast is
	waiting     []*peer // got a job and have no core
}

// Run simulates one run. The error is a *Violation if an invariant did not hold, or wraps ErrConfig; the
// report is then that of the moment the run stopped.
func Run(cfg Config) (report *Report, err error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	w, err := newWorld(cfg)
	if err != nil {
		return nil, err
	}
	err = w.guarded(func() {
		for !w.over() {
			w.step()
		}
		w.verify()
	})
	report = w.report()
	if flushErr := w.trace.flush(); err == nil {
		err = flushErr
	}
	if cfg.Weigh && err == nil {
		report.Memory = weigh(w)
	}
	return report, err
}

// guarded makes an error of a violation.
func (w *world) guarded(do func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Violation:
			v.At = fmt.Sprintf("at %v", time.Duration(w.now))
			err = v
		default:
			panic(v)
		}
	}()
	do()
	return nil
}

// weigh is the memory that is in use while there is a world.
func weigh(w *world) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(w)
	return m.HeapAlloc
}

func newWorld(cfg Config) (*world, error) {
	st := &stage{cfg: cfg, now: int64(cfg.Begin), random: rand.New(rand.NewPCG(cfg.Seed, 0x776f726c64)),
		trace: newTracer(cfg.Trace)}
	w := &world{stage: st, cast: &cast{stage: st}, timeline: timeline{bucket: int64(cfg.Bucket)},
		passed:   map[verify.PeerID]uint64{},
		exhibits: exhibits{map[verify.Node][]exhibit{}, map[string]map[int32]struct{}{}}}
	w.shared = newShared(&st.cfg)
	sky := &weather{stage: st}
	w.net = &network{stage: st, cast: w.cast, links: cfg.Network, weather: sky,
		bulk: &bulk{stage: st, links: cfg.Network, index: make(map[pair]int)}}
	w.harm = &harm{world: w, weather: sky, links: cfg.Network, struck: make(map[int][]*peer),
		slow: make(map[[2]int][]float64), calm: calm{since: w.now}}
	for i := range w.run {
		w.run[i] = byte(mix(cfg.Seed+uint64(i)) >> 8)
	}
	for cluster, size := range cfg.Network.Sizes() {
		for range size {
			p := w.add(cluster, w)
			w.joined = append(w.joined, p.member())
		}
	}
	w.members = steal.NewMembers(w.joined)
	w.plan = steal.Run{ID: w.run, Root: jobOf(cfg.Tree, &entry{node: cfg.Tree.Root()}, nil), Deputies: w.deputies(),
		Recovery: cfg.Recovery}
	if cfg.Audit {
		w.audit = newAudit(w)
		w.queue.post(event{at: w.now + int64(lookEvery), what: lookDue, peer: -1})
	}
	w.broadcast = &broadcast{stage: st, cast: w.cast, links: cfg.Network, weather: sky, audit: w.audit}
	for _, p := range w.peers {
		p.membersKnown = w.members
		if err := p.start(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		// Processes never start in the same instant.
		at := w.now + w.random.Int64N(int64(time.Millisecond))
		w.queue.post(event{at: at, what: peerStarts, peer: p.number})
	}
	w.handedIn()
	if err := w.harm.schedule(); err != nil {
		return nil, err
	}
	var err error
	if w.adapt, err = newAdapting(w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return w, nil
}

func clusterID(c int) steal.ClusterID { return steal.ClusterID(fmt.Sprintf("c%02d", c+1)) }

// step takes the next event.
func (w *world) step() {
	if w.queue.len() == 0 {
		panic(violation(NoHang, "nothing will ever happen again, and the root has no result"))
	}
	e := w.queue.next()
	if e.at < w.now {
		panic(violation(timeForward, "an event for %v", time.Duration(e.at)))
	}
	w.now = e.at
	if w.now > w.harm.calm.since+int64(w.cfg.Limit) {
		panic(violation(NoHang, "no result %v after the last fault", w.cfg.Limit))
	}
	w.counts.Events++
	w.dispatch(&e)
	if w.cfg.Between != nil {
		w.cfg.Between()
	}
}

// over says whether the run has ended: the root has its result and, if asked for, nobody holds anything for
// another peer.
func (w *world) over() bool {
	if w.cancelled {
		return w.stopped()
	}
	if w.shared != nil && w.shared.Write == 0 && w.rootDone && w.now < w.settledAt() {
		return false
	}
	if !w.rootDone || w.cfg.Quiesce == 0 {
		return w.rootDone
	}
	if w.now > max(w.doneAt, w.harm.calm.since)+int64(w.cfg.Quiesce) {
		panic(violation(allAccounted, "%v after the root's result a peer still works for another", w.cfg.Quiesce))
	}
	return !slices.ContainsFunc(w.peers, func(p *peer) bool {
		return p.alive && (len(p.engine.segments) > 0 || len(p.engine.given) > 0)
	})
}

func (w *world) dispatch(e *event) {
	if e.peer >= 0 {
		p := w.peers[e.peer]
		if w.now < p.stalledUntil && e.what != leafDone && e.what != messageHop {
			e.at = p.stalledUntil // in the order in which they came
			w.queue.post(*e)
			return
		}
		if !p.alive && e.what != messageHop {
			return
		}
	}
	switch e.what {
	case leafDone:
		w.peers[e.peer].leafDone(int(e.worker), e.number)
	case messageCame:
		w.peers[e.peer].receive(e.message)
	case newsCame:
		w.peers[e.peer].hear(e.news)
	case cancelHeard:
		w.peers[e.peer].quitRun()
	case lookDue:
		w.harm.look()
	case messageHop:
		w.net.hop(w.peers[e.peer], int(e.worker), e.message)
	case bulkHop:
		w.net.bulk.hop(int(e.number>>32), int(e.worker), int(e.number&0xffffffff))
	case bulkCame:
		w.net.bulk.arrived(int(e.number>>32), int(e.number&0xffffffff))
	case bulkAcked:
		w.net.bulk.heard(int(e.number >> 32))
	case tickDue:
		w.peers[e.peer].tick(e.worker, e.number)
	case takeServed:
		w.peers[e.peer].serve(e.number, int(e.worker))
	case sendRefused:
		w.peers[e.peer].refused(e.message)
	case membersHeard:
		w.peers[e.peer].hearMembers()
	case peerStarts:
		w.peers[e.peer].awake()
	case adaptDue:
		w.adapt.due()
	case rosterHeard:
		w.adapt.heardRoster(w.peers[e.peer])
	case recruitComes:
		w.adapt.comes(int(e.worker))
	case sharedDue:
		e.do()
	case faultDue:
		w.harm.calm.since = max(w.harm.calm.since, w.now)
		w.harm.fault(int(e.number), e.worker)
	}
}

// awake is a peer's first moment. The owner's core starts the root as soon as it hears of an idle worker.
func (p *peer) awake() {
	if p.world.cancelled {
		p.quitRun() // what a newcomer hears of the run is that it is over
		return
	}
	p.settle()
}

// hearMembers brings the newest membership.
func (p *peer) hearMembers() {
	if p.membersKnown == p.world.members {
		return
	}
	p.membersKnown = p.world.members
	p.driver.SetMembers(p.local(), p.membersKnown)
	p.settle()
}

// answer is called with the root's outcome. The owner takes the first; a master that did not know of it may
// bring another one, which must be the same.
func (w *world) answer(p *peer, b []byte) {
	o, ok := decodeOutcome(b)
	if !ok || o.claim != claimOf(w.run, nil, w.cfg.Tree.Root()) {
		panic(violation(rightResult, "the answer is not the root's outcome"))
	}
	w.trace.line(w.now, p.id, "answers %x of %d leaves", o.result.Sum, o.result.Leaves)
	if w.rootDone {
		w.counts.SecondAnswers++
		if o.result != w.result {
			panic(violation(oneAnswer, "%x of %d leaves, after %x of %d", o.result.Sum, o.result.Leaves,
				w.result.Sum, w.result.Leaves))
		}
		return
	}
	w.rootDone, w.doneAt, w.result = true, w.now, o.result
}

// verify checks what must hold at the end.
func (w *world) verify() {
	w.audit.end()
	if w.cancelled {
		return
	}
	w.checkLattices()
	if w.cfg.Want == nil {
		total := Sequential(w.cfg.Tree)
		w.cfg.Want = &total.Result
	}
	if w.result != *w.cfg.Want {
		panic(violation(exactResult, "%x of %d leaves, but the sequential program has %x of %d",
			w.result.Sum, w.result.Leaves, w.cfg.Want.Sum, w.cfg.Want.Leaves))
	}
	total, live := w.totals()
	// A job that was put back, or copied for a silent thief or an idle peer, or whose message came twice, may run
	// twice; one that was revoked or lost with its peer perhaps never. Then conservation on each peer says
	// all there is to say.
	s := w.steals()
	exact := len(w.cfg.Faults) == 0 && w.cfg.Withholder == nil && w.cfg.Quorum == nil && w.cfg.Outcast == nil &&
		s.JobsPutBack == 0 && s.EagerCopies == 0 && s.OverdueCopies == 0 && s.Restarts == 1 && total.revoked == 0
	if exact && total.spawned+1 != total.executed+total.aborted+live {
		panic(violation(allAccounted, "%d spawned, %d executed, %d aborted, %d still there",
			total.spawned+1, total.executed, total.aborted, live))
	}
}
