package tsp

import (
	"cmp"
	"fmt"
	"slices"
)

// The sizes of an instance that are accepted. The largest keeps what a stolen job carries, most of it the
// distance table, within a control frame of 256 KiB; the time to solve an instance says stop earlier.
const (
	minCities = 3
	maxCities = 128
)

// perCity is indexed by a city. It has a place for every uint8, so that the compiler drops the check of the index.
type perCity[T any] [256]T

// Instance is a symmetric travelling salesman problem. It does not change once it has been built, so all the
// jobs of a process share one.
type Instance struct {
	Name   string
	Cities int
	Dist   []int32 // Cities x Cities, row after row, symmetric, 0 to maxDistance
}

func newInstance(name string, cities int, dist func(a, b int) int32) *Instance {
	in := &Instance{Name: name, Cities: cities, Dist: make([]int32, cities*cities)}
	for a := range cities {
		for b := range a {
			d := dist(a, b)
			in.Dist[a*cities+b], in.Dist[b*cities+a] = d, d
		}
	}
	return in
}

func (in *Instance) dist(a, b uint8) int64 { return int64(in.Dist[int(a)*in.Cities+int(b)]) }

// Tour is a closed tour through all cities.
type Tour struct {
	Length int64
	Order  []uint8 // every city once, numbered from 0
	At     []uint8 // the subproblem in which it was found
}

// tour measures order, and keeps it.
func (in *Instance) tour(order []uint8) Tour {
	t := Tour{Order: order}
	last := order[len(order)-1]
	for _, city := range order {
		t.Length += in.dist(last, city)
		last = city
	}
	return t
}

// before says whether t is shorter than o, or as long and found sooner by the sequential search.
func (t Tour) before(o Tour) bool {
	return cmp.Or(cmp.Compare(t.Length, o.Length), slices.Compare(t.At, o.At), slices.Compare(t.Order, o.Order)) < 0
}

// shorter returns the tour that comes before the other one.
func shorter(a, b Tour) Tour {
	if b.before(a) {
		return b
	}
	return a
}

// check sees that t visits every city once and adds it up again.
func (in *Instance) check(t Tour) error {
	if len(t.Order) != in.Cities {
		return fmt.Errorf("the tour visits %d cities of %d", len(t.Order), in.Cities)
	}
	if most := in.Cities * in.Cities; len(t.At) > most {
		return fmt.Errorf("the tour was found %d decisions deep, and there are at most %d", len(t.At), most)
	}
	var seen perCity[bool]
	for _, city := range t.Order {
		switch {
		case int(city) >= in.Cities:
			return fmt.Errorf("the tour visits city %d of %d", int(city)+1, in.Cities)
		case seen[city]:
			return fmt.Errorf("the tour visits city %d twice", city+1)
		}
		seen[city] = true
	}
	if again := in.tour(t.Order); again.Length != t.Length {
		return fmt.Errorf("the tour is %d long, not %d", again.Length, t.Length)
	}
	return nil
}
