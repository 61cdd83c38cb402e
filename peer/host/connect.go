package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/sec"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

const maxAddress = 1024 // letters of an address

// ParseAddr reads a full multiaddr: where a peer is and who it is.
func ParseAddr(text string) (peer.AddrInfo, error) {
	const example = "an address looks like /ip4/192.0.2.1/udp/4001/quic-v1/p2p/12D3Koo..."
	if len(text) > maxAddress {
		return peer.AddrInfo{}, fmt.Errorf("%w: %d letters; %s", ErrAddress, len(text), example)
	}
	if IsInvitation(text) {
		return peer.AddrInfo{}, fmt.Errorf("%w: %q is an invitation", ErrAddress, Mask(text))
	}
	a, err := parseMultiaddr(text)
	if err != nil {
		return peer.AddrInfo{}, fmt.Errorf("%w: %w; %s", ErrAddress, err, example)
	}
	info, err := peer.AddrInfoFromP2pAddr(a)
	if err != nil {
		return peer.AddrInfo{}, fmt.Errorf("%w: %q does not end in /p2p/ and the peer's ID; %s", ErrAddress, text,
			example)
	}
	if _, _, err := identity([]byte(info.ID)); err != nil {
		return peer.AddrInfo{}, fmt.Errorf("%w: %q: %w", ErrAddress, text, err)
	}
	if len(info.Addrs) == 0 {
		return peer.AddrInfo{}, fmt.Errorf("%w: %q says who but not where; %s", ErrAddress, text, example)
	}
	return *info, nil
}

// parseMultiaddr reads a multiaddr; its errors quote the text once.
func parseMultiaddr(text string) (ma.Multiaddr, error) {
	a, err := ma.NewMultiaddr(strings.TrimSpace(text))
	if err == nil {
		return a, nil
	}
	why, quoted := err.Error(), strings.TrimRight(strings.TrimSpace(text), "/")
	for _, doing := range []string{"parse", "validate"} {
		why = strings.TrimPrefix(why, fmt.Sprintf("failed to %s multiaddr %q: ", doing, quoted))
	}
	return nil, fmt.Errorf("%q: %s", text, why)
}

// Connect connects to the peer with a full multiaddr and waits until each has admitted the other, or until
// ctx ends; without a deadline 15 seconds. A peer that has met nobody yet becomes a member of the other's
// swarm, if it is in the allow-list there. The error wraps one of this package and says what to do.
func (h *Host) Connect(ctx context.Context, addr string) error {
	info, err := ParseAddr(addr)
	if err != nil {
		return err
	}
	return h.connect(ctx, info, &intent{})
}

// Join makes this peer a member by an invitation line, or connects to an address. It may be called again with
// a line that was used, or has expired since: a member just connects. A member gets by a fresh line what it
// says beyond what it has: the right to invite, more time. If the inviter cannot be reached the error wraps
// ErrUnreachable.
func (h *Host) Join(ctx context.Context, lineOrAddr string) error {
	if !IsInvitation(lineOrAddr) {
		return h.Connect(ctx, lineOrAddr)
	}
	v, err := ParseInvitation(lineOrAddr)
	if err != nil {
		return err
	}
	if err := h.admission.checkInvitation(v, time.Now()); err != nil {
		return err
	}
	in := &intent{invitation: v}
	if time.Now().After(v.Expires) {
		in.invitation = nil // a member that starts again with the line it once joined by
	}
	info := peer.AddrInfo{ID: v.Inviter, Addrs: v.infos}
	return h.connect(ctx, info, in)
}

// memberOf says whether this peer is a member of the swarm with a key already.
func (h *admission) memberOf(public ed25519.PublicKey) bool {
	s := h.swarm.standing()
	return s.settled && bytes.Equal(s.public, public) &&
		verifyChain(s.chain, s.public, h.id, h.roll.outBelow) == nil
}

// checkInvitation says why an invitation is of no use to this peer, before anybody else is asked.
func (h *admission) checkInvitation(v *Invitation, now time.Time) error {
	if v.Inviter == h.id {
		return fmt.Errorf("%w: this peer made the invitation", ErrSelf)
	}
	if err := h.swarm.canAdopt(v.Key); err != nil {
		return err
	}
	if h.cfg.Swarm != "" && h.cfg.Swarm != v.Swarm {
		return fmt.Errorf(
			"%w: the invitation is to the swarm %q, and this peer is told to be in %q: leave the name out",
			ErrWrongSwarm, v.Swarm, h.cfg.Swarm)
	}
	if !h.memberOf(v.Key) && now.After(v.Expires) {
		return fmt.Errorf("%w: it expired on %s: ask for a new one", ErrInvitation,
			v.Expires.UTC().Format(time.DateTime+" MST"))
	}
	return nil
}

