package steal_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// The model is a small world for property tests: cores of this package, an abstract engine each, and a
// network that loses, repeats, delays and reorders. Package internal/sim has a faithful one; this one is for
// protocol mistakes only, and small enough to run thousands of times. Anything that must not happen panics
// with a modelError.
type model struct {
	cfg     modelConfig
	rnd     *rand.Rand
	now     time.Duration
	peers   []*modelPeer
	flight  []modelMessage
	seq     int
	answer  uint64
	done    bool
	work    time.Duration // of all jobs that were run, by anybody
	members *steal.Members
	cutTill time.Duration
}

type modelConfig struct {
	seed               uint64
	peers, clusters    int
	depth              int
	policy             string
	drop, repeat, fail float64 // chances of a message while faults last
	delay              time.Duration
	wide               time.Duration
	crashes, leaves    int // of peers other than the first
	recovery           steal.Recovery
	patience           time.Duration // of leavers
	keep               int           // of so many jobs that ran in place, one is offered to be kept; 0: none
	small              bool          // tables and stores that overflow
	stalls, restarts   int
	room               int
	faultsUntil        time.Duration
	// the first peers, of which any may fail, too; 0: the first does not fail, and nobody follows it
	deputies    int
	cuts        int // times that some peers are cut off from the others
	slow        int // times that jobs take longer; 0 is once
	lostAnswers int // masters that crash when they have the answer, before anybody has it from them
}

type modelError string

func (e modelError) Error() string { return string(e) }

type modelMessage struct {
	at   time.Duration
	seq  int
	m    *steal.Message
	news *steal.News
	to   *modelPeer // of news
}

// modelPeer runs one job at a time.
type modelPeer struct {
	w        *model
	id       steal.PeerID
	cluster  steal.ClusterID
	driver   *driver.Driver
	inc      steal.Incarnation
	gone     bool
	stalled  time.Duration // until
	queue    []*modelJob
	running  *modelJob
	endsAt   time.Duration
	runs     uint64
	slots    map[steal.Ref]*modelJob
	aborted  map[steal.Ref]bool
	lastRef  steal.Ref
	segments map[steal.SegmentID]*modelJob
	inbox    []func() // while stalled
	far      bool     // on the far side of the next cut
	reported steal.Load
	orphans  *steal.Orphans
	found    int // jobs that were not begun because somebody had them
}

// modelJob is a node of the tree: its shape follows from its seed, which is also its argument.
type modelJob struct {
	parent  *modelJob
	segment steal.SegmentID
	path    job.Path
	seed    uint64
	depth   int
	pending int
	sum     uint64
	dead    bool
	done    bool
	again   bool // restarted, as are all below it
	looked  bool // found once, and not to be looked up again
}

func (j *modelJob) arg() []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, j.seed), uint64(j.depth))
}

func jobFromArg(b []byte) (seed uint64, depth int) {
	seed, n := binary.Uvarint(b)
	d, _ := binary.Uvarint(b[n:])
	return seed, int(d)
}

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// sure is added to the depth of trees without speculative jobs, whose work is the same in every run.
const sure = 1 << 10

// children, kind and cost of a job. A speculative job wants one of its children and aborts the others.
func (j *modelJob) children() int {
	if j.depth%sure == 0 {
		return 0
	}
	return int(1 + mix(j.seed)%4)
}
func (j *modelJob) speculative() bool   { return j.depth < sure && mix(j.seed+1)%6 == 0 }
func (j *modelJob) cost() time.Duration { return time.Duration(1+mix(j.seed+2)%40) * time.Millisecond }
func (j *modelJob) doomed() bool        { return j.dead || j.parent != nil && j.parent.doomed() }

// sequential is the answer without any peers.
func sequentialAnswer(seed uint64, depth int) uint64 {
	j := &modelJob{seed: seed, depth: depth}
	n := j.children()
	if n == 0 || j.speculative() {
		return 1
	}
	var sum uint64
	for i := range n {
		sum += sequentialAnswer(childSeed(seed, i), depth-1)
	}
	return sum
}

func childSeed(seed uint64, i int) uint64 { return mix(seed*31 + uint64(i) + 7) }

func newModel(cfg modelConfig) *model {
	w := &model{cfg: cfg, rnd: rand.New(rand.NewPCG(cfg.seed, 1))}
	var list []steal.Member
	for i := range cfg.peers {
		id, cluster := steal.PeerID(fmt.Sprintf("p%02d", i)), steal.ClusterID(fmt.Sprintf("c%d", i%cfg.clusters))
		w.peers = append(w.peers, &modelPeer{w: w, id: id, cluster: cluster})
		list = append(list, steal.Member{ID: id, Cluster: cluster})
	}
	w.members = steal.NewMembers(list)
	for _, p := range w.peers {
		p.start()
	}
	for _, p := range w.peers {
		p.settle()
	}
	return w
}

