package runlife

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// A part is what a member does in a run by the core of package steal, on the driver as in a peer. Its engine
// (engine.go) computes a small tree; messages and gossip go over the same bad network as those about the life of runs.
type part struct {
	m      *member
	p      *project
	driver *driver.Driver
	engine engine
	alive  []steal.PeerID // who the core was told takes part
	alarm  time.Duration  // when a tick comes that was set already; 0: none
	over   bool
	inc    steal.Incarnation
}

// checkpoint is what a member's disk has of a run in progress.
type checkpoint struct {
	manifest *runs.Manifest
	parts    []steal.Partial
	answer   []byte // the root's outcome, if it ended here
}

// join makes a member's part in a run; fresh lets it start the root job.
func (m *member) join(p *project, fresh bool) *part {
	m.parts++
	x := &part{m: m, p: p, inc: m.parts}
	x.alive = x.others()
	x.engine = engine{part: x, slots: map[steal.Ref]*task{}, segments: map[steal.SegmentID]*task{}}
	cfg := steal.LAN()
	cfg.StealGap = 100 * time.Millisecond // fewer events
	advice, err := policy.ByName("crs", "")
	if err != nil {
		panic(err)
	}
	run := steal.Run{ID: p.id, Root: rootJob(p), Deputies: []steal.PeerID{steal.PeerID(p.owner.id)}, Fresh: fresh}
	for _, id := range p.manifest.Deputies {
		run.Deputies = append(run.Deputies, steal.PeerID(id))
	}
	proving := x.plan(&run)
	core, err := steal.NewCore(cfg, run, steal.Address{Peer: steal.PeerID(m.id), Inc: m.parts}, x.members(), advice,
		rand.New(rand.NewPCG(m.w.random.Uint64(), 12)))
	if err != nil {
		panic(err) // the configuration is a good one
	}
	x.driver = driver.New(driver.Config{Core: core, Engine: &x.engine, Transport: x, Store: x,
		Notary: x.notary(), Proving: proving})
	x.settle()
	return x
}

// others are the members that this one believes to take part, itself among them.
func (x *part) others() (list []steal.PeerID) {
	m := x.m
	in, _ := m.core.Musters.Seated(x.p.id)
	for _, o := range m.w.members {
		if m.Alive(o.id) && (o == m || in(o.id) && (!x.p.strict() || m == x.p.owner || o == x.p.owner)) {
			list = append(list, steal.PeerID(o.id))
		}
	}
	return list
}

func (x *part) members() *steal.Members {
	list := make([]steal.Member, len(x.alive))
	for i, id := range x.alive {
		list[i] = steal.Member{ID: id, Cluster: "c"}
	}
	return steal.NewMembers(list)
}

// recall gives a part what the checkpoint has, when the disk has been read.
func (x *part) recall(c *checkpoint) {
	x.later(x.m.w.some(100*time.Millisecond), func() {
		if c == nil {
			return
		}
		if c.answer != nil {
			x.answered(c.answer)
		} else if len(c.parts) > 0 {
			x.m.w.counts.Restored += uint64(len(c.parts))
			x.driver.Restore(x.now(), slices.Clone(c.parts))
		}
	})
}

func (x *part) now() time.Duration { return x.m.w.now }

// later has something happen while the part goes on.
func (x *part) later(d time.Duration, do func()) {
	x.m.later(d, func() {
		if !x.over {
			do()
			x.settle()
		}
	})
}

// settle has the engine go on, and winds the alarm for the core's next tick.
func (x *part) settle() {
	if x.over {
		return
	}
	x.engine.settle()
	due, ok := x.driver.Core().Next()
	if due = max(due, x.now()+time.Millisecond); !ok || x.alarm > x.now() && x.alarm <= due {
		return
	}
	x.alarm = due
	x.later(due-x.now(), func() {
		if x.alarm = 0; x.driver.Core() != nil {
			x.driver.Tick(x.now())
		}
	})
}

// keepUp is done every second, as in a peer: the life of runs hears who holds the root, the core who takes part.
func (x *part) keepUp() {
	if x.over {
		return
	}
	if now := x.others(); !slices.Equal(now, x.alive) {
		x.alive = now
		x.driver.SetMembers(x.now(), x.members())
		x.settle()
	}
	x.m.input(x.m.core.RootHeld(x.m.clock(), x.p.id, x.driver.Master()))
}

// stop ends the part, when the run is over for its member.
func (x *part) stop() {
	x.driver.Cancel(x.now())
	x.over = true
}

// die ends the part with its process: partners are told, and nothing is handed over.
func (x *part) die() {
	x.driver.Leave(x.now(), 0)
	x.over = true
}

// part finds the one that a message is for; one that leaves gets what is meant for its life.
func (m *member) part(p *project, inc steal.Incarnation) *part {
	for _, x := range m.leaving {
		if x.p == p && x.inc == inc {
			return x
		}
	}
	if s := m.session(p); s != nil {
		return s.part
	}
	return nil
}

// Send sends a message over the bad network.
func (x *part) Send(m *steal.Message) {
	w, from, to := x.m.w, x.m, x.m.w.member(runs.PeerID(m.To.Peer))
	w.counts.Messages++
	if err := m.Validate(); err != nil {
		w.fail("%s sends nonsense: %v", from.id, err)
	}
	if to == nil || !w.connected(from, to) {
		x.later(time.Millisecond, func() { x.driver.SendFailed(x.now(), m) })
		return
	}
	m = x.spoil(m)
	w.send(from, to, func() {
		switch y := to.part(x.p, m.To.Inc); {
		case y != nil:
			y.driver.Step(w.now, m)
			y.settle()
		case m.Request != nil:
			to.input(to.core.Announced(to.clock(), x.p.id, from.id))
		}
	})
}

// Tell is gossip.
func (x *part) Tell(n *steal.News) {
	w, from := x.m.w, x.m
	for _, to := range w.members {
		if to == from {
			continue
		}
		w.send(from, to, func() {
			if s := to.session(x.p); s != nil {
				s.part.driver.Hear(w.now, n)
				s.part.settle()
				if n.Master != nil && !n.Master.Waiting {
					to.input(to.core.Led(to.clock(), x.p.id, from.id))
				}
			} else {
				to.input(to.core.Announced(to.clock(), x.p.id, from.id))
			}
		})
	}
}

// Answer has the root's outcome.
func (x *part) Answer(b []byte) { x.later(0, func() { x.answered(b) }) }

func (x *part) answered(b []byte) {
	w := x.m.w
	w.say("%s has the answer of run %d", x.m.id, x.p.n)
	w.counts.Answers++
	x.m.input(x.m.core.RootEnded(x.m.clock(), x.p.id, outcomeOf(b)))
}

// Store keeps an outcome on the disk.
func (x *part) Store(part steal.Partial, from driver.Source) {
	c := x.m.kept[x.p.id]
	switch {
	case c == nil || x.m.full:
	case len(part.Path) == 0:
		c.answer = part.Outcome
	default:
		c.parts = append(c.parts, part)
	}
}

// rootJob is a run's.
func rootJob(p *project) steal.Job {
	return steal.Job{Function: "root", Arg: p.id[:], Identity: job.Identify("root", p.id[:])}
}

// leafJob is the n-th child of the root.
func leafJob(n int, restarted bool) steal.Job {
	arg := []byte{byte(n)}
	return steal.Job{Path: job.Path{uint32(n)}, Function: "leaf", Arg: arg, Identity: job.Identify("leaf", arg),
		Restarted: restarted}
}

// leafOutcome is what that comes to.
func leafOutcome(n int) []byte { return fmt.Appendf(nil, "leaf %d", n) }
