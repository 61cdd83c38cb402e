package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
	"github.com/satin-peer/satin/verify"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// world is a run on several peers of this process, with gossip among them and a network that may lose, repeat
// and hold back what it carries. Peers may be killed: from then on nothing comes from them or gets to them.
type world struct {
	t       testing.TB
	fn      engine.Func
	run     steal.Run
	cfg     steal.Config
	shared  sharedobj.Config
	tight   int // the peer that holds no more than tightBytes of what is shared; -1: none
	workers int
	lossy   bool
	terse   bool // engines tell as little of their load as they may

	keepAfter time.Duration
	members   []steal.Member
	answers   chan []byte

	mu    sync.Mutex
	peers map[steal.PeerID]*worldPeer
	wg    sync.WaitGroup
}

type worldPeer struct {
	*session.Session
	inbox chan func()
	held  func() // what was held back
	dead  bool   // killed, or has left
}

// newWorld describes a run of a job, whose owner is p0 and whose deputies are p1 and p2.
func newWorld(t testing.TB, peers int, fn string, arg any) *world {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	root, err := compute.RootOf(fn, b)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, run: steal.Run{ID: job.NewRunID(), Root: root}, cfg: impatient(), shared: impatientShared(), tight: -1,
		workers: 1, keepAfter: time.Millisecond, answers: make(chan []byte, 100),
		peers: map[steal.PeerID]*worldPeer{},
	}
	w.fn, _ = engine.Lookup(fn)
	for i := range peers {
		id := steal.PeerID(fmt.Sprintf("p%d", i))
		w.members = append(w.members, steal.Member{ID: id, Cluster: steal.ClusterID(fmt.Sprintf("c%d", i%2))})
		if i < 3 {
			w.run.Deputies = append(w.run.Deputies, id)
		}
	}
	t.Cleanup(w.end)
	return w
}

// impatient notices quickly what is lost: on a busy machine also what is not, which must do no harm.
func impatient() steal.Config {
	c := steal.Local()
	c.HeartbeatEvery, c.WideHeartbeatEvery, c.ResultRetry = 20*time.Millisecond, 20*time.Millisecond,
		50*time.Millisecond
	c.StealTimeout = 20 * time.Millisecond
	c.TellEvery, c.BeaconEvery, c.MasterLease, c.RankStagger = 5*time.Millisecond, 20*time.Millisecond,
		200*time.Millisecond, 100*time.Millisecond
	return c
}

// unhurried takes nobody for lost whom a busy machine holds up for a moment: for tests of what comes of those who are.
func unhurried() steal.Config {
	c := steal.Local()
	c.HeartbeatEvery, c.WideHeartbeatEvery = time.Second/2, time.Second/2
	c.BeaconEvery, c.MasterLease, c.RankStagger = time.Second/2, 3*time.Second, time.Second
	return c
}

// impatientShared is the same for what jobs share.
func impatientShared() sharedobj.Config {
	c := sharedobj.Default()
	c.AskTimeout, c.PieceTimeout, c.RetryAfter = 20*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
	c.FlushEvery, c.SumsEvery = 5*time.Millisecond, 50*time.Millisecond
	return c
}

