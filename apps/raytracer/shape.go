package raytracer

import "math"

// shape is the surface of an object.
type shape interface {
	// hit returns where r first meets the surface farther than from and nearer than to; false if it does not.
	hit(r ray, from, to float64) (t float64, ok bool)
	// normal is the unit normal at a point of the surface, on either side.
	normal(p vec) vec
	bounds() box
}

type sphere struct {
	centre vec
	radius float64
}

func (s *sphere) hit(r ray, from, to float64) (float64, bool) {
	oc := s.centre.sub(r.origin)
	middle := oc.dot(r.dir)
	// The distance of the centre from the line, rather than b*b - 4*a*c: it keeps its digits far away.
	off := oc.sub(r.dir.times(middle))
	square := s.radius*s.radius - off.dot(off)
	if square < 0 {
		return 0, false
	}
	half := math.Sqrt(square)
	if t := middle - half; t > from {
		return t, t < to
	}
	t := middle + half
	return t, t > from && t < to
}

func (s *sphere) normal(p vec) vec { return p.sub(s.centre).times(1 / s.radius) }

func (s *sphere) bounds() box {
	r := vec{s.radius, s.radius, s.radius}
	return box{s.centre.sub(r), s.centre.add(r)}
}

// cone is the side, without lids, of a cylinder or of a cone that may be cut off: at height y along axis from
// base its radius is radius + grows*y.
type cone struct {
	base, axis     vec // axis is a unit vector
	height, radius float64
	grows          float64
}

// newCone returns nil for a cone without a surface, which no ray meets.
func newCone(base vec, baseRadius float64, apex vec, apexRadius float64) *cone {
	axis := apex.sub(base)
	height := axis.length()
	if height == 0 || baseRadius == 0 && apexRadius == 0 {
		return nil
	}
	return &cone{base, axis.times(1 / height), height, baseRadius, (apexRadius - baseRadius) / height}
}

func (c *cone) hit(r ray, from, to float64) (float64, bool) {
	o := r.origin.sub(c.base)
	oy, dy := o.dot(c.axis), r.dir.dot(c.axis)
	or, dr := c.radius+c.grows*oy, c.grows*dy
	// Points of the ray whose distance from the axis is the radius there: a*t*t + 2*b*t + k = 0.
	a := 1 - dy*dy - dr*dr
	b := o.dot(r.dir) - oy*dy - or*dr
	k := o.dot(o) - oy*oy - or*or
	near, far, ok := roots(a, b, k)
	if !ok {
		return 0, false
	}
	for _, t := range [2]float64{near, far} {
		if y := oy + t*dy; t > from && t < to && y >= 0 && y <= c.height {
			return t, true
		}
	}
	return 0, false
}

// roots solves a*t*t + 2*b*t + k = 0 for near <= far.
func roots(a, b, k float64) (near, far float64, ok bool) {
	const tiny = 1e-12
	if math.Abs(a) < tiny {
		if math.Abs(b) < tiny {
			return 0, 0, false
		}
		t := -k / (2 * b)
		return t, t, true
	}
	d := b*b - a*k
	if d < 0 {
		return 0, 0, false
	}
	q := -(b + math.Copysign(math.Sqrt(d), b))
	near, far = q/a, q/a
	if q != 0 {
		far = k / q
	}
	return min(near, far), max(near, far), true
}

func (c *cone) normal(p vec) vec {
	q := p.sub(c.base)
	y := q.dot(c.axis)
	out := q.sub(c.axis.times(y + c.grows*(c.radius+c.grows*y)))
	return out.unit()
}

func (c *cone) bounds() box {
	disc := func(centre vec, radius float64) box {
		r := vec{
			radius * math.Sqrt(max(0, 1-c.axis.x*c.axis.x)),
			radius * math.Sqrt(max(0, 1-c.axis.y*c.axis.y)),
			radius * math.Sqrt(max(0, 1-c.axis.z*c.axis.z)),
		}
		return box{centre.sub(r), centre.add(r)}
	}
	apex := c.base.add(c.axis.times(c.height))
	return disc(c.base, c.radius).union(disc(apex, c.radius+c.grows*c.height))
}

