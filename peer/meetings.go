package peer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
)

const (
	meetProtocol = protocol.ID("/satin/meet/1")

	exchangeTime = 5 * time.Second
	maxCardsTold = 256
	maxRunsTold  = 64
	// maxTold bounds the tombstones and the claims that are told at a meeting.
	maxTold    = 16
	maxMeeting = maxCardsTold*statement.MaxCard/4 + (maxRunsTold+maxTold)*statement.MaxTombstone +
		maxOutTold*host.MaxRevocation + maxPublishedTold*statement.MaxPublished + maxProofsTold*(maxAccusation+8)
)

// meeting is what both sides of a meeting say.
type meeting struct {
	Cards [][]byte    `cbor:"1,keyasint"` // of members, the speaker's own first
	Runs  []job.RunID `cbor:"2,keyasint,omitempty"`
	Over  [][]byte    `cbor:"3,keyasint,omitempty"` // tombstones of the speaker's own runs
	// Answers are the statements about answers that the speaker keeps for the other side.
	Answers [][]byte `cbor:"4,keyasint,omitempty"`
	// Out are statements that peers are out of the swarm.
	Out [][]byte `cbor:"5,keyasint,omitempty"`
	// Published are notices of modules.
	Published [][]byte `cbor:"6,keyasint,omitempty"`
	// Lies are proofs of lies: see accusation.
	Lies [][]byte `cbor:"7,keyasint,omitempty"`
}

// meetings are how members learn of each other: two that meet tell each other whom they know and which runs there are.
type meetings struct {
	*base.Base
	board *switchboard.Board
	swarm *swarm
	runs  *conductor
	card  *ownCard
	out   *exclusion
	// published are the modules that members stand for.
	published *publications
	jury      *jury
	greeted   greeted
	warned    greeted // by whom this peer was
	host      interface {
		SwarmName() string
		// Vouch says by whom a peer is a member.
		Vouch(id peer.ID, proof []byte) (by []peer.ID, err error)
		// Heard notes where a member is by what it tells over a link; see rememberAddresses.
		Heard(id peer.ID, addrs []multiaddr.Multiaddr, via multiaddr.Multiaddr)
	}
}

func (x *meetings) serve() {
	x.heed()
	x.board.Serve(meetProtocol, exchangeTime, func(s network.Stream) error {
		from := s.Conn().RemotePeer()
		if !x.greeted.again(from, x.Every, meetBurst, x.Now()) {
			return errTooOften // before anything is read
		}
		var their meeting
		if err := switchboard.ReadValue(s, maxMeeting, &their); err != nil {
			return err
		}
		x.hear(from, &their)
		return x.board.Tell(s, x.meeting(from))
	})
}

// greeted lets each member come so often, some times at once and then once every so long: there are hundreds of
// signatures in a meeting, all of which are looked at.
type greeted struct {
	mu sync.Mutex
	of map[peer.ID]*rate.Limiter
}

const meetBurst = 8

var errTooOften = errors.New("it says so too often")

func (p *greeted) again(id peer.ID, every time.Duration, burst int, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.of[id]
	if l == nil {
		if p.of == nil || len(p.of) >= members.Most { // whoever is forgotten may come again
			p.of = map[peer.ID]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Every(every), burst)
		p.of[id] = l
	}
	return l.AllowN(now, 1)
}

// meet tells a peer that was just connected whom we know, and learns the same. It says whether that was possible.
func (x *meetings) meet(ctx context.Context, id peer.ID) bool {
	var their meeting
	if err := x.board.Ask(ctx, id, meetProtocol, x.meeting(id), &their, maxMeeting, exchangeTime); err != nil {
		x.Log.Debug("meeting failed", "with", id, "error", err)
		return false
	}
	x.hear(id, &their)
	return true
}

// meetSoon meets a peer, if need be later, as long as it is connected: without that a newcomer may hear of nobody.
func (x *meetings) meetSoon(ctx context.Context, id peer.ID) {
	untilMet(ctx, func() bool { return x.meet(ctx, id) || !x.board.Connected(id) })
}

