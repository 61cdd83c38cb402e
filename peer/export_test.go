package peer

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Messages are one of each type that members send on the protocols of this package.
func Messages() []any {
	return []any{&meeting{}, &runQuestion{}, &runAnswer{}, &load{}, &keepRequest{}, &keepReply{}, &answerQuestion{},
		&collectQuestion{}, &deathNews{}}
}

// Statement signs that this peer has an answer, whether or not that is so.
func (p *Peer) Statement(run string, outcome []byte) *statement.SignedAnswered {
	id, _ := job.ParseRunID(run)
	a, err := (&statement.Answered{
		Run: id, Hash: statement.HashOutcome(outcome), At: time.Now().Unix(), Until: time.Now().Add(time.Hour).Unix(),
	}).Sign(p.runs.key)
	if err != nil {
		panic(err)
	}
	return a
}

// Claim has this peer keep an outcome of a run of the owner's, and tell everybody.
func (p *Peer) Claim(owner *Peer, run string, outcome []byte) error {
	_, m, err := owner.files.readOwn(run)
	if err != nil {
		_, manifest, _, bad := readAnswer(owner.files.answers, run, 2)
		if bad != nil {
			return bad
		}
		if m, err = statement.OpenManifest(manifest); err != nil {
			return err
		}
	}
	a, out := p.Statement(run, outcome), runs.Outcome{Bytes: outcome, Hash: statement.HashOutcome(outcome)}
	c := claimOf(a)
	answer := &runs.Answer{Manifest: m.Bytes, Owner: peerName(m.Owner), Outcome: out, Ended: a.At, Claim: c}
	if err := p.files.writeAnswer(runs.HeldFile, m.Run, answer, nil); err != nil {
		return err
	}
	held := &runs.Recalled{Held: []runs.RecalledHeld{{File: runs.HeldFile, Manifest: headOf(manifestOf(m)), Claim: *c,
		Since: time.Now()}}}
	p.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Recall(now, held) })
	p.voice.tell(gossip.KindAnswered, a.Bytes)
	return nil
}

// Decide makes the next roster of a run that this peer coordinates.
func (p *Peer) Decide(run string, out ...*Peer) {
	id, _ := job.ParseRunID(run)
	w := &runs.Muster{}
	for _, o := range out {
		w.Out = append(w.Out, runs.Outsider{Peer: peerName(o.host.ID()), Left: 1})
	}
	p.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Musters.Muster(now, id, w) })
}

// Usurp tells everybody a roster without these, whether or not this peer may.
func (p *Peer) Usurp(run string, out ...*Peer) {
	id, _ := job.ParseRunID(run)
	r := &runs.Roster{Run: id, Number: 1 << 60, Until: time.Now().Add(time.Hour).Unix()}
	for _, o := range out {
		r.Out = append(r.Out, runs.Outsider{Peer: peerName(o.host.ID()), Left: 1})
	}
	p.voice.tell(gossip.KindRoster, signer{p.Base, p.runs.key}.Enroll(r))
}

// AgeOfRoster has a peer tell another one of a roster of a third, whom it has not heard for so long, and gives the age
// that arrives.
func (p *Peer) AgeOfRoster(owner, to *Peer, age time.Duration) time.Duration {
	until := time.Now().Add(time.Hour).Unix()
	m := &runs.Manifest{Run: job.RunID{1}, Owner: peerName(owner.host.ID()), Adapt: "volunteers", Expires: until}
	r := &runs.Roster{Run: m.Run, Author: m.Owner, Number: 1, Until: until}
	r.Sealed = signer{p.Base, owner.runs.key}.Enroll(r)
	p.runs.input(func(c *runs.Core, now time.Time) []runs.Order {
		return append(c.Fetched(now, &runs.Told{Run: m.Run, Manifest: m, Unfit: "nobody here can compute it"}),
			c.Asked(now, &runs.Told{Run: m.Run, Known: true, Roster: r, RosterAge: age})...)
	})
	asking := inquiries{Base: to.Base, board: to.board}
	return asking.askAfter(context.Background(), m.Run, peerName(p.host.ID())).RosterAge
}

// Gives says whether a peer is a member of a run, as its sessions are told here, and whether it is barred.
func (p *Peer) Gives(run string, to *Peer) (member, barred bool) {
	id, _ := job.ParseRunID(run)
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	m := p.swarm.takingPart(p.runs.parts[id].manifest, p.runs.core)
	name := steal.PeerID(to.host.ID().String())
	_, member = m.Find(name)
	return member, m.Barred(name)
}

// RosterOf is the number of the roster that counts for a peer, and its author; 0 if there is none.
func (p *Peer) RosterOf(run string) (uint64, string) {
	id, _ := job.ParseRunID(run)
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	if r := p.runs.core.Musters.Roster(id); r != nil {
		return r.Number, string(r.Author)
	}
	return 0, ""
}

