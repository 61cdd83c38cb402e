package sim

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// A fault's event carries its number, and in its worker field whether it begins or ends, or which joiner of a flood it is.
const (
	faultBegins = 0
	faultEnds   = 1
	faultJoins  = 2
)

// maxGossip is the longest that a change of membership takes to be heard of by a peer.
const maxGossip = int64(500 * time.Millisecond)

func (w *world) scheduleFaults() error {
	for i := range w.cfg.Faults {
		f := &w.cfg.Faults[i]
		if err := f.check(len(w.peers), len(w.cfg.Network.Sizes())); err != nil {
			return err
		}
		if f.Peer == 0 && (f.Kind == Crash || f.Kind == Restart || f.Kind == Leave) {
			return fmt.Errorf("%w: fault %v: peer 0 has the root job; its loss is not yet survived", ErrConfig, f.Kind)
		}
		w.postFault(f.At, i, faultBegins)
		if f.For > 0 {
			w.postFault(f.At+f.For, i, faultEnds)
		}
		if f.Kind == JoinFlood {
			for range int(f.Amount) {
				w.postFault(f.At+time.Duration(w.random.Int64N(int64(f.For)+1)), i, faultJoins)
			}
		}
	}
	return nil
}

func (w *world) postFault(at time.Duration, number, phase int) {
	w.queue.post(event{at: int64(at), what: faultDue, peer: -1, worker: int32(phase), number: uint64(number)})
}

// fault lets a fault begin, or end.
func (w *world) fault(number int, phase int32) {
	f := &w.cfg.Faults[number]
	if phase != faultJoins {
		w.trace.line(w.now, "    ", "fault %s: %v", [...]string{"begins", "ends"}[phase], f)
	}
	switch f.Kind {
	case Crash, Restart, Stall, Slow, Leave, ClusterLeave, Join, JoinFlood:
		w.strikePeer(f, phase)
	case ClockForward, ClockBackward, ClockDrift:
		w.strikeClock(f, phase)
	case LinkDown, LinkSlow, GatewayLoss, Burst:
		w.strikeLink(f, phase)
	default:
		w.weather.change(f, phase == faultBegins)
	}
}

func (w *world) strikePeer(f *Fault, phase int32) {
	p := w.peers[f.Peer]
	switch f.Kind {
	case Crash:
		w.crash(p)
	case Restart:
		if phase == faultBegins {
			w.crash(p)
		} else if !p.alive {
			w.revive(p)
		}
	case Stall:
		if phase == faultBegins && p.alive {
			p.stall(w.now + int64(f.For))
		}
	case Slow:
		if phase == faultBegins {
			p.setSpeed(p.speed * f.Amount)
		} else {
			p.setSpeed(p.speed / f.Amount)
		}
	case Leave:
		w.leave(p)
	case ClusterLeave:
		for _, p := range w.peers {
			if phase == faultBegins && p.cluster == f.Cluster && p.number != 0 {
				w.leave(p)
			}
		}
	case Join:
		if phase == faultBegins {
			w.join(f.Cluster)
		}
	case JoinFlood:
		if phase == faultJoins {
			w.join(len(w.peers) % len(w.cfg.Network.Sizes()))
		}
	}
}

// crash ends a peer's life at once. The others are not told: silence is all they notice.
func (w *world) crash(p *peer) {
	if !p.alive {
		return
	}
	p.stop()
	w.joined = without(w.joined, p.id)
	w.announce()
}

// leave lets a peer say goodbye. Its last messages are sent; it runs nothing any more.
func (w *world) leave(p *peer) {
	if !p.alive {
		return
	}
	p.absorb(p.core.Leave(p.local(), 0))
	p.stop()
	w.joined = without(w.joined, p.id)
	w.announce()
}

// revive starts a crashed peer again.
func (w *world) revive(p *peer) {
	w.joined = append(w.joined, p.member())
	w.announce()
	w.begin(p)
}

// join adds a new peer.
func (w *world) join(cluster int) {
	p := w.addPeer(cluster)
	w.joined = append(w.joined, p.member())
	w.announce()
	w.begin(p)
	w.trace.line(w.now, p.id, "joins cluster %s", clusterID(cluster))
}

func (w *world) begin(p *peer) {
	p.membersKnown = w.members
	if err := p.start(); err != nil {
		panic(err) // the same configuration was good for the first peers
	}
	w.queue.post(event{at: w.now, what: peerStarts, peer: p.number})
}

// announce makes a new membership and lets every peer hear of it, each at its own time.
func (w *world) announce() {
	w.members = steal.NewMembers(w.joined)
	for _, p := range w.peers {
		if p.alive {
			w.queue.post(event{at: w.now + w.random.Int64N(maxGossip), what: membersHeard, peer: p.number})
		}
	}
}

func without(members []steal.Member, id steal.PeerID) []steal.Member {
	kept := make([]steal.Member, 0, len(members))
	for _, m := range members {
		if m.ID != id {
			kept = append(kept, m)
		}
	}
	return kept
}

func (w *world) strikeClock(f *Fault, phase int32) {
	p := w.peers[f.Peer]
	by := int64(f.Amount * 1e9)
	switch {
	case f.Kind == ClockDrift && phase == faultBegins:
		p.clock.drift(w.now, f.Amount)
	case f.Kind == ClockDrift:
		p.clock.drift(w.now, 1)
	case phase == faultEnds: // a jump has no end
		return
	case f.Kind == ClockForward:
		p.clock.jump(w.now, by)
	case f.Kind == ClockBackward:
		p.clock.jump(w.now, -by)
	}
	if p.alive {
		p.wind() // the alarm was set for another time
	}
}

func (w *world) strikeLink(f *Fault, phase int32) {
	links := w.net.Links()
	begins := phase == faultBegins
	both := func(a, b int, do func(from, to int)) { do(a, b); do(b, a) }
	switch f.Kind {
	case LinkDown, GatewayLoss:
		for other := range links.Clusters() {
			if other == f.Cluster || f.Kind == LinkDown && other != f.Other {
				continue
			}
			if begins {
				both(f.Cluster, other, links.Remove)
			} else {
				both(f.Cluster, other, links.Restore)
			}
		}
	case LinkSlow:
		factor := f.Amount
		if !begins {
			factor = 1 / factor
		}
		both(f.Cluster, f.Other, func(from, to int) {
			if c, exists := links.Conditions(from, to); exists {
				links.Set(from, to, wan.Conditions{
					Bandwidth: max(1, c.Bandwidth/factor), Latency: time.Duration(float64(c.Latency) * factor),
				})
			}
		})
	case Burst:
		if !begins {
			links.Bound(f.Cluster, f.Other, 0)
			return
		}
		links.Bound(f.Cluster, f.Other, int(f.Amount))
		// Other traffic only has to be on the link; nobody receives it.
		_, _, _ = w.net.Forward(time.Duration(w.now), f.Cluster, f.Other, int(f.Amount)+1)
	}
}