// untilMet tries until it succeeds, the context ends, or as many have failed as may.
func untilMet(ctx context.Context, try func() bool) {
	var tries alarm.Tries
	for !try() {
		wait, again := tries.Failed()
		if !again {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// meeting is what this peer says of itself and others to one of them.
func (x *meetings) meeting(with peer.ID) *meeting {
	t, lies := x.runs, x.jury.told()
	t.mu.Lock()
	m := &meeting{Runs: t.core.InProgress(maxRunsTold), Out: x.out.statements(),
		Published: x.published.told(), Lies: lies}
	for _, s := range t.core.OwnTombstones() {
		m.Over = append(m.Over, s.Sealed)
	}
	for _, c := range t.core.ClaimsFor(peerName(with)) {
		m.Answers = append(m.Answers, c.Sealed)
	}
	t.mu.Unlock()
	if own := x.card.current(); own != nil {
		m.Cards = append(m.Cards, own.Bytes)
	}
	size := 0
	for _, c := range x.swarm.members.List() {
		if x.swarm.places.Silent(c.Peer) {
			continue
		}
		if size += len(c.Bytes); len(m.Cards) >= maxCardsTold || size > maxMeeting/2 {
			break
		}
		m.Cards = append(m.Cards, c.Bytes)
	}
	return m
}

// hear takes in what the other side says.
func (x *meetings) hear(from peer.ID, m *meeting) {
	for _, b := range m.Out[:min(len(m.Out), maxOutTold)] {
		x.out.hear(b, from, true)
	}
	x.published.heard(from, m.Published)
	for _, b := range m.Lies[:min(len(m.Lies), maxProofsTold)] {
		x.jury.hear(from, b)
	}
	via := x.linkTo(from)
	for _, b := range m.Cards[:min(len(m.Cards), maxCardsTold)] {
		if err := x.hearCard(b, from, via); err != nil {
			x.Log.Debug("card refused", "from", from, "error", err)
		}
	}
	for _, b := range m.Over[:min(len(m.Over), maxTold)] {
		if err := x.runs.buried(b); err != nil {
			x.Log.Debug("tombstone refused", "from", from, "error", err)
		}
	}
	for _, b := range m.Answers[:min(len(m.Answers), maxTold)] {
		if err := x.runs.claimed(b, from); err != nil {
			x.Log.Debug("statement of an answer refused", "from", from, "error", err)
		}
	}
	for _, run := range m.Runs[:min(len(m.Runs), maxRunsTold)] {
		x.runs.announced(run, from)
	}
}

// hearCard takes in a card that somebody tells, of a member. Only the member itself may say again what this peer has
// forgotten: it is there, then.
func (x *meetings) hearCard(b []byte, from peer.ID, via multiaddr.Multiaddr) error {
	c, err := statement.OpenCard(b)
	if err != nil {
		return err
	}
	switch {
	case c.Swarm != x.host.SwarmName():
		return fmt.Errorf("a card of the swarm %q", plain.Clip(c.Swarm))
	case c.Peer == x.swarm.self:
		x.card.seen(c)
		return nil
	case c.Peer != from && x.swarm.members.IsStale(c):
		return nil
	}
	by, err := x.host.Vouch(c.Peer, c.Proof)
	if err != nil {
		return err
	}
	if x.swarm.members.Learn(c, by, x.Now()) {
		x.swarm.places.Heard(c.Peer)
		x.rememberAddresses(c, via)
	}
	return nil
}

// rememberAddresses lets the network find a member on demand, at addresses that mean the same to whoever told of
// them over a link as to this peer; via is nil if the card came by gossip.
func (x *meetings) rememberAddresses(c *statement.SignedCard, via multiaddr.Multiaddr) {
	var addrs []multiaddr.Multiaddr
	for _, a := range c.Addrs {
		if m, err := multiaddr.NewMultiaddr(a); err == nil {
			addrs = append(addrs, m)
		}
	}
	x.host.Heard(c.Peer, addrs, via)
}

// linkTo is where a connected peer is now; nil if it has gone.
func (x *meetings) linkTo(id peer.ID) multiaddr.Multiaddr {
	for _, c := range x.board.Net.Network().ConnsToPeer(id) {
		return host.RemoteAddr(c)
	}
	return nil
}

// checkCard accepts a card of its author.
func (x *meetings) checkCard(author peer.ID, b []byte) error {
	c, err := statement.OpenCard(b)
	switch {
	case err != nil:
		return err
	case c.Peer != author:
		return fmt.Errorf("a card of %s from %s", c.Peer, author)
	case c.Swarm != x.host.SwarmName():
		return fmt.Errorf("a card of the swarm %q", plain.Clip(c.Swarm))
	}
	return nil
}
