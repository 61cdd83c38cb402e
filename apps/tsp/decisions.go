package tsp

import "slices"

// What has been decided of an edge.
const (
	open uint8 = iota
	chosen
	discarded
)

// decisions are the edges of a subproblem while they are being decided, with the counts that make it cheap to draw
// conclusions.
type decisions struct {
	cities int
	edges  []uint8           // cities x cities, symmetric: open, chosen or discarded
	open   int               // number of open edges
	links  perCity[[2]uint8] // where the chosen edges of a city lead
	linked perCity[uint8]    // how many they are: 0, 1 or 2
	left   perCity[uint8]    // how many of a city's edges are open
	dirty  []uint8           // cities whose counts have changed since settle
}

// decided reads the decisions of s; it does not change s.
func decided(in *Instance, s *Subproblem) *decisions {
	n := in.Cities
	d := &decisions{cities: n, edges: slices.Clone(s.Edges), open: s.Open}
	for a := range n {
		for b, e := range d.edges[a*n : (a+1)*n] {
			switch e {
			case chosen:
				d.links[a][d.linked[a]] = uint8(b)
				d.linked[a]++
			case open:
				d.left[a]++
			}
		}
	}
	return d
}

func (d *decisions) clone() *decisions {
	c := *d
	c.edges, c.dirty = slices.Clone(d.edges), slices.Clone(d.dirty)
	return &c
}

func (d *decisions) of(a, b uint8) uint8 { return d.edges[int(a)*d.cities+int(b)] }

func (d *decisions) decide(a, b, e uint8) {
	d.edges[int(a)*d.cities+int(b)], d.edges[int(b)*d.cities+int(a)] = e, e
	d.open--
	d.left[a]--
	d.left[b]--
	d.dirty = append(d.dirty, a, b)
}

// discard decides against an open edge.
func (d *decisions) discard(a, b uint8) { d.decide(a, b, discarded) }

// choose decides for an open edge, and against the edge that would close the path it lies on into a tour of
// some of the cities only. It returns false if a city would have three chosen edges.
func (d *decisions) choose(a, b uint8) bool {
	if d.linked[a] == 2 || d.linked[b] == 2 {
		return false
	}
	d.decide(a, b, chosen)
	d.links[a][d.linked[a]], d.links[b][d.linked[b]] = b, a
	d.linked[a]++
	d.linked[b]++
	end1, before := d.end(a, b)
	end2, after := d.end(b, a)
	if before+after+2 < d.cities && d.of(end1, end2) == open {
		d.discard(end1, end2)
	}
	return true
}

// end follows the chosen edges from a, away from b, to the last city, and counts them. In a complete tour it
// stops after as many edges as there are cities.
func (d *decisions) end(a, b uint8) (last uint8, steps int) {
	for ; d.linked[a] == 2 && steps < d.cities; steps++ {
		next := d.links[a][0]
		if next == b {
			next = d.links[a][1]
		}
		a, b = next, a
	}
	return a, steps
}

// settle draws the conclusions of what has been decided: a city with two chosen edges needs no other, and one
// with two edges that are not discarded needs both. It returns false if that leaves no tour.
func (d *decisions) settle() bool {
	for len(d.dirty) > 0 {
		a := d.dirty[len(d.dirty)-1]
		d.dirty = d.dirty[:len(d.dirty)-1]
		if d.linked[a]+d.left[a] < 2 {
			return false
		}
		full := d.linked[a] == 2
		if d.left[a] == 0 || !full && d.linked[a]+d.left[a] > 2 {
			continue
		}
		for b, e := range d.edges[int(a)*d.cities : int(a+1)*d.cities] {
			switch {
			case e != open:
			case full:
				d.discard(a, uint8(b))
			case !d.choose(a, uint8(b)):
				return false
			}
		}
	}
	return true
}
