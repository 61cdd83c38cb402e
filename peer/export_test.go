package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
)

// Messages are one of each type that members send on the protocols of this package.
func Messages() []any {
	return []any{&meeting{}, &runQuestion{}, &runAnswer{}, &load{}, &keepRequest{}, &keepReply{}, &answerQuestion{},
		&collectQuestion{}}
}

// Statement signs that this peer has an answer, whether or not that is so.
func (p *Peer) Statement(run string, outcome []byte) *statement.SignedAnswered {
	id, _ := job.ParseRunID(run)
	a, err := (&statement.Answered{
		Run: id, Hash: statement.HashOutcome(outcome), At: time.Now().Unix(), Until: time.Now().Add(time.Hour).Unix(),
	}).Sign(p.key)
	if err != nil {
		panic(err)
	}
	return a
}

// Claim has this peer keep an outcome of a run of the owner's, and tell everybody.
func (p *Peer) Claim(owner *Peer, run string, outcome []byte) error {
	id, _ := job.ParseRunID(run)
	_, m, err := owner.recall(id)
	if err != nil {
		have, _ := owner.answers.load(id)
		if m, err = statement.OpenManifest(have.Manifest); err != nil {
			return err
		}
	}
	a := p.Statement(run, outcome)
	if err := p.hold(m, &Answer{Outcome: outcome, Ended: a.At, Answered: a.Bytes}); err != nil {
		return err
	}
	p.publishAnswered(a.Bytes)
	return nil
}

// Repeat has it tell everybody again, as long as it keeps the outcome.
func (p *Peer) Repeat(run string) {
	id, _ := job.ParseRunID(run)
	if b := p.holding.answered(id); b != nil {
		p.publishAnswered(b)
	}
}

// HearAnswered is what a peer makes of a statement.
func (p *Peer) HearAnswered(a *statement.SignedAnswered, from *Peer) error {
	return p.runs.hearAnswered(a.Bytes, from.host.ID())
}

// Holds says whether a peer keeps an answer for another.
func (p *Peer) Holds(run string) bool {
	id, ok := job.ParseRunID(run)
	return ok && p.holding.has(id) && p.held.has(run)
}

// Rouse lets the peer wait for no word about runs that it has checkpoints of.
func (p *Peer) Rouse() {
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	p.runs.dormantFor = 0
}

// Stored is how many results the checkpoint of a run has.
func (p *Peer) Stored(run string) int {
	id, _ := job.ParseRunID(run)
	snap, err := checkpoint.Read(p.checkpointDir(id), checkpoint.Header{}, nil)
	if err != nil {
		return 0
	}
	defer snap.Close()
	return snap.Len()
}

// RunID is the ID of a run in bytes.
func (p *Peer) RunID(run string) []byte {
	id, _ := job.ParseRunID(run)
	return id[:]
}

// ID is the peer's own.
func (p *Peer) ID() peer.ID { return p.host.ID() }
