package runlife

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

const (
	troubled = 150 * time.Second // how long there are faults
	quiet    = 300 * time.Second // and how long there are none afterwards
	settled  = 150 * time.Second // after which one roster counts, where there are some
)

// A Kind of schedule.
type Kind struct {
	// Stealing has jobs moved by package steal, and not by a model of it.
	Stealing bool
	// Rosters lets runs decide who takes part.
	Rosters bool
	// Cuts has members end when they have just written a file, before they hear of it, and what is collected of runs
	// be late, or come to nothing.
	Cuts bool
	// Clocks has members' clocks be wrong for a while.
	Clocks bool
	// Verified has most runs be verified by their owners, and some members lie.
	Verified bool
	// Modules has most runs need a module, which is fetched.
	Modules bool
}

// Run runs the schedule of a seed; the error says which invariant it broke.
// A trace of all that happens is written if one is wanted.
func Run(seed uint64, kind Kind, trace io.Writer) (Counts, error) {
	w := &world{kind: kind, random: rand.New(rand.NewPCG(seed, 11)), extra: rand.New(rand.NewPCG(seed, 12)),
		byID: map[job.RunID]*project{}, trace: trace}
	if kind.Rosters {
		w.rosters = rand.New(rand.NewPCG(seed, 13))
	}
	if kind.Cuts {
		w.cuts = rand.New(rand.NewPCG(seed, 14))
	}
	if kind.Clocks {
		w.clocks = rand.New(rand.NewPCG(seed, 15))
	}
	if kind.Verified {
		r := rand.New(rand.NewPCG(seed, 16))
		w.party = &party{w, r.IntN(hands), r}
	}
	if kind.Modules {
		w.shelves = rand.New(rand.NewPCG(seed, 17))
	}
	n := 2 + w.random.IntN(5)
	w.side = make([]int, n)
	if w.chance(0.7) {
		w.loss = 0.2 * w.random.Float64()
	}
	for i := range n {
		m := &member{w: w, i: i, id: runs.PeerID(fmt.Sprintf("p%d", i)), files: map[fileName]any{},
			dates: map[fileName]time.Time{}, kept: map[job.RunID]*checkpoint{}, tolls: map[job.RunID]runs.Toll{}}
		m.library = library{m: m, has: map[moduleID]bool{}}
		w.members = append(w.members, m)
	}
	for _, m := range w.members {
		m.boot()
	}
	for range 1 + w.random.IntN(4) {
		w.after(w.some(troubled*2/3), w.submit)
	}
	for range w.random.IntN(14) {
		w.after(w.some(troubled), w.fault)
	}
	if kind.Clocks {
		for range 1 + w.clocks.IntN(12) {
			w.after(time.Duration(w.clocks.Int64N(int64(troubled))), func() {
				w.misset(w.members[w.clocks.IntN(n)], w.missetting())
			})
		}
	}
	for range 40 {
		w.party.scheme()
		w.wear()
	}
	w.run(troubled)
	w.heal()
	if kind.Verified || kind.Modules {
		w.after(settled, func() { helped(w) })
	}
	if kind.Rosters {
		w.after(settled, w.agreed)
	}
	if kind.Rosters || kind.Verified || kind.Modules {
		w.run(troubled + settled)
	}
	if kind.Verified || kind.Modules { // and their work is long
		w.run(w.now + settled)
	}
	w.run(w.now + quiet)
	if w.broken == nil {
		w.end()
	}
	return w.counts, w.broken
}

// pick draws a member that is up; nil if it hits one that is not.
func (w *world) pick() *member {
	m := w.members[w.random.IntN(len(w.members))]
	if m.core == nil {
		return nil
	}
	return m
}

func (w *world) submit() {
	m := w.pick()
	if m == nil {
		return
	}
	p := &project{n: len(w.runs), owner: m, work: 2*time.Second + w.some(50*time.Second), impure: w.chance(0.15)}
	if p.killer, p.victims = w.extra.IntN(6) == 0, map[*member]int{}; p.killer {
		p.impure = false
	}
	if w.kind.Stealing {
		p.leaves = 1 + w.random.IntN(12)
	}
	p.id = job.RunID{0: byte(w.random.Uint32()), 1: byte(p.n + 1)}
	p.manifest = &runs.Manifest{Run: p.id, Owner: m.id, App: "app", Created: m.clock().Unix(),
		Expires: m.clock().Add(24 * time.Hour).Unix(), Sealed: []byte("manifest")}
	for _, i := range w.random.Perm(len(w.members)) {
		if o := w.members[i]; o != m && len(p.manifest.Deputies) < 2 && m.Alive(o.id) {
			p.manifest.Deputies = append(p.manifest.Deputies, o.id)
		}
	}
	w.adapt(p)
	w.party.prove(p)
	p.need(w.shelves)
	p.work = min(p.work, quiet)
	w.runs = append(w.runs, p)
	w.byID[p.id] = p
	w.say("%s submits run %d, %s of work, deputies %v", m.id, p.n, p.work, p.manifest.Deputies)
	p.busy = true
	m.command(func(c *runs.Core, t runs.Ticket) []runs.Order { return c.Submit(m.clock(), t, p.manifest, nil) },
		func(no *runs.Refusal) { p.busy, p.accepted = false, no == nil })
}

