package steal

import (
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// view is what the policy is shown of a core: see policy.View.
type view struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
	victim   *victim
	thief    *thief

	ranks         bool            // the policy is shown all members
	known, around *Members        // all members, and what the policy is shown of them
	flights       []policy.Flight // of the last call
	asks          []policy.Ask
}

func (v *view) Now() time.Duration { return v.shared.now }

func (v *view) Self() PeerID { return v.shared.self.Peer }

func (v *view) Cluster() ClusterID { return v.shared.cluster }

func (v *view) Rand() Rand { return v.shared.rand }

func (v *view) Members() *Members {
	if v.known != v.shared.members {
		v.known, v.around = v.shared.members, v.shared.members
		if !v.ranks {
			v.around = v.known.Around(v.shared.self.Peer, v.shared.cluster)
		}
	}
	return v.around
}

func (v *view) MaxPatience() time.Duration { return v.shared.cfg.MaxPatience }

func (v *view) Workers() int { return v.segments.ready().Workers }

func (v *view) Idle() int { return v.segments.wanting() }

func (v *view) Queued() int { return v.segments.queued() }

func (v *view) Lent() int { return v.leases.n }

func (v *view) Failures() int { return v.thief.failures }

func (v *view) Flights() []policy.Flight {
	v.flights = v.flights[:0]
	for i := range v.thief.flights {
		v.flights = append(v.flights, v.thief.flights[i].Flight)
	}
	return v.flights
}

func (v *view) InFlight() (local, wide int) {
	for i := range v.thief.flights {
		if v.thief.flights[i].Wide {
			wide++
		} else {
			local++
		}
	}
	return local, wide
}

func (v *view) Asks() []policy.Ask {
	v.asks = v.asks[:0]
	for i := range v.victim.asks {
		v.asks = append(v.asks, v.victim.asks[i].Ask)
	}
	return v.asks
}

func (v *view) Link(id ClusterID) policy.Link { return v.shared.links.get(id) }

func (v *view) BestRate() float64 { best, _ := v.shared.links.most(v.shared.cluster); return best }

func (v *view) OutcomeBytes() float64 { _, most := v.shared.links.most(v.shared.cluster); return most }

func (v *view) Peer(id PeerID) policy.Acquaintance {
	if p := v.partners.find(id); p != nil {
		return p.known
	}
	return policy.Acquaintance{}
}

func (v *view) Usable(id PeerID) bool {
	if !v.shared.isOther(id) || v.thief.flightTo(id) >= 0 {
		return false
	}
	p := v.partners.find(id)
	return p == nil || p.mayGive(v.shared.now) && (!p.lost && !(p.mute && p.inc == 0) || v.partners.forgiven(p))
}
