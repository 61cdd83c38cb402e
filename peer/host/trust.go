package host

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Trust says who may become a member.
type Trust int

const (
	// TrustInvite lets in peers that hold a certificate of the swarm's key, an invitation, or is in the allow-list.
	// The default.
	TrustInvite Trust = iota
	// TrustOpen lets in any peer that gives the swarm's name.
	TrustOpen
)

func (t Trust) String() string {
	switch t {
	case TrustInvite:
		return "invite"
	case TrustOpen:
		return "open"
	}
	return fmt.Sprintf("Trust(%d)", int(t))
}

// admission decides who is a member, and of what swarm this peer is one, by what two peers say to each other. It sends
// nothing itself.
type admission struct{ *membership }

// membership is who this peer is, and what it knows of who may be in its swarm.
type membership struct {
	cfg         Config
	log         *slog.Logger
	id          peer.ID
	incarnation uint64
	swarm       *swarm
	dates       *datebook
	tickets     *ticketBook
	allowed     *idList
	revoked     *idList
	roll        Roll
	moved       chan struct{} // told when the peer has entered another swarm
}

// judge decides whether who said hello may come in, and makes a certificate for a new member.
func (h *admission) judge(id peer.ID, m *hello) (granted []certificate, err error) {
	if err := h.compatible(m); err != nil {
		return nil, err
	}
	if h.roll.out(id) {
		return nil, errOut(id)
	}
	mine := h.swarm.standing()
	if m.Swarm != mine.name && !(m.Joins && m.Swarm == "") {
		return nil, fmt.Errorf("%w: here is the swarm %q, not %q", ErrWrongSwarm, mine.name, m.Swarm)
	}
	if h.cfg.Trust == TrustOpen {
		return nil, nil
	}
	sameKey := bytes.Equal(m.Key, mine.public)
	var proof error
	if sameKey {
		proof = verifyChain(m.Chain, mine.public, id, h.roll.outBelow)
	}
	if len(m.Ticket) > 0 {
		if !sameKey {
			return nil, fmt.Errorf("%w: the invitation is for another swarm of the name %q, with another key",
				ErrWrongSwarm, mine.name)
		}
		granted, err = h.redeem(id, m.Ticket)
		if err == nil && proof != nil {
			h.log.Info("a new member came by an invitation", "peer", id, "inviter", h.id, "may_invite",
				granted[len(granted)-1].MayInvite)
		}
		if err == nil || proof != nil {
			return granted, err
		}
	}
	if sameKey && proof == nil {
		return nil, nil
	}
	switch {
	case h.allowed.has(id):
		if m.Joins && h.swarm.mayInvite() == nil {
			if granted, err = h.swarm.grant(id, false); err == nil {
				h.log.Info("a new member came, which is let in by its ID", "peer", id, "inviter", h.id)
			}
			return granted, err
		}
		return nil, nil
	case sameKey:
		return nil, fmt.Errorf("%w: %w", ErrNotInvited, proof)
	case m.Joins || len(m.Key) == 0:
		return nil, fmt.Errorf(
			"%w: %s was not invited to the swarm %q: ask a member for an invitation, or to allow this peer ID",
			ErrNotInvited, id, mine.name)
	}
	return nil, fmt.Errorf("%w: the swarm %q here has another key than yours of that name", ErrWrongSwarm, mine.name)
}

func (h *admission) redeem(id peer.ID, secret []byte) ([]certificate, error) {
	if err := h.swarm.mayInvite(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvitation, err)
	}
	t, err := h.tickets.redeem(secret, id, time.Now())
	if err != nil {
		return nil, err
	}
	return h.swarm.grant(id, t.MayInvite)
}

var errOpenSwarm = errors.New("it is in an open swarm, which proves nothing")

// accept decides whether the one who was dialed, and has let this peer in, is a member too; and makes this peer a
// member if it was granted that.
func (h *admission) accept(id peer.ID, said *hello, w *welcome, join *intent) error {
	if err := h.compatible(w.Hello); err != nil {
		return err
	}
	theirs := w.Hello
	if said.Swarm != "" && theirs.Swarm != said.Swarm {
		return fmt.Errorf("%w: there is the swarm %q, not %q", ErrWrongSwarm, theirs.Swarm, said.Swarm)
	}
	if h.cfg.Trust == TrustOpen && len(w.Granted) == 0 {
		if said.Swarm == "" {
			return h.enter(theirs.Swarm, nil, nil)
		}
		return nil
	}
	if said.Joins && len(w.Granted) > 0 {
		return h.become(id, w, join)
	}
	mine := h.swarm.standing()
	proof := error(errNoProof)
	if bytes.Equal(theirs.Key, mine.public) {
		if proof = verifyChain(theirs.Chain, mine.public, id, h.roll.outBelow); proof == nil {
			return nil
		}
	}
	switch {
	case h.allowed.has(id) && !h.roll.out(id):
		return nil
	case len(theirs.Key) == 0:
		return fmt.Errorf("%w: %w: start with trust %q to join it", ErrNotInvited, errOpenSwarm, TrustOpen)
	case !bytes.Equal(theirs.Key, mine.public):
		return fmt.Errorf("%w: it let this peer in, but its swarm %q has another key", ErrWrongSwarm, theirs.Swarm)
	}
	return fmt.Errorf("%w: %w", ErrNotInvited, proof)
}

// become makes this peer a member by the certificate it was granted. join is not nil: only a peer that has one says
// that it would join.
func (h *admission) become(id peer.ID, w *welcome, join *intent) error {
	theirs := w.Hello
	if v := join.invitation; v != nil && !bytes.Equal(v.Key, theirs.Key) {
		return fmt.Errorf("%w: the invitation is for one with another key", ErrWrongSwarm)
	}
	if err := verifyChain(theirs.Chain, theirs.Key, id, h.roll.outBelow); err != nil {
		return fmt.Errorf("%w: the peer that would let this one in is no member: %w", ErrNotInvited, err)
	}
	if err := verifyChain(w.Granted, theirs.Key, h.id, h.roll.outBelow); err != nil {
		return fmt.Errorf("%w: the certificate from there is worthless: %w", ErrHello, err)
	}
	if h.memberOf(theirs.Key) {
		return h.enter(theirs.Swarm, theirs.Key, w.Granted) // with more rights
	}
	if err := h.enter(theirs.Swarm, theirs.Key, w.Granted); err != nil {
		return err
	}
	h.log.Info("this peer is a member now", "swarm", theirs.Swarm, "inviter", id)
	return nil
}

// enter goes over to another swarm.
func (h *admission) enter(name string, public ed25519.PublicKey, chain []certificate) error {
	if err := h.swarm.adopt(name, public, chain); err != nil {
		return err
	}
	h.roll.banned.only(public)
	select {
	case h.moved <- struct{}{}:
	default:
	}
	return nil
}

// compatible compares the versions of the protocol.
func (h *admission) compatible(m *hello) error {
	if m.Oldest > m.Protocol {
		return fmt.Errorf("%w: impossible versions", ErrHello)
	}
	switch {
	case m.Oldest > h.cfg.Protocol:
		return fmt.Errorf("%w: %d at one end and at least %d wanted at the other: update the former", ErrVersion,
			h.cfg.Protocol, m.Oldest)
	case m.Protocol < h.cfg.OldestProtocol:
		return fmt.Errorf("%w: %d at one end and at least %d wanted at the other: update the former", ErrVersion,
			m.Protocol, h.cfg.OldestProtocol)
	}
	return nil
}
