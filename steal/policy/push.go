package policy

import "time"

// RandomPushing is the sender's initiative (programming model, 4.1.2; Wu and Kung): a peer whose queue is
// longer than Threshold pushes its oldest job to a random peer, any in the swarm with the same chance; idle
// peers wait. Jobs travel ahead of need, so nobody waits for a round trip, but most of them cross the
// wide-area network for nothing, and the right threshold and limit differ from application to application:
// "only works well after careful, application-specific tuning".
type RandomPushing struct {
	// Threshold is how many jobs a peer keeps for itself; 0 means as many as it has workers. Engines say how many they
	// have no more exactly than that: a larger one is hardly ever exceeded by what they say.
	Threshold int
	// Limit is how many pushed jobs may be out, so that a peer cannot flood the network; 0 means 32.
	Limit int
	// Pause is the least time between two pushes; 0 means 500 ms, found with jobs of a quarter of a second: without one
	// all that is queued is gone in a moment, and small jobs fill everybody's queues.
	Pause time.Duration

	nextPush time.Duration
}

// Name is "push".
func (*RandomPushing) Name() string { return "push" }

// Plan pushes one job at a time, at most one in a Pause.
func (r *RandomPushing) Plan(v View, p *Plan) {
	if v.Queued() <= orDefault(r.Threshold, v.Workers()) || v.Lent() >= orDefault(r.Limit, 32) {
		return
	}
	if v.Now() < r.nextPush {
		p.Wake(r.nextPush)
		return
	}
	if thief, ok := RandomAny(v); ok {
		p.Push(thief, 1)
		r.nextPush = v.Now() + orDefault(r.Pause, 500*time.Millisecond)
		p.Wake(r.nextPush)
	}
}

// Give refuses: nobody steals.
func (*RandomPushing) Give(View, Ask) int { return 0 }

// orDefault is v, or d if v is zero.
func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}
