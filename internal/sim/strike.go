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
	*world
	weather *weather
	links   *wan.Model
	calm    calm
	struck  map[int][]*peer      // by fault: whom it killed and who comes back
	slow    map[[2]int][]float64 // by link: by what it is slowed down at the moment
}

func (w *harm) schedule() error {
	if o := w.cfg.Outcast; o != nil {
		w.queue.post(event{at: int64(o.At), what: sharedDue, peer: -1, do: w.putOut})
	}
	for i := range w.cfg.Faults {
		f := &w.cfg.Faults[i]
		if err := f.check(len(w.peers), len(w.cfg.Network.Sizes())); err != nil {
			return err
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

func (w *harm) postFault(at time.Duration, number, phase int) {
	w.queue.post(event{at: int64(at), what: faultDue, peer: -1, worker: int32(phase), number: uint64(number)})
}

// fault lets a fault begin, or end.
func (w *harm) fault(number int, phase int32) {
	f := &w.cfg.Faults[number]
	if phase != faultJoins {
		w.trace.line(w.now, "    ", "fault %s: %v", [...]string{"begins", "ends"}[phase], f)
		if f.Kind.storms() {
			w.calm.storms += 1 - 2*int(phase)
		}
	}
	switch f.Kind {
	case Crash, Restart, Return, ClusterCrash, AllButOne, Blackout, MasterCrash:
		w.strikeLives(f, number, phase)
	case MasterLeave, Leave, ClusterLeave, Join, JoinFlood, Carry, Cancel:
		w.strikeMembers(f, phase)
	case Stall, MasterStall, Slow, Pause:
		w.strikeSpeed(f, number, phase)
	case ClockForward, ClockBackward, ClockDrift:
		w.strikeClock(f, phase)
	case LinkDown, LinkSlow, GatewayLoss, Burst:
		w.strikeLink(f, phase)
	default:
		w.weather.change(f, phase == faultBegins)
	}
}

// strikeSpeed slows peers down, freezes them, or leaves them no core.
func (w *harm) strikeSpeed(f *Fault, number int, phase int32) {
	p := w.peers[f.Peer]
	switch {
	case f.Kind == Slow && phase == faultBegins:
		p.setSpeed(p.speed * f.Amount)
	case f.Kind == Slow:
		p.setSpeed(p.speed / f.Amount)
	case f.Kind == Pause && phase == faultBegins:
		w.rest(p, 1)
	case f.Kind == Pause:
		w.rest(p, -1)
	case phase == faultBegins:
		if f.Kind == MasterStall {
			p = w.master()
		}
		if p != nil && p.alive {
			p.stall(w.now + int64(f.For))
		}
	}
}

func (w *harm) strikeClock(f *Fault, phase int32) {
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
		w.calm.since = max(w.calm.since, p.clock.when(p.clock.most)) // its core stands still for so long
	}
	if p.alive {
		p.wind() // the alarm was set for another time
	}
}

func (w *harm) strikeLink(f *Fault, phase int32) {
	links := w.links.Links()
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
		if of := w.slow[link]; begins {
			w.slow[link] = append(of, f.Amount)
		} else if i := slices.Index(of, f.Amount); i >= 0 {
			w.slow[link] = slices.Delete(of, i, i+1)
		}
		factor := 1.0
		for _, x := range w.slow[link] { // several at a time multiply
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
		_, _, _ = w.links.Forward(time.Duration(w.now), f.Cluster, f.Other, int(f.Amount)+1)
	}
}
