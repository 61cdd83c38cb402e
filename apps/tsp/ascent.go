package tsp

import "math"

// schedule says how penalties are moved: how often, how far, and by how much less each time. A step of length 1 would
// reach the length of the best tour if the 1-tree stayed as it is (Held, Wolfe, Crowder, "Validation of subgradient
// optimization", Mathematical Programming 6, 1974).
type schedule struct {
	steps  int
	length int64 // of the first step, in 1/stepUnit
	shrink int   // each is shorter than the one before by 1/2^shrink
}

const stepUnit = 1 << 10

// At the root nothing is known of the penalties; below it, those of the parent are nearly right.
func (s *Subproblem) schedule() schedule {
	if s.Penalty == nil {
		return schedule{steps: 400, length: 2 * stepUnit, shrink: 6}
	}
	return schedule{steps: 12, length: stepUnit, shrink: 5}
}

// momentum is how many of the ten parts of a step repeat the direction of the one before, which damps their swinging
// (Volgenant, Jonker, European Journal of Operational Research 9, 1982).
const momentum = 3

// ascend looks for penalties with a high bound and leaves the 1-tree of the best ones. How it looks depends on the goal
// and not on the limit, which only ends it. It returns a shortest tour that the subproblem allows, if it comes upon
// one, and false if there is nothing else within the limit.
func (r *relaxation) ascend(goal, limit int64, plan schedule) (t *Tour, bound int64, left bool) {
	var (
		top  perCity[int32] // the penalties with the highest bound
		last perCity[int32]
	)
	bound = math.MinInt64
	for step := 0; ; step++ {
		b, connected := r.build()
		if !connected || b > limit {
			return nil, 0, false
		}
		norm := r.tree.norm(r.cities)
		if norm == 0 { // a tour, on which penalties cancel out
			return &Tour{Length: b >> r.shift, Order: r.tree.tour(r.cities)}, 0, false
		}
		if b > bound {
			bound, top = b, r.penalty
		}
		if step == plan.steps {
			break
		}
		size := plan.length * (goal<<r.shift - b) / stepUnit
		for a, degree := range r.tree.degree[:r.cities] {
			move := size * int64((10-momentum)*(degree-2)+momentum*last[a]) / (10 * norm)
			r.penalty[a] = int32(max(-maxPenalty, min(int64(r.penalty[a])+move, maxPenalty)))
			last[a] = degree - 2
		}
		plan.length -= plan.length >> plan.shrink
	}
	r.penalty = top
	r.build()
	return nil, bound, true
}

// norm is 0 for a tour and grows with the distance from one.
func (t *oneTree) norm(cities int) (sum int64) {
	for _, degree := range t.degree[:cities] {
		sum += int64(degree-2) * int64(degree-2)
	}
	return sum
}
