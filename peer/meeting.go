package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// Two members that meet tell each other whom they know and which runs there are (meetProtocol); a manifest is
// fetched from whoever announced the run (runProtocol).
const (
	meetProtocol = protocol.ID("/satin/meet/1")
	runProtocol  = protocol.ID("/satin/run/1")

	exchangeTime = 5 * time.Second
	// manifestTime is for a manifest of the largest size over a slow link.
	manifestTime = 2 * time.Minute
	maxCardsTold = 256
	maxRunsTold  = 64
	// maxTold bounds the tombstones and the claims that are told at a meeting.
	maxTold    = 16
	maxMeeting = maxCardsTold*statement.MaxCard/4 + (maxRunsTold+maxTold)*statement.MaxTombstone
	// maxBesides bounds what is told beside a manifest.
	maxBesides = statement.MaxTombstone + statement.MaxAnswered + 64
)

// meeting is what both sides of a meeting say.
type meeting struct {
	Cards [][]byte    `cbor:"1,keyasint"` // of members, the speaker's own first
	Runs  []job.RunID `cbor:"2,keyasint,omitempty"`
	Over  [][]byte    `cbor:"3,keyasint,omitempty"` // tombstones of the speaker's own runs
	// Answers are the statements about answers that the speaker keeps for the other side.
	Answers [][]byte `cbor:"4,keyasint,omitempty"`
}

// runQuestion asks after a run.
type runQuestion struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Full bool      `cbor:"2,keyasint,omitempty"` // the manifest is wanted
}

// runAnswer is what somebody knows of a run; none of it: nothing.
type runAnswer struct {
	Manifest  []byte `cbor:"1,keyasint,omitempty"`
	Tombstone []byte `cbor:"2,keyasint,omitempty"`
	// Known says that the run goes on, in answer to a question that did not want the manifest.
	Known bool `cbor:"3,keyasint,omitempty"`
	// Answered says that somebody has the answer; Over, that the run is over for the speaker because of it.
	Answered []byte `cbor:"4,keyasint,omitempty"`
	Over     bool   `cbor:"5,keyasint,omitempty"`
}

func (p *Peer) serveExchange() {
	p.net.SetStreamHandler(meetProtocol, func(s network.Stream) {
		p.answer(s, maxMeeting, exchangeTime, func(b []byte) (any, error) {
			var their meeting
			if err := wire.Value().Decode(b, &their); err != nil {
				return nil, err
			}
			p.hearMeeting(s.Conn().RemotePeer(), &their)
			return p.meeting(s.Conn().RemotePeer()), nil
		})
	})
	p.net.SetStreamHandler(runProtocol, func(s network.Stream) {
		p.answer(s, 1<<10, manifestTime, func(b []byte) (any, error) {
			var q runQuestion
			if err := wire.Value().Decode(b, &q); err != nil {
				return nil, err
			}
			return p.tellOfRun(&q, s.Conn().RemotePeer()), nil
		})
	})
}

// tellOfRun answers a question after a run. Whoever asks after one that this peer does not know may know it.
func (p *Peer) tellOfRun(q *runQuestion, asker peer.ID) *runAnswer {
	t := p.runs
	t.mu.Lock()
	k := t.core.Knows(q.Run, peerName(asker), q.Full)
	_, there := t.core.Run(q.Run)
	t.mu.Unlock()
	if !there && k.Tombstone == nil && !q.Full {
		t.announced(q.Run, asker)
	}
	a := &runAnswer{Manifest: k.Manifest, Known: k.Known, Over: k.Over}
	if k.Held {
		a.Manifest = p.files.manifestHeld(q.Run)
	}
	a.Known = a.Known && a.Manifest == nil
	if len(a.Manifest)+maxBesides > wire.MaxValue {
		return a // the rest will be asked for
	}
	if k.Tombstone != nil {
		a.Tombstone = k.Tombstone.Sealed
	}
	if k.Claim != nil {
		a.Answered = k.Claim.Sealed
	}
	return a
}

// meet tells a peer that was just connected whom we know, and learns the same.
func (p *Peer) meet(ctx context.Context, id peer.ID) {
	var their meeting
	if err := p.ask(ctx, id, meetProtocol, p.meeting(id), &their, maxMeeting, exchangeTime); err != nil {
		p.log.Debug("meeting failed", "error", err)
		return
	}
	p.hearMeeting(id, &their)
}