func (h *Host) connect(ctx context.Context, info peer.AddrInfo, in *intent) error {
	if info.ID == h.id {
		return fmt.Errorf("%w: %s", ErrSelf, info.ID)
	}
	if h.ctx.Err() != nil {
		return ErrClosed
	}
	if h.roll.out(info.ID) {
		return fmt.Errorf("%w: the membership of %s was revoked here", ErrNotInvited, info.ID)
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	}
	defer h.intents.note(info.ID, in)()
	var reason *handshakeError // the first, of several tries, to say more than that the other hung up
	for try := 1; ; try++ {
		err := h.meet(ctx, info)
		if err == nil && in.invitation != nil && !in.answered() {
			err = h.greeter.again(ctx, info.ID) // they were connected before, without the invitation
		}
		var failed *handshakeError
		if !errors.As(err, &failed) {
			if reason == nil || err == nil {
				return err
			}
			failed = reason // and not that it could not be dialed again
		}
		if reason == nil && !errors.Is(failed, ErrUnreachable) {
			reason = failed
		}
		if why := in.refusal(); why != nil {
			failed.err = why // and not what a crossing handshake failed for
		} else if reason != nil {
			failed = reason // and not that the connection of the try before was still being closed
		}
		if in.answered() || try == intentTries || ctx.Err() != nil {
			failed.err = h.admission.forNewcomer(in, failed.err)
			return failed
		}
	}
}

// meet connects and waits for the handshake.
func (h *Host) meet(ctx context.Context, info peer.AddrInfo) error {
	if s, ok := h.inner.Network().(*libp2pswarm.Swarm); ok {
		s.Backoff().Clear(info.ID) // the user wants it now
	}
	h.inner.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	start := time.Now()
	if err := dial(ctx, h.inner, peer.AddrInfo{ID: info.ID}); err != nil {
		err = explainDial(info, err)
		h.inner.Peerstore().SetAddrs(info.ID, info.Addrs, 0) // forget them: the next attempt may be at others
		return err
	}
	if met, err := h.visitors.awaitMet(ctx, info.ID, start); err != nil {
		return &handshakeError{info.ID, place(info) + reached(info, met), err}
	}
	return nil
}

// reached says where a peer was met, if that is none of the addresses that were asked for.
func reached(info peer.AddrInfo, met []meeting) (says string) {
	for _, m := range met {
		switch {
		case slices.ContainsFunc(info.Addrs, m.at.Equal):
			return ""
		case m.dialed:
			says = ", reached at " + m.at.String()
		case says == "":
			says = ", which had connected from " + m.at.String()
		}
	}
	return says
}

// A handshakeError says with whom a handshake failed.
type handshakeError struct {
	id    peer.ID
	place string
	err   error
}

func (e *handshakeError) Error() string { return fmt.Sprintf("%s at %s: %v", e.id, e.place, e.err) }
func (e *handshakeError) Unwrap() error { return e.err }

// again repeats the handshake with a peer that is in already.
func (g *greeter) again(ctx context.Context, id peer.ID) error {
	h := g.host
	v := h.visitors.find(id)
	said, err := g.greet(ctx, id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if v == nil || !h.visitors.admit(v, said, nil) {
		return fmt.Errorf("%w: the connection with %s ended", ErrUnreachable, id)
	}
	return nil
}

func place(info peer.AddrInfo) string {
	if len(info.Addrs) == 0 {
		return "no known address"
	}
	return info.Addrs[0].String()
}

// explainDial turns libp2p's error for a failed dial into one of ours.
func explainDial(info peer.AddrInfo, all error) error {
	where, err := dialError(info, all)
	var other sec.ErrPeerIDMismatch
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("%w: at %s is %s, not %s: check the address", ErrWrongPeer, where, other.Actual, info.ID)
	case errors.Is(all, libp2pswarm.ErrDialToSelf):
		return fmt.Errorf("%w: %s", ErrSelf, info.ID)
	case errors.Is(err, libp2pswarm.ErrNoTransport):
		return fmt.Errorf("%w: %s is for a transport that this peer does not have: QUIC and TCP it has", ErrAddress,
			where)
	case errors.Is(err, network.ErrResourceLimitExceeded):
		return fmt.Errorf("%w: this peer has no room for a connection with %s", ErrBusy, info.ID)
	case errors.Is(err, libp2pswarm.ErrNoGoodAddresses) && slices.ContainsFunc(info.Addrs, hasName):
		return fmt.Errorf(
			"%s at %s %w: %w: the name has no address that this peer could find: check how it is written", info.ID,
			where, ErrUnreachable, err)
	}
	return fmt.Errorf("%s at %s %w: %w: check that it runs and that its port is open", info.ID, where,
		ErrUnreachable, err)
}

// dialError picks out of libp2p's list of attempts at all known addresses of a peer one at those that were
// asked for, or says which it is at.
func dialError(info peer.AddrInfo, all error) (where string, err error) {
	where = place(info)
	var dial *libp2pswarm.DialError
	if !errors.As(all, &dial) || len(dial.DialErrors) == 0 {
		return where, all
	}
	for _, e := range dial.DialErrors {
		if slices.ContainsFunc(info.Addrs, e.Address.Equal) {
			return e.Address.String(), e.Cause
		}
	}
	e := dial.DialErrors[0]
	return where + ", tried at " + e.Address.String() + ",", e.Cause
}

// hasName says whether an address has a name that must be looked up.
func hasName(a ma.Multiaddr) bool {
	return slices.ContainsFunc(a, func(c ma.Component) bool {
		return slices.Contains([]int{ma.P_DNS, ma.P_DNS4, ma.P_DNS6, ma.P_DNSADDR}, c.Protocol().Code)
	})
}
