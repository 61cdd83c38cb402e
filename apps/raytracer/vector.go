package raytracer

import "math"

// vec is a point, a direction or a colour (red, green, blue from 0 to 1).
type vec struct{ x, y, z float64 }

func (a vec) add(b vec) vec          { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec          { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) mul(b vec) vec          { return vec{a.x * b.x, a.y * b.y, a.z * b.z} }
func (a vec) times(s float64) vec    { return vec{a.x * s, a.y * s, a.z * s} }
func (a vec) dot(b vec) float64      { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) length() float64        { return math.Sqrt(a.dot(a)) }
func (a vec) unit() vec              { return a.times(1 / a.length()) }
func (a vec) min(b vec) vec          { return vec{min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)} }
func (a vec) max(b vec) vec          { return vec{max(a.x, b.x), max(a.y, b.y), max(a.z, b.z)} }
func (a vec) along(axis int) float64 { return [3]float64{a.x, a.y, a.z}[axis] }
func (a vec) cross(b vec) vec {
	return vec{a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x}
}

// ray is the half line from origin in the direction dir, a unit vector.
type ray struct{ origin, dir vec }

func (r ray) at(t float64) vec { return r.origin.add(r.dir.times(t)) }

// box is the smallest box, parallel to the axes, around something.
type box struct{ lo, hi vec }

// nothing is a box that any other contains.
var nothing = box{
	lo: vec{math.Inf(1), math.Inf(1), math.Inf(1)},
	hi: vec{math.Inf(-1), math.Inf(-1), math.Inf(-1)},
}

func boxAround(points ...vec) box {
	b := nothing
	for _, p := range points {
		b.lo, b.hi = b.lo.min(p), b.hi.max(p)
	}
	return b
}

func (b box) union(c box) box { return box{b.lo.min(c.lo), b.hi.max(c.hi)} }
func (b box) centre() vec     { return b.lo.add(b.hi).times(0.5) }

// grown is b with some room around it, so that no ray that grazes what is inside misses it by a rounding error.
func (b box) grown() box {
	room := 1e-9 * b.hi.sub(b.lo).length()
	return box{b.lo.sub(vec{room, room, room}), b.hi.add(vec{room, room, room})}
}

// area is half the surface, which is as good to compare boxes by.
func (b box) area() float64 {
	d := b.hi.sub(b.lo)
	return d.x*d.y + d.y*d.z + d.z*d.x
}
