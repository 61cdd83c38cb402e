package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
)

// Two members that meet tell each other whom they know and which runs there are (meetProtocol); a manifest is
// fetched from whoever announced the run (runProtocol). Each is one question and one answer on a stream of
// its own, bounded in length and in time.
const (
	meetProtocol = protocol.ID("/satin/meet/1")
	runProtocol  = protocol.ID("/satin/run/1")

	exchangeTime = 5 * time.Second
	// manifestTime is for a manifest of the largest size over a slow link.
	manifestTime = 2 * time.Minute
	maxCardsTold = 256
	maxRunsTold  = 64
	// maxStonesTold is how many tombstones of own runs are told again at meetings.
	maxStonesTold = 16
	maxMeeting    = maxCardsTold*statement.MaxCard/4 + (maxRunsTold+maxAnswersTold)*statement.MaxTombstone
)

// meeting is what both sides of a meeting say.
type meeting struct {
	Cards [][]byte    `cbor:"1,keyasint"` // of members, the speaker's own first
	Runs  []job.RunID `cbor:"2,keyasint,omitempty"`
	Over  [][]byte    `cbor:"3,keyasint,omitempty"` // tombstones of the speaker's own runs
	// Answers are the statements about answers that the speaker keeps for the other side.
	Answers [][]byte `cbor:"4,keyasint,omitempty"`
}

// runAnswer is what somebody knows of a run; none of it: nothing.
type runAnswer struct {
	Manifest  []byte `cbor:"1,keyasint,omitempty"`
	Tombstone []byte `cbor:"2,keyasint,omitempty"`
	// Known says that the run goes on, in answer to a question that did not want the manifest.
	Known bool `cbor:"3,keyasint,omitempty"`
	// Answered says that somebody has the answer.
	Answered []byte `cbor:"4,keyasint,omitempty"`
}

// runQuestion asks after a run.
type runQuestion struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Full bool      `cbor:"2,keyasint,omitempty"` // the manifest is wanted
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
			return p.runs.tell(q), nil
		})
	})
}

// answer serves one question. What goes wrong ends the stream: the other side will see.
func (p *Peer) answer(s network.Stream, limit int, within time.Duration, f func(question []byte) (any, error)) {
	p.serve(s, within, func() error {
		q, err := wire.ReadFrame(s, nil, limit)
		if err != nil {
			return err
		}
		a, err := f(q)
		if err != nil {
			return err
		}
		return writeValue(s, a)
	})
}

// serve lets a member speak on a stream that it opened, for so long at most.
func (p *Peer) serve(s network.Stream, within time.Duration, f func() error) {
	if !p.host.Admitted(s.Conn().RemotePeer()) {
		_ = s.Reset()
		return
	}
	err := s.SetDeadline(time.Now().Add(within))
	if err == nil {
		err = f()
	}
	if err != nil {
		p.log.Debug("question not answered", "peer", s.Conn().RemotePeer(), "protocol", s.Protocol(), "error", err)
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

// ask asks one question.
func (p *Peer) ask(ctx context.Context, to peer.ID, id protocol.ID, question, answer any, limit int,
	within time.Duration) error {
	return p.converse(ctx, to, id, within, func(s network.Stream) error {
		if err := writeValue(s, question); err != nil {
			return err
		}
		return readValue(s, limit, answer)
	})
}

// converse speaks with a member on a stream of its own, for so long at most.
func (p *Peer) converse(ctx context.Context, to peer.ID, id protocol.ID, within time.Duration,
	f func(network.Stream) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// Questions may go through a relay; jobs wait for a direct connection.
	s, err := p.net.NewStream(network.WithAllowLimitedConn(ctx, string(id)), to, id)
	if err != nil {
		return fmt.Errorf("%s cannot be asked: %w", to, err)
	}
	defer func() { _ = s.Reset() }() // after a Close it does nothing
	deadline, _ := ctx.Deadline()
	if err := s.SetDeadline(deadline); err != nil {
		return err
	}
	if err := f(s); err != nil {
		return fmt.Errorf("%s does not answer: %w", to, err)
	}
	_ = s.Close()
	return nil
}

// writeValue writes one message as a frame.
func writeValue(w io.Writer, v any) error {
	b, err := wire.Value().Encode(v)
	if err != nil {
		return err
	}
	return wire.WriteFrame(w, b, wire.MaxValue)
}

// readValue reads one message of at most limit bytes.
func readValue(r io.Reader, limit int, v any) error {
	b, err := wire.ReadFrame(r, nil, limit)
	if err != nil {
		return err
	}
	return wire.Value().Decode(b, v)
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
	m := &meeting{Runs: p.runs.active(maxRunsTold), Over: p.runs.stones(), Answers: p.holding.of(with)}
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
	for i, b := range m.Cards {
		if i == maxCardsTold {
			break
		}
		if err := p.hearCard(b); err != nil {
			p.log.Debug("card refused", "from", from, "error", err)
		}
	}
	for i, b := range m.Over {
		if i == maxStonesTold {
			break
		}
		if err := p.runs.bury(b); err != nil {
			p.log.Debug("tombstone refused", "from", from, "error", err)
		}
	}
	for i, b := range m.Answers {
		if i == maxAnswersTold {
			break
		}
		if err := p.runs.hearAnswered(b, from); err != nil {
			p.log.Debug("statement of an answer refused", "from", from, "error", err)
		}
	}
	for i, run := range m.Runs {
		if i == maxRunsTold {
			break
		}
		p.runs.heard(run, from)
	}
}

// hearCard takes in a card from anywhere.
func (p *Peer) hearCard(b []byte) error {
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
	if p.members.learn(c, time.Now()) {
		p.places.heard(c.Peer)
		p.rememberAddresses(c)
	}
	return nil
}

// errUnknownRun is what asking after a run gives when the other side knows nothing of it.
var errUnknownRun = errors.New("it knows of no such run")

// fetchManifest asks a member for a manifest; nil if the run is over. A tombstone instead of it, or with it,
// is taken in; the statement that the run is answered is for the caller.
func (p *Peer) fetchManifest(ctx context.Context, run job.RunID, from peer.ID) (m *statement.SignedManifest,
	answered []byte, err error) {
	var a runAnswer
	if err := p.ask(ctx, from, runProtocol, &runQuestion{run, true}, &a, wire.MaxValue, manifestTime); err != nil {
		return nil, nil, err
	}
	if a.Tombstone != nil {
		if err := p.runs.bury(a.Tombstone); err != nil {
			return nil, nil, err
		}
	}
	if a.Manifest == nil {
		if a.Tombstone == nil && a.Answered == nil {
			err = fmt.Errorf("%s: %w", from, errUnknownRun)
		}
		return nil, a.Answered, err
	}
	m, err = statement.OpenManifest(a.Manifest)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("from %s: %w", from, err)
	case m.Run != run:
		return nil, nil, fmt.Errorf("%s sent the manifest of run %s for %s", from, m.Run, run)
	case m.Swarm != p.host.SwarmName():
		return nil, nil, fmt.Errorf("%s sent a manifest for the swarm %q", from, clip(m.Swarm))
	}
	return m, a.Answered, nil
}

// clip cuts a stranger's text for a log.
func clip(s string) string { return s[:min(len(s), 64)] }
