package wan

import "time"

// routes remembers the first hop from every cluster to every other. It is computed again when a link has
// appeared or disappeared, not when one became slow: as in the paper (section 3.4), a slow link keeps its
// traffic and only a missing one is routed round.
type routes struct {
	generation int
	first      []int16 // from*n + to; -1 = no route
}

// next is the cluster a message for `to` is sent to from `from`, or -1.
func (r *routes) next(l *Links, from, to int) int {
	if r.first == nil || r.generation != l.generation {
		r.compute(l)
	}
	return int(r.first[from*l.n+to])
}

func (r *routes) compute(l *Links) {
	r.generation = l.generation
	if r.first == nil {
		r.first = make([]int16, l.n*l.n)
	}
	distance := make([]routeLength, l.n)
	queue := make([]int, 0, l.n)
	for to := 0; to < l.n; to++ {
		r.toward(l, to, distance, queue)
	}
}

// routeLength orders paths: fewer links first, then less nominal latency in all.
type routeLength struct {
	hops    int
	latency time.Duration
}

func (a routeLength) less(b routeLength) bool {
	return a.hops < b.hops || a.hops == b.hops && a.latency < b.latency
}

const unreached = 1 << 30

// toward fills the first hops of all shortest paths that end in `to`: breadth first against the direction of
// the links. Among equal paths the neighbour with the lowest number wins.
func (r *routes) toward(l *Links, to int, distance []routeLength, queue []int) {
	for i := range distance {
		distance[i] = routeLength{hops: unreached}
		r.first[i*l.n+to] = -1
	}
	distance[to] = routeLength{}
	r.first[to*l.n+to] = int16(to)
	queue = append(queue[:0], to)
	for head := 0; head < len(queue); head++ {
		at := queue[head]
		for from := 0; from < l.n; from++ {
			k := l.at(from, at)
			if from == at || !k.exists {
				continue
			}
			candidate := routeLength{distance[at].hops + 1, distance[at].latency + k.nominal.Latency}
			fresh := distance[from].hops == unreached
			tie := candidate == distance[from] && at < int(r.first[from*l.n+to])
			if candidate.less(distance[from]) || tie {
				distance[from] = candidate
				r.first[from*l.n+to] = int16(at)
			}
			if fresh {
				queue = append(queue, from)
			}
		}
	}
}
