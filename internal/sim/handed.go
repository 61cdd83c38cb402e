package sim

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// In some runs that share, the constants are not made by the root: its argument names them, and who handed the run in
// has them, on its disk.

const (
	// readFor is how long after its start the owner has read them.
	readFor = 20 * time.Millisecond
	// handedAgain is how often somebody looks whether anybody has them still, and hands them in again otherwise.
	handedAgain = time.Second
)

// given has a peer's driver know what the root's argument names.
func (s *sharer) given(cfg *driver.Config) {
	if s == nil || !s.Given {
		return
	}
	cfg.Argument, cfg.Owner = s.constants, sharedobj.PeerID(firstPeer)
	cfg.Holds = slices.Contains(s.of.world.plan.Deputies, s.of.id)
	if s.of.number == 0 {
		s.of.world.handIn(s.of, s.of.world.now+int64(readFor))
	}
}

// handIn gives a peer what the root's argument names.
func (w *world) handIn(p *peer, at int64) {
	p.engine.sharing.later(p, at, func() {
		for _, d := range w.shared.constants {
			r := w.shared.kinds[d]
			p.driver.Lend(p.local(), &r, sharedobj.Build(w.shared.truth[d]))
		}
	})
}

// handedIn looks whether anybody has it.
func (w *world) handedIn() {
	if w.shared == nil || !w.shared.Given || w.rootDone {
		return
	}
	w.queue.post(event{at: w.now + int64(handedAgain), what: sharedDue, peer: -1, do: w.handedIn})
	var some *peer
	for _, p := range w.peers {
		if !stays(p) {
			continue
		}
		if some = p; !slices.ContainsFunc(w.shared.constants, func(d sharedobj.Digest) bool {
			return !p.engine.sharing.core.Has(d)
		}) {
			return
		}
	}
	if some != nil {
		w.handIn(some, w.now)
	}
}

// beginsRoot looks whether the root begins with all that its argument names.
func (s *sharer) beginsRoot(id steal.SegmentID) {
	names := &port.Names{}
	for _, d := range s.constants {
		if !s.has(d) {
			s.violate(guardHolds, "begins the root without %v", d)
		}
		names.Needs = append(names.Needs, sharedobj.Need{Digest: d})
	}
	s.running[id] = names
}
