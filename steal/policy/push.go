package policy

import "time"

// RandomPushing is the sender's initiative (programming model, 4.1.2; Wu and Kung): a peer that has more jobs than
// workers pushes its oldest job to a random peer, any in the swarm with the same chance; idle peers wait. Jobs travel
// ahead of need, so nobody waits for a round trip, but most of them cross the wide-area network for nothing, and the
// right threshold and limit differ from application to application: "only works well after careful,
// application-specific tuning". Engines say no more exactly how many they have: a larger threshold is hardly ever
// exceeded by what they say.
type RandomPushing struct{ nextPush time.Duration }

const (
	// mostPushed is how many pushed jobs may be out, so that a peer cannot flood the network.
	mostPushed = 32
	// pushEvery is the least time between two pushes, found with jobs of a quarter of a second: without one all that is
	// queued is gone in a moment, and small jobs fill everybody's queues.
	pushEvery = 500 * time.Millisecond
)

// Name is "push".
func (*RandomPushing) Name() string { return "push" }

// Plan pushes one job at a time.
func (r *RandomPushing) Plan(v View, p *Plan) {
	if v.Queued() <= v.Workers() || v.Lent() >= mostPushed {
		return
	}
	if v.Now() < r.nextPush {
		p.Wake(r.nextPush)
		return
	}
	if thief, ok := RandomAny(v); ok {
		p.Push(thief, 1)
		r.nextPush = v.Now() + pushEvery
		p.Wake(r.nextPush)
	}
}

// Give refuses: nobody steals.
func (*RandomPushing) Give(View, Ask) int { return 0 }
