package tsp

import (
	"math/rand/v2"
	"slices"
)

// startTour finds a tour that is nearly always the shortest one for instances of this size, so that every job
// prunes against it from the beginning, wherever it runs: the best one of some independent walks.
func startTour(in *Instance) Tour {
	best := walk(in, 0)
	for way := uint64(1); way < ways; way++ {
		best = shorter(best, walk(in, way))
	}
	return best
}

// ways is how many walks there are. Of eleven instances with 90 to 120 cities that were tried, two walks miss the
// shortest tour in three, four in one. What they miss costs more than they take: in these three, with two walks a
// search took 0.9, 1.7 and 1.3 times as long as when its goal followed the best tour, with four 0.6, 0.3 and 1.4.
const ways = 4

// walk is iterated local search: exchange pieces of a locally best tour at random, repair it, keep it unless it got
// longer (Johnson, McGeoch, "The traveling salesman problem: a case study in local optimization", 1997). Each way has
// its own random stream, which is fixed: the same instance always gives the same tour.
func walk(in *Instance, way uint64) Tour {
	const kicksPerCity = 10
	s := newLocalSearch(in)
	best := in.tour(slices.Clone(s.order))
	if in.Cities < 8 {
		return best
	}
	rng := rand.New(rand.NewPCG(uint64(in.Cities), 1+way))
	for range kicksPerCity * in.Cities {
		s.kick(rng)
		s.improve()
		switch t := in.tour(s.order); {
		case t.Length > best.Length:
			s.set(best.Order)
		default:
			best.Length = t.Length
			copy(best.Order, t.Order)
		}
	}
	return best
}

// localSearch shortens a tour by 2-opt (two edges exchanged) and Or-opt (up to three cities moved) steps between near
// cities. It looks only at cities around which something has changed.
type localSearch struct {
	in     *Instance
	order  []uint8
	place  perCity[uint8] // where a city is in order
	near   [][]uint8      // the nearest cities of each city, nearest first
	dirty  []uint8        // cities still to look at
	queued perCity[bool]
	spare  []uint8
}

const nearCities = 10

func newLocalSearch(in *Instance) *localSearch {
	s := &localSearch{in: in, order: make([]uint8, in.Cities), near: make([][]uint8, in.Cities)}
	for a := range uint8(in.Cities) {
		others := make([]uint8, 0, in.Cities)
		for b := range uint8(in.Cities) {
			if a != b {
				others = append(others, b)
			}
		}
		slices.SortStableFunc(others, func(b, c uint8) int { return int(in.dist(a, b) - in.dist(a, c)) })
		s.near[a] = others[:min(nearCities, len(others))]
		s.order[a] = a
		s.touch(a)
	}
	s.set(s.order)
	s.improve()
	return s
}

// set makes order the tour.
func (s *localSearch) set(order []uint8) {
	copy(s.order, order)
	for i, city := range s.order {
		s.place[city] = uint8(i)
	}
}

func (s *localSearch) touch(cities ...uint8) {
	for _, a := range cities {
		if !s.queued[a] {
			s.queued[a] = true
			s.dirty = append(s.dirty, a)
		}
	}
}

// at returns the city in place i of the tour, counted around it.
func (s *localSearch) at(i int) uint8 {
	n := len(s.order)
	return s.order[(i%n+n)%n]
}

// beside returns the city after a for way 1, and before it for way -1.
func (s *localSearch) beside(a uint8, way int) uint8 { return s.at(int(s.place[a]) + way) }

// improve takes steps until none shortens the tour.
func (s *localSearch) improve() {
	for len(s.dirty) > 0 {
		a := s.dirty[len(s.dirty)-1]
		s.dirty = s.dirty[:len(s.dirty)-1]
		s.queued[a] = false
		for s.twoOpt(a) || s.orOpt(a) {
		}
	}
}