// start starts peer i with what is known already, and a store or none. Peer p0 is the owner, who begins at once.
func (w *world) start(i int, store session.Store, restored ...steal.Partial) *worldPeer {
	w.t.Helper()
	self := w.members[i].ID
	policy, err := policy.ByName("", "p0")
	if err != nil {
		w.t.Fatal(err)
	}
	run := w.run
	run.Fresh, run.Restored = i == 0, restored
	engine, err := compute.New(compute.Config{Run: run.ID, Self: string(self), Workers: w.workers,
		Naive: run.Recovery == steal.Naive, KeepAfter: w.keepAfter})
	if err != nil {
		w.t.Fatal(err)
	}
	shared := w.shared
	if i == w.tight {
		shared.MaxBytes = tightBytes
	}
	p := &worldPeer{inbox: make(chan func(), 10000)}
	p.Session, err = session.New(session.Config{
		Run: run, Self: steal.Address{Peer: self, Inc: 1}, Core: w.cfg, Policy: policy,
		Members: steal.NewMembers(w.members), Engine: w.engine(engine),
		Send:   func(m *steal.Message) { w.carry(p, m.To.Peer, func(to *worldPeer) { to.Received(m) }) },
		Tell:   func(n *steal.News) { w.gossip(p, n) },
		Shared: shared,
		SendShared: func(m *sharedobj.Message) {
			w.carry(p, steal.PeerID(m.To), func(to *worldPeer) { to.ReceivedShared(m) })
		},
		TellShared: func(n *sharedobj.News) {
			w.tellAll(p, func(to *worldPeer) { to.HearShared(sharedobj.PeerID(self), n) })
		},
		Answer: func(outcome []byte, _ verify.Authors) { w.answers <- outcome },
		Store:  store,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.peers[self] = p
	w.mu.Unlock()
	w.wg.Go(func() {
		for f := range p.inbox {
			f()
		}
	})
	p.SetCores(w.workers, false)
	return p
}

// carry takes something from one peer to another.
func (w *world) carry(from *worldPeer, to steal.PeerID, what func(*worldPeer)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.peers[to]
	if from.dead || p == nil || p.dead {
		return
	}
	put := func(f func()) {
		select {
		case p.inbox <- f:
		default: // lost
		}
	}
	deliver := func() { what(p) }
	fate := -1
	if w.lossy {
		fate = rand.IntN(30)
	}
	switch fate {
	case 0: // lost
	case 1:
		put(deliver)
		put(deliver)
	case 2:
		if p.held == nil {
			p.held = deliver // until something else has overtaken it
			return
		}
		fallthrough
	default:
		put(deliver)
		if p.held != nil {
			put(p.held)
			p.held = nil
		}
	}
}

func (w *world) gossip(from *worldPeer, n *steal.News) {
	w.tellAll(from, func(to *worldPeer) { to.Hear(n) })
}

func (w *world) tellAll(from *worldPeer, what func(*worldPeer)) {
	for _, m := range w.members {
		if w.lossy && rand.IntN(10) == 0 {
			continue
		}
		w.carry(from, m.ID, func(to *worldPeer) {
			if to != from {
				what(to)
			}
		})
	}
}

// again is the same run with nobody in it: what comes after all were lost.
func (w *world) again() *world {
	next := &world{
		t: w.t, run: w.run, fn: w.fn, cfg: w.cfg, shared: w.shared, tight: w.tight, workers: w.workers, lossy: w.lossy,
		keepAfter: w.keepAfter, members: w.members, answers: make(chan []byte, 100),
		peers: map[steal.PeerID]*worldPeer{},
	}
	w.t.Cleanup(next.end)
	return next
}

// leave has a peer leave politely.
func (w *world) leave(p *worldPeer, patience time.Duration) {
	p.Leave(patience)
	w.kill(p)
}

// kill ends a peer in the middle of whatever it does, without a word.
func (w *world) kill(p *worldPeer) {
	w.mu.Lock()
	p.dead = true
	w.mu.Unlock()
	p.Close()
}

// end ends everything.
func (w *world) end() {
	w.mu.Lock()
	peers := w.peers
	w.peers = nil
	w.mu.Unlock()
	for _, p := range peers {
		p.Close()
	}
	for _, p := range peers {
		close(p.inbox)
	}
	w.wg.Wait()
}

// answer waits for an answer.
func (w *world) answer() any {
	w.t.Helper()
	select {
	case outcome := <-w.answers:
		result, err, panicked, bad := compute.DecodeOutcome(w.run.ID, outcome, w.fn)
		if err != nil || panicked != nil || bad != nil {
			w.t.Fatal(err, panicked, bad)
		}
		return result
	case <-time.After(patience):
		w.t.Fatalf("no answer: %s", w)
	}
	return nil
}

// patience is how long a test waits for what must come.
const patience = 8 * time.Minute

// tightBytes is less than a large result has.
const tightBytes = 1 << 20

// until waits until something holds.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			w.t.Fatalf("%s: not in %s; %s", what, patience, w)
		}
	}
}