// meeting is what this peer says of itself and others to one of them.
func (p *Peer) meeting(with peer.ID) *meeting {
	t := p.runs
	t.mu.Lock()
	m := &meeting{Runs: t.core.InProgress(maxRunsTold)}
	for _, s := range t.core.OwnTombstones() {
		m.Over = append(m.Over, s.Sealed)
	}
	for _, c := range t.core.ClaimsFor(peerName(with)) {
		m.Answers = append(m.Answers, c.Sealed)
	}
	t.mu.Unlock()
	if own := p.ownCard(); own != nil {
		m.Cards = append(m.Cards, own.Bytes)
	}
	size := 0
	for _, c := range p.members.list() {
		if p.places.silent(c.Peer) {
			continue
		}
		if size += len(c.Bytes); len(m.Cards) >= maxCardsTold || size > maxMeeting/2 {
			break
		}
		m.Cards = append(m.Cards, c.Bytes)
	}
	return m
}

func (p *Peer) hearMeeting(from peer.ID, m *meeting) {
	via := p.linkTo(from)
	for i, b := range m.Cards {
		if i == maxCardsTold {
			break
		}
		if err := p.hearCard(b, via); err != nil {
			p.log.Debug("card refused", "from", from, "error", err)
		}
	}
	for i, b := range m.Over {
		if i == maxTold {
			break
		}
		if err := p.runs.buried(b); err != nil {
			p.log.Debug("tombstone refused", "from", from, "error", err)
		}
	}
	for i, b := range m.Answers {
		if i == maxTold {
			break
		}
		if err := p.runs.claimed(b, from); err != nil {
			p.log.Debug("statement of an answer refused", "from", from, "error", err)
		}
	}
	for i, run := range m.Runs {
		if i == maxRunsTold {
			break
		}
		p.runs.announced(run, from)
	}
}

// hearCard takes in a card from anywhere, of a member.
func (p *Peer) hearCard(b []byte, via multiaddr.Multiaddr) error {
	c, err := statement.OpenCard(b)
	if err != nil {
		return err
	}
	switch {
	case c.Swarm != p.host.SwarmName():
		return fmt.Errorf("a card of the swarm %q", clip(c.Swarm))
	case c.Peer == p.host.ID():
		return nil
	}
	by, err := p.host.Vouch(c.Peer, c.Proof)
	if err != nil {
		return err
	}
	if p.members.learn(c, by, p.now()) {
		p.places.heard(c.Peer)
		p.rememberAddresses(c, via)
	}
	return nil
}

// askManifest asks a member for a manifest.
func (p *Peer) askManifest(ctx context.Context, run job.RunID, from runs.PeerID) *runs.Told {
	told, m, err := p.askOfRun(ctx, &runQuestion{run, true}, from, wire.MaxValue, manifestTime)
	switch {
	case err != nil:
	case m == nil && told.Tombstone == nil && told.Claim == nil:
		err = errUnknownRun
	case m != nil && m.Run != run:
		err = fmt.Errorf("it sent the manifest of run %s", m.Run)
	case m != nil && m.Swarm != p.host.SwarmName():
		err = fmt.Errorf("it sent a manifest for the swarm %q", clip(m.Swarm))
	case m != nil:
		told.Manifest, told.Unfit = manifestOf(m), p.apps.unfit(m)
	}
	if err != nil {
		p.log.Debug("run not taken up", "run", run, "from", string(from), "error", err)
		return &runs.Told{Run: run, From: from, Failed: true}
	}
	return told
}

// errUnknownRun is what asking after a run gives when the other side knows nothing of it.
var errUnknownRun = errors.New("it knows of no such run")

// askAfter asks a member whether a run goes on.
func (p *Peer) askAfter(ctx context.Context, run job.RunID, whom runs.PeerID) *runs.Told {
	told, _, err := p.askOfRun(ctx, &runQuestion{Run: run}, whom, 1<<13, exchangeTime)
	if err != nil {
		return &runs.Told{Run: run, From: whom, Failed: true}
	}
	return told
}

// askOfRun asks one question after a run. Statements that cannot be read are as though they had not been sent.
func (p *Peer) askOfRun(ctx context.Context, q *runQuestion, from runs.PeerID, limit int, within time.Duration) (
	*runs.Told, *statement.SignedManifest, error) {
	id, err := peer.Decode(string(from))
	if err != nil {
		return nil, nil, err
	}
	var a runAnswer
	if err := p.ask(ctx, id, runProtocol, q, &a, limit, within); err != nil {
		return nil, nil, err
	}
	told := &runs.Told{Run: q.Run, From: from, Known: a.Known, Over: a.Over}
	if a.Tombstone != nil {
		s, author, err := statement.OpenTombstone(a.Tombstone)
		if err != nil {
			return nil, nil, err
		}
		if s.Run == q.Run {
			told.Tombstone = tombstoneOf(s, author, a.Tombstone)
		}
	}
	if a.Answered != nil {
		c, err := statement.OpenAnswered(a.Answered)
		if err != nil {
			return nil, nil, err
		}
		if c.Run == q.Run {
			told.Claim = claimOf(c)
		}
	}
	if a.Manifest == nil {
		return told, nil, nil
	}
	m, err := statement.OpenManifest(a.Manifest)
	return told, m, err
}