// polygon is flat, and may be concave.
type polygon struct {
	corners []vec
	facing  vec     // unit normal
	offset  float64 // of the plane along facing
	u, v    int     // the axes of the plane that facing leaves the largest shadow on
}

// newPolygon returns nil for a polygon without area, which no ray meets.
func newPolygon(corners []vec) *polygon {
	var n, sum vec // Newell's normal: right also if some corners lie on a line
	for i, p := range corners {
		q := corners[(i+1)%len(corners)]
		n = n.add(p.cross(q))
		sum = sum.add(p)
	}
	if length := n.length(); length == 0 || math.IsInf(length, 0) {
		return nil
	}
	p := &polygon{corners: corners, facing: n.unit()}
	p.offset = p.facing.dot(sum) / float64(len(corners))
	switch x, y, z := math.Abs(n.x), math.Abs(n.y), math.Abs(n.z); {
	case x >= y && x >= z:
		p.u, p.v = 1, 2
	case y >= z:
		p.u, p.v = 2, 0
	default:
		p.u, p.v = 0, 1
	}
	return p
}

func (p *polygon) hit(r ray, from, to float64) (float64, bool) {
	slope := p.facing.dot(r.dir)
	if slope == 0 {
		return 0, false
	}
	t := (p.offset - p.facing.dot(r.origin)) / slope
	if t <= from || t >= to || !p.contains(r.at(t)) {
		return 0, false
	}
	return t, true
}

// contains tells whether a point of the plane lies inside: whether a line from it crosses an odd number of edges.
func (p *polygon) contains(q vec) bool {
	u, v := q.along(p.u), q.along(p.v)
	last := p.corners[len(p.corners)-1]
	lu, lv := last.along(p.u), last.along(p.v)
	inside := false
	for _, corner := range p.corners {
		cu, cv := corner.along(p.u), corner.along(p.v)
		if (cv > v) != (lv > v) && u < cu+(v-cv)*(lu-cu)/(lv-cv) {
			inside = !inside
		}
		lu, lv = cu, cv
	}
	return inside
}

func (p *polygon) normal(vec) vec { return p.facing }
func (p *polygon) bounds() box    { return boxAround(p.corners...) }

// triangle has a normal at each corner, which are the same if it is flat, and interpolates between them.
type triangle struct {
	corner, ab, ac vec // one corner, and the ways to the others
	normals        [3]vec
}

// newTriangle returns nil for a triangle without area. Without normals it is flat.
func newTriangle(a, b, c vec, normals *[3]vec) *triangle {
	t := &triangle{corner: a, ab: b.sub(a), ac: c.sub(a)}
	n := t.ab.cross(t.ac)
	if length := n.length(); length == 0 || math.IsInf(length, 0) {
		return nil
	}
	if normals != nil {
		t.normals = *normals
	} else {
		t.normals = [3]vec{n.unit(), n.unit(), n.unit()}
	}
	return t
}

// hit is the algorithm of Möller and Trumbore ("Fast, minimum storage ray/triangle intersection", 1997).
func (s *triangle) hit(r ray, from, to float64) (float64, bool) {
	p := r.dir.cross(s.ac)
	det := s.ab.dot(p)
	if det == 0 {
		return 0, false
	}
	o := r.origin.sub(s.corner)
	u := o.dot(p) / det
	if u < 0 || u > 1 {
		return 0, false
	}
	q := o.cross(s.ab)
	v := r.dir.dot(q) / det
	if v < 0 || u+v > 1 {
		return 0, false
	}
	t := s.ac.dot(q) / det
	return t, t > from && t < to
}

func (s *triangle) normal(p vec) vec {
	if s.normals[0] == s.normals[1] && s.normals[0] == s.normals[2] {
		return s.normals[0]
	}
	n := s.ab.cross(s.ac)
	o := p.sub(s.corner)
	square := n.dot(n)
	u := o.cross(s.ac).dot(n) / square
	v := s.ab.cross(o).dot(n) / square
	mixed := s.normals[0].times(1 - u - v).add(s.normals[1].times(u)).add(s.normals[2].times(v))
	if mixed.dot(mixed) == 0 { // opposite normals cancel out
		return n.unit()
	}
	return mixed.unit()
}

func (s *triangle) bounds() box {
	return boxAround(s.corner, s.corner.add(s.ab), s.corner.add(s.ac))
}