// SpeedOf is what it has measured of itself for a run.
func (p *Peer) SpeedOf(run string) (s port.Speed) {
	id, _ := job.ParseRunID(run)
	if s := p.runs.sessions.of(id); s != nil {
		return s.Figures().Speed
	}
	return s
}

// Measured is of how many peers it knows what they did in the last period of a run that it coordinates.
func (p *Peer) Measured(run string) int {
	id, _ := job.ParseRunID(run)
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	if r := p.runs.parts[id]; r != nil && r.gauge != nil {
		return r.gauge.last.Sampled
	}
	return 0
}

// Repeat has it tell everybody again, as long as it keeps the outcome.
func (p *Peer) Repeat(run string) {
	id, _ := job.ParseRunID(run)
	p.runs.mu.Lock()
	c := p.runs.core.Knows(id, "", false).Claim
	p.runs.mu.Unlock()
	if c != nil {
		p.voice.tell(gossip.KindAnswered, c.Sealed)
	}
}

// HearAnswered is what a peer makes of a statement.
func (p *Peer) HearAnswered(a *statement.SignedAnswered, from *Peer) error {
	return p.runs.claimed(a.Bytes, from.host.ID())
}

// Holds says whether a peer keeps an answer for another.
func (p *Peer) Holds(run string) bool {
	id, ok := job.ParseRunID(run)
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	return ok && p.runs.core.Keeps(id) && p.files.held.Has(run)
}

// Stored is how many results of jobs the checkpoint of a run has.
func (p *Peer) Stored(run string) (n int) {
	id, _ := job.ParseRunID(run)
	snap, err := checkpoint.Read(p.checkpoints.DirOf(id), checkpoint.Header{}, nil)
	if err != nil {
		return 0
	}
	defer snap.Close()
	for r, err := range snap.Records() {
		if err == nil && r.Kind == checkpoint.JobResult {
			n++
		}
	}
	return n
}

// LosesProcess has the process end that computes for a run here, and says how many results the run has from its
// checkpoint then.
func (p *Peer) LosesProcess(run string) (restored func() uint64) {
	id, _ := job.ParseRunID(run)
	_, r, _ := p.runs.info(id)
	p.runs.engineDied(r, session.Death{Why: errors.New("killed from outside")})
	return func() uint64 {
		if s := p.runs.sessions.of(id); s != nil { // there is none while the next one begins
			return s.Stats().Steal.PartialsRestored
		}
		return 0
	}
}

// Displaced is how many results of a run had no room in memory.
func (p *Peer) Displaced(run string) uint64 {
	id, _ := job.ParseRunID(run)
	return p.runs.sessions.of(id).Stats().Steal.PartialsDisplaced
}

// RunID is the ID of a run in bytes.
func (p *Peer) RunID(run string) []byte {
	id, _ := job.ParseRunID(run)
	return id[:]
}

// CoresOf is how many cores a run has here.
func (p *Peer) CoresOf(run string) int {
	id, _ := job.ParseRunID(run)
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	return p.crew.arbiter.Of(p.runs.parts[id].cores)
}

// PastSessions is how many sessions of ended runs are kept.
func (p *Peer) PastSessions() (n int) {
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	for _, r := range p.runs.parts {
		if r.final != nil && r.session != nil {
			n++
		}
	}
	return n
}

// ID is the peer's own.
func (p *Peer) ID() peer.ID { return p.host.ID() }

// Timed has this peer's streams tell that so much came from another one in a second, and says what bandwidth that is
// known to have, in bytes a second; 0: it is not known.
func (p *Peer) Timed(other *Peer, bytes int) float64 {
	name := steal.PeerID(other.ID().String())
	p.cfg.Stream.Timed(name, bytes, time.Second)
	return p.coordinator.ways.of(p.Now())[name]
}

// HandOf is in whose hands a peer is, or a tab of this peer's, where outcomes are compared.
func (p *Peer) HandOf(id steal.PeerID) string {
	return string(p.runs.jury.Introducer(verify.PeerID(id)))
}

// Guests counts the tabs that are here.
func (p *Peer) Guests() int {
	p.visitors.mu.Lock()
	defer p.visitors.mu.Unlock()
	return len(p.visitors.guests)
}

// BreakGateway ends the gateway, as when its listener fails.
func (p *Peer) BreakGateway() {
	_ = p.sharing.server.Close(context.Background())
	<-p.sharing.served
}

// PruneInputs removes inputs that no run has named for a while, as if it was that time.
func (p *Peer) PruneInputs(now time.Time) { p.constants.Prune(now) }