// twoOpt exchanges the edge from a to the city beside it, and another one, for an edge from a to a nearer
// city and the one that then closes the tour.
func (s *localSearch) twoOpt(a uint8) bool {
	for way := -1; way <= 1; way += 2 {
		b := s.beside(a, way)
		ab := s.in.dist(a, b)
		for _, c := range s.near[a] {
			ac := s.in.dist(a, c)
			if ac >= ab {
				break
			}
			d := s.beside(c, way)
			if ac+s.in.dist(b, d) >= ab+s.in.dist(c, d) {
				continue
			}
			if way > 0 {
				s.reverse(b, c)
			} else {
				s.reverse(a, d)
			}
			s.touch(a, b, c, d)
			return true
		}
	}
	return false
}

// reverse turns the part of the tour from a on to b round.
func (s *localSearch) reverse(a, b uint8) {
	n := len(s.order)
	i, j := int(s.place[a]), int(s.place[b])
	if j < i {
		j += n
	}
	for ; i < j; i, j = i+1, j-1 {
		x, y := i%n, j%n
		s.order[x], s.order[y] = s.order[y], s.order[x]
		s.place[s.order[x]], s.place[s.order[y]] = uint8(x), uint8(y)
	}
}

// orOpt moves one to three cities that begin with a between a nearer city and one beside it.
func (s *localSearch) orOpt(a uint8) bool {
	for way := -1; way <= 1; way += 2 {
		for count := 1; count <= min(3, len(s.order)-3); count++ {
			before, z := s.beside(a, -way), s.at(int(s.place[a])+way*(count-1))
			after := s.beside(z, way)
			gain := s.in.dist(before, a) + s.in.dist(z, after) - s.in.dist(before, after)
			for _, c := range s.near[a] {
				ac := s.in.dist(a, c)
				if ac >= gain {
					break
				}
				for side := -1; side <= 1; side += 2 {
					d := s.beside(c, side)
					if s.within(c, a, way, count) || s.within(d, a, way, count) {
						continue
					}
					if ac+s.in.dist(z, d)-s.in.dist(c, d) < gain {
						s.move(a, way, count, c, side)
						s.touch(before, a, z, after, c, d)
						return true
					}
				}
			}
		}
	}
	return false
}

// within tells whether c is one of the count cities that begin with a.
func (s *localSearch) within(c, a uint8, way, count int) bool {
	n := len(s.order)
	return ((int(s.place[c])-int(s.place[a]))*way%n+n)%n < count
}

// move puts the count cities that begin with a between c and the city beside it, a next to c.
func (s *localSearch) move(a uint8, way, count int, c uint8, side int) {
	n := len(s.order)
	first := int(s.place[a])
	d := s.beside(c, side)
	moved := s.spare[:0]
	for i := count; i < n; i++ { // the other cities, from behind the moved ones on
		x := s.at(first + way*i)
		if x == c && side == -way || x == d && side == way {
			// d precedes c (or the other way round) and has been written: the moved cities go between.
			moved = s.insert(moved, first, way, count, x == c)
		}
		moved = append(moved, x)
	}
	if len(moved) < n { // between the last and the first of the others
		moved = s.insert(moved, first, way, count, side == -way)
	}
	s.spare = moved
	s.set(moved)
}

// insert appends the count cities from place first on, in this order or the other one.
func (s *localSearch) insert(to []uint8, first, way, count int, backwards bool) []uint8 {
	for i := range count {
		if backwards {
			i = count - 1 - i
		}
		to = append(to, s.at(first+way*i))
	}
	return to
}

// kick exchanges two neighbouring pieces of the tour, which no sequence of 2-opt steps undoes easily (a
// double bridge).
func (s *localSearch) kick(rng *rand.Rand) {
	n := len(s.order)
	longest := min(n/3, 25)
	from, p, q := rng.IntN(n), 1+rng.IntN(longest), 1+rng.IntN(longest)
	moved := s.spare[:0]
	for i := range n {
		switch {
		case i < q:
			moved = append(moved, s.at(from+p+i))
		case i < p+q:
			moved = append(moved, s.at(from+i-q))
		default:
			moved = append(moved, s.at(from+i))
		}
	}
	s.spare = moved
	s.set(moved)
	s.touch(s.at(-1), s.at(0), s.at(q-1), s.at(q), s.at(p+q-1), s.at(p+q))
}
