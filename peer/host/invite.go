package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	defaultInvitationTime = 7 * 24 * time.Hour
	maxInvitationTime     = 366 * 24 * time.Hour
)

// InviteOptions says what an invitation is good for.
type InviteOptions struct {
	Uses      int           // how many peers may join by it, 1 to 1000; 0 means 1
	For       time.Duration // how long it can be used, up to 366 days; 0 means 7 days
	MayInvite bool          // the peers that join by it may invite too
}

// Invite makes an invitation and returns the line that a volunteer gives to Join. This peer must be reachable
// when it is used, not afterwards. Errors wrap ErrMayNotInvite, ErrBusy or ErrState.
func (h *Host) Invite(ctx context.Context, o InviteOptions) (line string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if h.cfg.Trust == TrustOpen {
		return "", fmt.Errorf("%w: the swarm %q is open: whoever connects to an address of this peer is in",
			ErrMayNotInvite, h.SwarmName())
	}
	if err := h.swarm.mayInvite(); err != nil {
		return "", err
	}
	if o.Uses == 0 {
		o.Uses = 1
	}
	if o.For == 0 {
		o.For = defaultInvitationTime
	}
	if o.Uses < 1 || o.Uses > maxUses {
		return "", fmt.Errorf("%w: %d uses: 1 to %d are possible", ErrInvitation, o.Uses, maxUses)
	}
	if o.For < 0 || o.For > maxInvitationTime {
		return "", fmt.Errorf("%w: it could be used for %v: up to %v are possible", ErrInvitation, o.For,
			maxInvitationTime)
	}
	expires := time.Now().Add(o.For)
	secret, err := h.tickets.issue(ticket{Expires: expires.Unix(), Uses: o.Uses, MayInvite: o.MayInvite})
	if err != nil {
		return "", err
	}
	s := h.swarm.standing()
	v := &Invitation{Swarm: s.name, Key: s.public, Inviter: h.id, Expires: expires, secret: secret,
		infos: bestAddrs(h.inner.Addrs(), maxLineAddrs)}
	return v.line()
}

// bestAddrs picks the addresses that are most useful to somebody elsewhere.
func bestAddrs(addrs []ma.Multiaddr, n int) []ma.Multiaddr {
	rank := func(a ma.Multiaddr) int {
		switch {
		case manet.IsPublicAddr(a):
			return 0
		case manet.IsIPLoopback(a):
			return 3
		case manet.IsIP6LinkLocal(a):
			return 2
		}
		return 1
	}
	best := slices.Clone(addrs)
	slices.SortStableFunc(best, func(a, b ma.Multiaddr) int { return rank(a) - rank(b) })
	return best[:min(n, len(best))]
}

// Allow lets a peer in by its ID, from now on and after restarts. If this peer may invite, it makes the other
// a member of the swarm when that one connects; else the other is let in here only.
func (h *Host) Allow(id peer.ID) error {
	if _, _, err := identity([]byte(id)); err != nil {
		return fmt.Errorf("%w: %w", ErrAddress, err)
	}
	if id == h.ID() {
		return ErrSelf
	}
	if err := h.revoked.set(id, false); err != nil {
		return err
	}
	if err := h.allowed.set(id, true); err != nil {
		return err
	}
	return h.roll.banish(id, true)
}

// Revoke puts a peer out and keeps it out, and all who became members by its invitations: of this peer, and, if this
// one is the founder or they are members by it, of all (Roll.Own has what is to be told). Allow takes it back.
func (h *Host) Revoke(id peer.ID) error { return h.roll.putOut(id, true, "") }
