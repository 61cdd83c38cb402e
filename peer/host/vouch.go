package host

import (
	"fmt"
	"net"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/internal/wire"
)

// MaxProof bounds what Proof gives, in bytes: maxChain certificates.
const MaxProof = 2 << 10

// Proof is this peer's proof of membership, for members that it is not connected to; nil if there is none, as in
// an open swarm.
func (h *Host) Proof() []byte {
	chain := h.swarm.standing().chain
	if h.cfg.Trust == TrustOpen || len(chain) == 0 {
		return nil
	}
	b, err := wire.Control().Encode(chain)
	if err != nil || len(b) > MaxProof {
		h.log.Error("the proof of membership cannot be told", "bytes", len(b), "error", err)
		return nil
	}
	return b
}

// decodeProof reads one from anywhere; none is an empty chain.
func decodeProof(proof []byte) (chain []certificate, err error) {
	if len(proof) > MaxProof {
		return nil, fmt.Errorf("a proof of %d bytes", len(proof))
	}
	if len(proof) > 0 {
		err = wire.Control().Decode(proof, &chain)
	}
	return chain, err
}

// Vouch says whether a peer that others tell of is a member: whether it is admitted here, or its proof holds. By
// are the members that it is one by, the swarm's founder not among them: whoever may invite can make as many as it
// likes, so what is kept for those of one must be bounded. In an open swarm everybody is a member.
func (h *Host) Vouch(id peer.ID, proof []byte) (by []peer.ID, err error) {
	switch {
	case h.roll.out(id):
		return nil, errOut(id)
	case h.cfg.Trust == TrustOpen:
		return nil, nil
	}
	chain, err := decodeProof(proof)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotInvited, err)
	}
	if err = verifyChain(chain, h.swarm.standing().public, id, h.roll.outBelow); err != nil {
		if h.Admitted(id) {
			return nil, nil // by the allow-list
		}
		return nil, fmt.Errorf("%w: %w", ErrNotInvited, err)
	}
	h.roll.lines.note(id, chain, h.book.met)
	for _, c := range chain[min(2, len(chain)):] { // the first is the founder's, and the second by the founder
		by = append(by, peer.ID(c.Issuer))
	}
	return by, nil
}

// StillMember says whether a peer is a member by what it has shown before, though it may be away.
func (r *Roll) StillMember(id peer.ID) bool {
	h := r.host
	if r.out(id) || h.cfg.Trust == TrustOpen || h.allowed.has(id) || h.Admitted(id) {
		return !r.out(id)
	}
	return verifyChain(r.lines.of(id), h.swarm.standing().public, id, r.outBelow) == nil
}

// mostPorts is at how many ports of one machine a peer may be said to be.
const mostPorts = 4

// privateBlocks are the address blocks that mean another machine in every network.
func privateBlocks() (blocks []net.IPNet) {
	for _, text := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"} {
		_, block, err := net.ParseCIDR(text)
		if err != nil {
			panic(err) // the texts are above
		}
		blocks = append(blocks, *block)
	}
	return blocks
}

func privateBlock(ip net.IP) (block string, private bool) {
	for _, b := range privateBlocks() {
		if b.Contains(ip) {
			return b.String(), true
		}
	}
	return "", false
}

// Dialable leaves of the addresses that others tell of a peer those which may be dialed, maxPeerAddrs at most, so that
// nobody can have this peer try the doors of its own machine or network. Via is where the link is that they came over,
// nil if that is not known: loopback addresses mean something over loopback only; private ones in the network where
// both ends of the link are; link-local ones, groups and names nothing.
func (h *Host) Dialable(addrs []ma.Multiaddr, via ma.Multiaddr) []ma.Multiaddr {
	ports := map[string]int{}
	own := ownAddrs()
	left := slices.DeleteFunc(slices.Clone(addrs), func(a ma.Multiaddr) bool {
		ip, err := manet.ToIP(a)
		if err != nil || hasName(a) || !reaches(ip, via, own, h.inner.Addrs) {
			return true
		}
		ports[ip.String()]++
		return ports[ip.String()] > mostPorts
	})
	return left[:min(len(left), maxPeerAddrs)]
}

// reaches says whether an address told over a link means the same machine to both its ends.
func reaches(ip net.IP, via ma.Multiaddr, own []net.IP, listens func() []ma.Multiaddr) bool {
	if ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip.Equal(net.IPv4bcast) {
		return false
	}
	if ip.IsLoopback() {
		if via == nil {
			return !slices.ContainsFunc(listens(), func(a ma.Multiaddr) bool { return !manet.IsIPLoopback(a) })
		}
		return manet.IsIPLoopback(via)
	}
	block, private := privateBlock(ip)
	if !private {
		return true
	}
	if via != nil && !manet.IsIPLoopback(via) {
		from, err := manet.ToIP(via)
		if err != nil {
			return false
		}
		if theirs, _ := privateBlock(from); theirs != block {
			return false
		}
	}
	return slices.ContainsFunc(own, func(mine net.IP) bool { b, _ := privateBlock(mine); return b == block })
}

// ownAddrs are the addresses of this machine.
func ownAddrs() (own []net.IP) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			own = append(own, n.IP)
		}
	}
	return own
}