func (p *modelPeer) start() {
	p.inc++
	p.queue, p.running, p.slots, p.aborted, p.segments, p.runs = nil, nil, make(map[steal.Ref]*modelJob),
		make(map[steal.Ref]bool), make(map[steal.SegmentID]*modelJob), 0
	p.inbox, p.stalled, p.gone = nil, 0, false
	cfg := steal.LAN()
	cfg.MaxWaiting = p.w.cfg.room
	cfg.StealGap = time.Duration(max(1, p.w.cfg.slow)) * 5 * time.Millisecond // fewer steps; a hang is found sooner
	if p.w.cfg.small {
		cfg.MaxTuples, cfg.MaxTuplesPerNews, cfg.MaxKept, cfg.MaxKeptBytes, cfg.MaxHandOver = 6, 2, 5, 1500, 100
	}
	stealing, err := policy.ByName(p.w.cfg.policy, p.w.peers[0].id)
	if err != nil {
		panic(err)
	}
	root := (&modelJob{seed: p.w.cfg.seed, depth: p.w.cfg.depth}).job()
	run := steal.Run{ID: job.RunID{9}, Root: root, Recovery: p.w.cfg.recovery, Fresh: p == p.w.peers[0] && p.inc == 1}
	for _, d := range p.w.peers[:p.w.cfg.deputies] {
		run.Deputies = append(run.Deputies, d.id)
	}
	p.orphans = nil
	core, err := steal.NewCore(cfg, run, steal.Address{Peer: p.id, Inc: p.inc}, p.w.members, stealing,
		rand.New(rand.NewPCG(p.w.cfg.seed, uint64(p.inc)<<8)))
	if err != nil {
		panic(err)
	}
	p.driver = driver.New(driver.Config{Core: core, Engine: p, Transport: p})
	p.reported = steal.Load{Workers: 1, Idle: -1}
}

// run plays until the answer is there and everybody has forgotten everything, or the bound is over.
func (w *model) run(bound time.Duration) error {
	for steps := 0; w.now < bound; steps++ {
		if steps > maxSteps {
			return modelError(fmt.Sprintf("the run spins at %v", w.now))
		}
		if w.done && w.cfg.deputies > 0 { // there may be another master, and orphans that it would want
			return w.end()
		}
		if w.done && w.forgotten() {
			return nil
		}
		w.step()
	}
	if w.done {
		return modelError("the answer is there, but something is held for ever")
	}
	return modelError("the run hangs")
}

// maxSteps is many times what the longest run takes.
const maxSteps = 2_000_000

// step does the next thing that is due.
func (w *model) step() {
	at, what := time.Duration(1<<62), func() {}
	consider := func(t time.Duration, f func()) {
		if t = max(t, w.now); t < at {
			at, what = t, f
		}
	}
	for i := range w.flight {
		consider(w.flight[i].at, func() { w.deliver(i) })
	}
	for _, p := range w.peers {
		if p.gone {
			continue
		}
		if p.stalled > w.now {
			consider(p.stalled, p.wake)
			continue
		}
		if p.running != nil {
			consider(p.endsAt, p.finish)
		}
		if due, ok := p.driver.Core().Next(); ok {
			consider(due, func() { p.driver.Tick(w.now); p.settle() })
		}
	}
	if w.cfg.crashes+w.cfg.leaves+w.cfg.stalls+w.cfg.restarts+w.cfg.cuts > 0 && w.now < w.cfg.faultsUntil {
		consider(w.now+time.Duration(w.rnd.IntN(int(400*time.Millisecond))), w.mishap)
	}
	w.now = at
	what()
}

// mishap befalls a peer other than the first, or any but the last one if there are deputies.
func (w *model) mishap() {
	p, c := w.peers[w.rnd.IntN(len(w.peers))], &w.cfg
	if p.gone && c.restarts == 0 || p == w.peers[0] && c.deputies == 0 {
		return
	}
	kind := w.rnd.IntN(5)
	if kind < 2 && w.last(p) {
		return
	}
	switch {
	case kind == 4 && c.cuts > 0 && w.cutTill < w.now:
		c.cuts--
		w.cutTill = w.now + time.Duration(w.rnd.IntN(int(25*time.Second)))
		for _, q := range w.peers {
			q.far = w.rnd.IntN(2) == 0
		}
	case kind == 0 && c.crashes > 0 && !p.gone:
		c.crashes--
		p.gone = true
	case kind == 1 && c.leaves > 0 && !p.gone && p.stalled <= w.now:
		c.leaves--
		p.driver.Leave(w.now, c.patience)
		p.gone = p.driver.Core().Gone()
	case kind == 2 && c.stalls > 0 && !p.gone && p.stalled <= w.now:
		c.stalls--
		length := time.Duration(w.rnd.IntN(int(10 * time.Second)))
		p.stalled, p.endsAt = w.now+length, p.endsAt+length
	case kind == 3 && c.restarts > 0:
		c.restarts--
		p.start()
		p.settle()
	}
}

