package host

import "github.com/libp2p/go-libp2p"

// reachOptions are libp2p's options for being reached from outside.
func (h *Host) reachOptions() []libp2p.Option {
	return []libp2p.Option{libp2p.DisableRelay()}
}
