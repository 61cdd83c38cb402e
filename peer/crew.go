package peer

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/arbiter"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/depot"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// A crew is what this peer computes with: its cores, and what runs the jobs on them.
type crew struct {
	*base.Base
	cfg     *Config
	self    steal.PeerID
	host    interface{ Incarnation() uint64 }
	arbiter *arbiter.Arbiter
	memory  *memory
	modules *modules
	apps    *catalog
	vouch   *vouching.Border
	engines func(m *statement.SignedManifest, cfg compute.Config) (port.Live, error) // engine
	// what others may be shown of how it was computed
	commitments *commitments
	depot       *depot.Depot

	send func(*steal.Message) // of all sessions
	tell func(*steal.News)
	// the same for what the jobs of a run share
	sendShared func(*stream.Shared)
	tellShared func(job.RunID, *sharedobj.News)

	lives     atomic.Uint64 // sessions so far
	jobMemory atomic.Int64  // bytes that the jobs of a run that begins may have; 0 is child.DefaultMemory
}

// eagerAfter is how long others have had a job before an idle peer gets a copy, in runs that allow it: several steals
// over a slow link, so that at most few are copied that are nearly done.
const eagerAfter = 2 * time.Second

// session makes this peer's part in a run; with has what differs from run to run.
func (c *crew) session(m *statement.SignedManifest, of steal.Run, members *steal.Members, with session.Config) (
	*session.Session, error) {
	log := c.Log.With("run", m.Run.String())
	policy, err := policy.ByName(m.Policy, steal.PeerID(m.Owner.String()))
	if err != nil {
		return nil, err
	}
	engine, err := c.engines(m, compute.Config{Run: m.Run, Self: string(c.self), Workers: c.cfg.Workers,
		Idle: !c.cfg.FullPriority, Naive: of.Recovery == steal.Naive && !of.Hoard, Whole: of.Hoard,
		Lattices: of.Proving})
	if err != nil {
		return nil, err
	}
	with.Run, with.Self, with.Core = of, steal.Address{Peer: c.self, Inc: c.nextLife()}, c.cfg.Steal
	if m.Eager > 0 {
		with.Core.EagerAfter, with.Core.EagerPercent = eagerAfter, m.Eager
	}
	with.Policy, with.Members, with.Engine = policy, members, engine
	with.Send, with.Tell, with.Log, with.Wanted = c.send, c.tell, log, c.arbiter.Again
	with.Run.Room = c.memory.enter(m.Run, peerName(m.Owner), steal.PeerID(m.Owner.String()) == c.self,
		func(why string) { log.Warn("not all that others give of a run is taken", "why", why) })
	with.Shared, with.Notary = c.memory.objects(), c.vouch
	with.Shared.Room = c.memory.roomToShare(m.Run, c.Now)
	with.Holds = slices.Contains(ranks(m), c.self)
	for i := range m.Constants {
		with.Argument = append(with.Argument, constants.Recipe(&m.Constants[i]).Digest())
	}
	if of.Hoard {
		with.Commit = c.commitments.of(m)
	}
	with.SendShared = func(x *sharedobj.Message) { c.sendShared(&stream.Shared{Run: m.Run, Message: x}) }
	with.TellShared = func(n *sharedobj.News) { c.tellShared(m.Run, n) }
	with.Deposit, with.Bring = func(b []byte) { c.depot.Left(m.Owner, b) }, c.depot.Bring
	s, err := session.New(with)
	if err != nil {
		c.memory.leave(m.Run)
	}
	return s, err
}

// engine starts what runs the jobs of a run: a process of their own, if there is a command for it.
func (c *crew) engine(m *statement.SignedManifest, cfg compute.Config) (port.Live, error) {
	if len(c.cfg.Compute) == 0 {
		return compute.New(cfg)
	}
	process := child.Config{Command: c.cfg.Compute, Compute: cfg, Memory: c.jobMemory.Load(),
		Shared: int(c.memory.objects().MaxBytes)}
	process.Programs, _ = c.apps.lent(m) // whoever may not have all of them takes no part
	log := c.Log.With("run", cfg.Run.String())
	process.Log = func(line string) { log.Info("said by jobs or their process", "text", line) }
	if m.Entry == module.Func {
		var err error
		if process.Module, err = c.modules.use(m); err != nil {
			return nil, err
		}
		process.Module.Strict = m.Verify != ""
	}
	return child.Start(process)
}

// nextLife numbers this peer's sessions, over all its starts: a handle must not mean two jobs.
func (c *crew) nextLife() steal.Incarnation {
	return steal.Incarnation(c.host.Incarnation()<<20 + c.lives.Add(1))
}

// allot lets a session have its part of the cores; most is the run's own limit, 0 is none.
func (c *crew) allot(s *session.Session, owner string, most int) *arbiter.Allotment {
	if most <= 0 || most > c.cfg.Workers {
		most = c.cfg.Workers
	}
	its := &arbiter.Allotment{Owner: owner, Most: most, Dry: func() bool { return dry(s.Stats()) }, Set: s.SetCores,
		Finish: s.Finish}
	c.arbiter.Join(its)
	return its
}

// dry says whether the run has no work on this peer at the moment. Where its root is it always has: that a job of the
// root was stopped, since its core is another run's, does not show.
func dry(st session.Stats) bool {
	return st.Held == 0 && !st.Master && st.Given == 0 && st.Load.Queued == 0 && st.Load.Idle == st.Load.Workers
}