// last says whether nobody else is there, or will stay.
func (w *model) last(p *modelPeer) bool {
	return !slices.ContainsFunc(w.peers, func(q *modelPeer) bool {
		return q != p && !q.gone && !q.driver.Core().Leaving()
	})
}

// cut says whether nothing gets from one to the other.
func (w *model) cut(p, q *modelPeer) bool { return w.now < w.cutTill && p.far != q.far }

// end cancels the run at everybody, after which nobody holds anything.
func (w *model) end() error {
	for _, p := range w.peers {
		if p.gone {
			continue
		}
		p.driver.Cancel(w.now)
		if _, ok := p.driver.Core().Next(); ok || p.driver.Core().Holds() > 0 {
			return modelError(fmt.Sprintf("%s holds something of a run that is over", p.id))
		}
	}
	return nil
}

func (p *modelPeer) wake() {
	p.stalled = 0
	inbox := p.inbox
	p.inbox = nil
	for _, f := range inbox {
		f()
	}
	p.settle()
}

func (w *model) deliver(i int) {
	f := w.flight[i]
	w.flight = slices.Delete(w.flight, i, i+1)
	for _, p := range w.peers {
		if p.gone || p != f.to && (f.m == nil || p.id != f.m.To.Peer) {
			continue
		}
		input := func() {
			if f.news != nil {
				p.driver.Hear(w.now, f.news)
			} else {
				p.driver.Step(w.now, f.m)
			}
		}
		if p.stalled > w.now {
			p.inbox = append(p.inbox, input)
			return
		}
		input()
		p.settle()
	}
}

// Tell throws the dice for news: gossip promises nothing.
func (p *modelPeer) Tell(n *steal.News) {
	w := p.w
	if err := n.Validate(); err != nil {
		panic(modelError(fmt.Sprintf("%s tells nonsense: %v", p.id, err)))
	}
	for _, q := range w.peers {
		if q == p || w.cut(p, q) || w.now < w.cfg.faultsUntil && w.rnd.Float64() < w.cfg.drop {
			continue
		}
		d := w.cfg.wide + time.Duration(w.rnd.Int64N(int64(w.cfg.delay)+1))
		w.seq++
		w.flight = append(w.flight, modelMessage{at: w.now + d, seq: w.seq, news: n, to: q})
	}
}

// Send throws the dice for a message.
func (p *modelPeer) Send(m *steal.Message) {
	w := p.w
	if err := m.Validate(); err != nil {
		panic(modelError(fmt.Sprintf("%s sends nonsense: %v", p.id, err)))
	}
	copies, faulty := 1, w.now < w.cfg.faultsUntil
	if faulty {
		switch r := w.rnd.Float64(); {
		case r < w.cfg.drop:
			copies = 0
		case r < w.cfg.drop+w.cfg.repeat:
			copies = 2 + w.rnd.IntN(2)
		case r < w.cfg.drop+w.cfg.repeat+w.cfg.fail:
			if w.rnd.IntN(2) == 0 { // the transport may be wrong about what arrived
				copies = 0
			}
			p.driver.SendFailed(w.now, m)
		}
	}
	if slices.ContainsFunc(w.peers, func(q *modelPeer) bool { return q.id == m.To.Peer && w.cut(p, q) }) {
		copies = 0
	}
	for range copies {
		d := 100 * time.Microsecond
		if to, ok := w.members.Find(m.To.Peer); ok && to.Cluster != p.cluster {
			d = w.cfg.wide
		}
		if faulty && w.cfg.delay > 0 {
			d += time.Duration(w.rnd.Int64N(int64(w.cfg.delay)))
		}
		w.seq++
		w.flight = append(w.flight, modelMessage{at: w.now + d, seq: w.seq, m: m})
	}
}

// forgotten says whether nobody that is still there holds anything for anybody.
func (w *model) forgotten() bool {
	for _, p := range w.peers {
		if !p.gone && p.driver.Core().Holds() > 0 {
			return false
		}
	}
	return true
}
