package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Quorum has the owner compare what others bring, as a run with --verify does: all others have to do with the owner
// alone. Peer 0 is the owner, and is not to be lost.
type Quorum struct {
	Size int // how many must come to an outcome
	// Doubt, if not 0, has peers be believed by their records: see verify.Config. All but liars begin with Record.
	Doubt  float64
	Record uint64
	Liars  []int32 // peers that lie,
	Rate   float64
	// OneParty has all liars brought in by one member; else each member, liars included, counts for itself.
	OneParty bool
	// Shows has all be asked how they came to their outcomes, and says how liars answer; Spot has nodes of each job
	// challenged: see verify.Config. They go with a network of peers that vouch, and without Judged.
	Shows Manner
	Spot  float64
	// Judged has outcomes differ honestly, in how long they took to compute, and the engine say what is alike in them.
	Judged bool
}

// plan is what a peer is to know of a run.
func (q *Quorum) plan(run steal.Run, peer int32) steal.Run {
	switch {
	case q == nil:
	case peer == 0:
		run.Proving = true
	default:
		run.Hoard, run.Recovery, run.Root = true, steal.Naive, steal.Job{}
	}
	return run
}

// bench is the owner's view of the others.
type bench struct{ of *peer }

func (b bench) name(p *peer) verify.PeerID { return verify.PeerID(p.id) }

func (b bench) Candidates() (list []verify.Candidate) {
	for i := range b.of.membersKnown.Len() {
		if id := b.of.membersKnown.At(i).ID; id != b.of.id {
			list = append(list, verify.Candidate{ID: verify.PeerID(id), Introducer: b.Introducer(verify.PeerID(id))})
		}
	}
	return list
}

func (b bench) Introducer(id verify.PeerID) verify.PeerID {
	q := b.of.world.cfg.Quorum
	if q.OneParty && slices.Contains(q.Liars, b.number(id)) {
		return "liars"
	}
	return id
}

func (b bench) number(id verify.PeerID) int32 {
	for _, p := range b.of.world.peers {
		if p.id == steal.PeerID(id) {
			return p.number
		}
	}
	return -1
}

func (b bench) Trusted(verify.PeerID) bool { return false }

func (b bench) Passed(id verify.PeerID) uint64 {
	q := b.of.world.cfg.Quorum
	if slices.Contains(q.Liars, b.number(id)) {
		return b.of.world.passed[id]
	}
	return q.Record + b.of.world.passed[id]
}

func (b bench) Below(n uint64) uint64 { return b.of.world.random.Uint64N(n) }

// proving is nil for all but the owner of a run that is verified.
func (q *Quorum) proving(p *peer) *driver.Proving {
	if q == nil || p.number != 0 {
		return nil
	}
	view := bench{p}
	cfg := verify.Config{Quorum: q.Size, Own: true, Wait: 20 * time.Second, MaxOpen: p.world.cfg.Core.MaxLeases}
	if q.Doubt > 0 {
		cfg.Quorum, cfg.Doubt, cfg.Liars, cfg.Again, cfg.AtOnce = 1, q.Doubt, 0.2, 0.2, 1
	}
	if q.Spot > 0 {
		cfg.Quorum, cfg.Spot = 1, q.Spot
	}
	d := &driver.Proving{
		Config: cfg,
		View:   view, Rand: view,
		Judged: func(string) bool { return q.Judged },
		Alike:  func(string, []byte) bool { return true }, Doubtful: func(string) bool { return true },
		Author: func(voucher []byte) verify.PeerID { return view.name(p.world.peers[voucher[0]]) },
		Caught: func(c driver.Caught) {
			if !slices.Contains(q.Liars, view.number(c.Peer)) {
				panic(violation(onlyLiars, "%s is put out for what it has said of %v, and is honest", c.Peer, c.Job.Path))
			}
			p.world.checkProof(&c)
		},
		Passed: func(list []verify.PeerID) {
			for _, id := range list {
				p.world.passed[id]++
			}
		},
		Missing: func(int) {},
	}
	if q.asks() {
		d.Open = func(o verify.Open) { p.world.ask(p, o) }
		d.Rerun = func(t *driver.Trial) { p.world.tries(p, t) }
	}
	return d
}

// essence is the engine's answer to Judge.
func essence(o *port.Order) port.Event {
	e := port.Event{Kind: port.Judged, Shared: &port.Shared{Ticket: o.Shared.Ticket}}
	if x, ok := decodeOutcome(o.Outcome); ok {
		x.by, x.took, x.touched = 0, 0, false // the owner says it
		e.Good, e.Outcome = true, x.encode(len(o.Outcome))
	}
	return e
}

// says is what a peer sends instead of what it means.
func (q *Quorum) says(p *peer, m *steal.Message) *steal.Message {
	if q == nil || m.Result == nil || q.Shows >= Spoils || !slices.Contains(q.Liars, p.number) {
		return m
	}
	o, ok := decodeOutcome(m.Result.Outcome)
	if !ok || !q.falls(o.claim) {
		return m
	}
	o.result.Sum++
	r, lie := *m.Result, *m
	if r.Outcome = o.encode(len(r.Outcome)); q.Shows == MakesUp {
		v := newNotary(p)
		r.Voucher = v.Vouch(p.world.run, &verify.Opening{Node: driver.NodeOf(r.Path, r.Identity),
			Outcome: v.Digest(r.Outcome)})
	}
	lie.Result = &r
	return &lie
}

// falls says whether a lie falls on something: a liar lies the same way whenever it repeats itself, and all liars
// lie alike.
func (q *Quorum) falls(on uint64) bool { return float64(mix(on)>>11)/(1<<53) < q.Rate }

// about describes it.
func (q *Quorum) about() string {
	if q.Doubt > 0 {
		return "doubt, " + strconv.Itoa(len(q.Liars)) + " liars"
	}
	if q.Spot > 0 {
		return fmt.Sprintf("spot=%g, %d liars of manner %d", q.Spot, len(q.Liars), q.Shows)
	}
	return "quorum of " + strconv.Itoa(q.Size) + ", " + strconv.Itoa(len(q.Liars)) + " liars"
}