// fault is something that goes wrong, or that an owner does.
func (w *world) fault() {
	if w.calm {
		return
	}
	if w.rosters != nil && w.rosters.IntN(3) == 0 {
		w.usurp()
		return
	}
	switch w.random.IntN(8) {
	case 0, 1:
		if m := w.pick(); m != nil {
			w.down(m, time.Second+w.some(60*time.Second))
		}
	case 2:
		for i := range w.side {
			w.side[i] = w.random.IntN(2)
		}
		w.say("partition %v", w.side)
		w.after(w.some(60*time.Second), func() { clear(w.side); w.say("the partition is over") })
	case 3:
		if m := w.pick(); m != nil {
			m.full = true
			w.say("%s: disk full", m.id)
			m.later(w.some(30*time.Second), func() { m.full = false })
		}
	case 4:
		w.lie()
	default:
		w.direct()
	}
}

// down crashes a member for a while; sometimes what was written down of an own run is lost, or the checkpoints.
func (w *world) down(m *member, d time.Duration) {
	m.crash()
	if w.chance(0.3) {
		for _, p := range w.runs {
			name := fileName{runs.OwnFile, p.id}
			if _, there := m.files[name]; there && w.chance(0.5) {
				w.say("%s: what was written down of run %d is lost", m.id, p.n)
				delete(m.files, name)
				p.damaged = true
			}
		}
	}
	if w.chance(0.2) {
		clear(m.kept)
	}
	w.after(d, func() {
		if m.core == nil && !w.calm {
			m.boot()
		}
	})
}

// cut has a member end, perhaps, that has just written something and does not know it.
func (w *world) cut(m *member) bool {
	if w.cuts == nil || w.calm || w.cuts.IntN(12) > 0 {
		return false
	}
	w.say("%s does not hear that it has written", m.id)
	w.counts.Cut++
	w.down(m, time.Second+w.some(40*time.Second))
	return true
}

// hinder says how late a collection is, and why it comes to nothing.
func (w *world) hinder() (late time.Duration, no *runs.Refusal) {
	if w.cuts == nil || w.cuts.IntN(4) > 0 {
		return 0, nil
	}
	if w.cuts.IntN(2) == 0 {
		no = &runs.Refusal{Kind: runs.Unavailable, Text: "the checkpoint cannot be written"}
	}
	return w.some(30 * time.Second), no
}

// lie has a member claim an answer that it does not have.
func (w *world) lie() {
	m := w.pick()
	if m == nil || len(w.runs) == 0 {
		return
	}
	p := w.runs[w.random.IntN(len(w.runs))]
	if m == p.owner || p.strict() {
		return
	}
	c := &runs.Claim{Run: p.id, Author: m.id, Hash: runs.Hash{9, byte(w.random.Uint32())}, Sealed: []byte("lie")}
	w.say("%s lies about run %d", m.id, p.n)
	if p.manifest.Deputies != nil && p.manifest.Deputies[0] == m.id {
		return // a deputy that lies may end the run of an owner that is away: it was trusted
	}
	for _, o := range w.members {
		if o != m {
			w.send(m, o, func() { o.input(o.core.Claimed(o.clock(), c, m.id)) })
		}
	}
}

// direct is an owner's command.
func (w *world) direct() {
	if len(w.runs) == 0 {
		return
	}
	p := w.runs[w.random.IntN(len(w.runs))]
	m := p.owner
	if m.core == nil || p.busy || !p.accepted || p.cancelled {
		return
	}
	p.busy = true
	done := func(f func(no *runs.Refusal)) func(*runs.Refusal) {
		return func(no *runs.Refusal) {
			p.busy = false
			w.say("%s: the command about run %d: %v", m.id, p.n, no)
			f(no)
		}
	}
	switch {
	case p.suspended:
		w.resume(p)
	case w.chance(0.4):
		w.say("%s cancels run %d", m.id, p.n)
		p.ended = true
		m.command(func(c *runs.Core, t runs.Ticket) []runs.Order { return c.Cancel(m.clock(), t, p.id) },
			done(func(no *runs.Refusal) {
				i, there := m.core.Run(p.id)
				ended := there && i.State == runs.StateCancelled
				p.cancelled, p.unwritten = no == nil && ended, p.unwritten || no != nil && ended
			}))
	default:
		w.say("%s suspends run %d", m.id, p.n)
		p.slept = true
		m.command(func(c *runs.Core, t runs.Ticket) []runs.Order { return c.Suspend(m.clock(), t, p.id) },
			done(func(no *runs.Refusal) { p.suspended = no == nil }))
		w.after(w.some(60*time.Second), func() {
			if p.suspended && m.core != nil && !p.busy {
				p.busy = true
				w.resume(p)
			}
		})
	}
}

// resume takes a suspended run up again.
func (w *world) resume(p *project) {
	m := p.owner
	w.say("%s resumes run %d", m.id, p.n)
	p.suspended = false
	m.command(func(c *runs.Core, t runs.Ticket) []runs.Order { return c.Resume(m.clock(), t, p.manifest) },
		func(no *runs.Refusal) {
			p.busy = false
			if i, there := m.core.Run(p.id); no != nil && there && i.State == runs.StateSuspended {
				p.suspended = true
			}
			w.say("%s: run %d resumed: %v", m.id, p.n, no)
		})
}

// heal ends all faults.
func (w *world) heal() {
	w.say("no more faults")
	w.calm, w.loss = true, 0
	clear(w.side)
	for _, m := range w.members {
		m.full, m.off = false, 0
		if m.core == nil {
			m.boot()
		}
	}
}
