package host

import "github.com/libp2p/go-libp2p/core/peer"

// Members are the peers that are admitted now.
func (h *Host) Members() []peer.ID { return h.visitors.admitted() }

// Life is the number of a peer's start, if it is admitted in this one; else 0.
func (h *Host) Life(id peer.ID) uint64 {
	if said := h.visitors.get(id); said != nil {
		return said.Incarnation
	}
	return 0
}