// sum adds up one of the core's counters over all peers that ever took part.
func (w *world) sum(counter func(*steal.Stats) uint64) (n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.peers {
		st := p.Stats().Steal
		n += counter(&st)
	}
	return n
}

func (w *world) String() (s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.members {
		if p := w.peers[m.ID]; p != nil {
			s += fmt.Sprintf("\n%s (dead %t): %+v", m.ID, p.dead, p.Stats())
		}
	}
	return s
}

func init() { satin.Register("session_test.tree", tree) }

// tree is a job with three children, down to leaves that take a millisecond or more; its result tells them all apart.
func tree(f *satin.Frame, n treeArg) int {
	if n.Depth == 0 {
		if f.Aborted() {
			return 0
		}
		for n.halted() {
			if time.Sleep(leafTime); f.Aborted() {
				return 0
			}
		}
		time.Sleep(leafTime) // it takes time, but no core: four peers do four at once however few there are
		countLeaf(n)
		return n.Place * n.Place
	}
	g := satin.Fork(f, tree)
	for i := range 3 {
		g.Spawn(treeArg{n.Tag, n.Depth - 1, 3*n.Place + i})
	}
	sum := 0
	for r := range g.Results() {
		sum += r
	}
	return sum
}

const leafTime = time.Millisecond

type treeArg struct{ Tag, Depth, Place int }

// size is how many leaves there are under a job.
func (a treeArg) size() int {
	n := 1
	for range a.Depth {
		n *= 3
	}
	return n
}

// want is the result: the sum of the squares of the places.
func (a treeArg) want() int {
	n := a.size()
	return (n - 1) * n * (2*n - 1) / 6
}

// leaves counts the leaves that were run, by tag: each test takes a tag of its own.
var leaves struct {
	tags [256]atomic.Int64
	most [256]atomic.Int64 // no more run until that is lifted; 0: it is
	last atomic.Int64
}

func countLeaf(a treeArg) { leaves.tags[a.Tag].Add(1) }

// newTree is a tree whose leaves are counted apart from all others.
func newTree(t testing.TB, depth int) treeArg {
	t.Helper()
	tag := int(leaves.last.Add(1)) % len(leaves.tags)
	leaves.tags[tag].Store(0)
	leaves.most[tag].Store(0)
	return treeArg{Tag: tag, Depth: depth}
}

// halt has the leaves wait when so many have been run, so that the run does not end before a test has looked at it,
// however late that is; 0: they go on.
func (a treeArg) halt(most int) { leaves.most[a.Tag].Store(int64(most)) }

func (a treeArg) halted() bool {
	most := int(leaves.most[a.Tag].Load())
	return most > 0 && a.ran() >= most
}

// ran is how many leaves of the tree have been run, again and again included.
func (a treeArg) ran() int { return int(leaves.tags[a.Tag].Load()) }

// covered is how many of its leaves are under one of the jobs with these outcomes.
func (a treeArg) covered(parts []steal.Partial) (n int) {
	for i, p := range parts {
		again := slices.ContainsFunc(parts[:i], func(q steal.Partial) bool { return slices.Equal(p.Path, q.Path) })
		if !again && !slices.ContainsFunc(parts, func(q steal.Partial) bool {
			return len(q.Path) < len(p.Path) &&
				under(p.Path, q.Path)
		}) {
			n += treeArg{Depth: a.Depth - len(p.Path)}.size()
		}
	}
	return n
}
