package sim

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/wan"
)

// A fault's event carries its number, and in its worker field whether it begins or ends, or which joiner of a
// flood it is.
const (
	faultBegins = 0
	faultEnds   = 1
	faultJoins  = 2
)

// maxGossip is the longest that a change of membership takes to be heard of by a peer.
const maxGossip = int64(500 * time.Millisecond)

// harm is what is done to a world: faults begin, and end.
type harm struct {
	world   *world
	weather *weather
	links   *wan.Model
	calm    calm
	struck  map[int][]*peer      // by fault: whom it killed and who comes back
	slow    map[[2]int][]float64 // by link: by what it is slowed down at the moment
}

func (h *harm) schedule() error {
	if o := h.world.cfg.Outcast; o != nil {
		h.world.queue.post(event{at: int64(o.At), what: sharedDue, peer: -1, do: h.putOut})
	}
	for i := range h.world.cfg.Faults {
		f := &h.world.cfg.Faults[i]
		if err := f.check(len(h.world.peers), len(h.world.cfg.Network.Sizes())); err != nil {
			return err
		}
		h.postFault(f.At, i, faultBegins)
		if f.For > 0 {
			h.postFault(f.At+f.For, i, faultEnds)
		}
		if f.Kind == JoinFlood {
			for range int(f.Amount) {
				h.postFault(f.At+time.Duration(h.world.random.Int64N(int64(f.For)+1)), i, faultJoins)
			}
		}
	}
	return nil
}

func (h *harm) postFault(at time.Duration, number, phase int) {
	h.world.queue.post(event{at: int64(at), what: faultDue, peer: -1, worker: int32(phase), number: uint64(number)})
}

// fault lets a fault begin, or end.
func (h *harm) fault(number int, phase int32) {
	f := &h.world.cfg.Faults[number]
	if phase != faultJoins {
		h.world.trace.line(h.world.now, "    ", "fault %s: %v", [...]string{"begins", "ends"}[phase], f)
		if f.Kind.storms() {
			h.calm.storms += 1 - 2*int(phase)
		}
	}
	switch f.Kind {
	case Crash, Restart, Return, ClusterCrash, AllButOne, Blackout, MasterCrash:
		h.strikeLives(f, number, phase)
	case MasterLeave, Leave, ClusterLeave, Join, JoinFlood, Carry, Cancel:
		h.strikeMembers(f, phase)
	case Stall, MasterStall, Slow, Pause:
		h.strikeSpeed(f, phase)
	case ClockForward, ClockBackward, ClockDrift:
		h.strikeClock(f, phase)
	case LinkDown, LinkSlow, GatewayLoss, Burst:
		h.strikeLink(f, phase)
	default:
		h.weather.change(f, phase == faultBegins)
	}
}

// strikeSpeed slows peers down, freezes them, or leaves them no core.
func (h *harm) strikeSpeed(f *Fault, phase int32) {
	p := h.world.peers[f.Peer]
	switch {
	case f.Kind == Slow && phase == faultBegins:
		p.setSpeed(p.speed * f.Amount)
	case f.Kind == Slow:
		p.setSpeed(p.speed / f.Amount)
	case f.Kind == Pause && phase == faultBegins:
		h.rest(p, 1)
	case f.Kind == Pause:
		h.rest(p, -1)
	case phase == faultBegins:
		if f.Kind == MasterStall {
			p = h.world.master()
		}
		if p != nil && p.alive {
			p.stall(h.world.now + int64(f.For))
		}
	}
}

func (h *harm) strikeClock(f *Fault, phase int32) {
	p := h.world.peers[f.Peer]
	by := int64(f.Amount * 1e9)
	switch {
	case f.Kind == ClockDrift && phase == faultBegins:
		p.clock.drift(h.world.now, f.Amount)
	case f.Kind == ClockDrift:
		p.clock.drift(h.world.now, 1)
	case phase == faultEnds: // a jump has no end
		return
	case f.Kind == ClockForward:
		p.clock.jump(h.world.now, by)
	case f.Kind == ClockBackward:
		p.clock.jump(h.world.now, -by)
		h.calm.since = max(h.calm.since, p.clock.when(p.clock.most)) // its core stands still for so long
	}
	if p.alive {
		p.wind() // the alarm was set for another time
	}
}

func (h *harm) strikeLink(f *Fault, phase int32) {
	links := h.links.Links()
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
		link := [2]int{min(f.Cluster, f.Other), max(f.Cluster, f.Other)}
		if of := h.slow[link]; begins {
			h.slow[link] = append(of, f.Amount)
		} else if i := slices.Index(of, f.Amount); i >= 0 {
			h.slow[link] = slices.Delete(of, i, i+1)
		}
		factor := 1.0
		for _, x := range h.slow[link] { // several at a time multiply
			factor *= x
		}
		both(f.Cluster, f.Other, func(from, to int) { links.Scale(from, to, 1/factor, factor) })
	case Burst:
		if !begins {
			links.Bound(f.Cluster, f.Other, 0)
			return
		}
		links.Bound(f.Cluster, f.Other, int(f.Amount))
		// Other traffic only has to be on the link; nobody receives it.
		_, _, _ = h.links.Forward(time.Duration(h.world.now), f.Cluster, f.Other, int(f.Amount)+1)
	}
}
