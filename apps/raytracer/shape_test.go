package raytracer

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawVec(t *rapid.T, what string, size float64) vec {
	x := rapid.Float64Range(-size, size)
	return vec{x.Draw(t, what+".x"), x.Draw(t, what+".y"), x.Draw(t, what+".z")}
}

func drawUnit(t *rapid.T, what string) vec {
	v := drawVec(t, what, 1)
	if v.length() < 1e-3 {
		return vec{0, 0, 1}
	}
	return v.unit()
}

// drawShape returns a shape of moderate size, and how far a point is from its unlimited surface.
func drawShape(t *rapid.T) (shape, func(p vec) float64) {
	radius := rapid.Float64Range(0.1, 3)
	corner := func(what string) vec { return drawVec(t, what, 4) }
	switch rapid.SampledFrom([]string{"sphere", "cone", "triangle", "polygon"}).Draw(t, "shape") {
	case "sphere":
		s := &sphere{corner("centre"), radius.Draw(t, "radius")}
		return s, func(p vec) float64 { return p.sub(s.centre).length() - s.radius }
	case "cone":
		base := corner("base")
		apex := base.add(drawUnit(t, "axis").times(radius.Draw(t, "height")))
		from, to := radius.Draw(t, "base"), radius.Draw(t, "apex")
		c := newCone(base, from, apex, to)
		return c, func(p vec) float64 {
			axis := apex.sub(base)
			part := p.sub(base).dot(axis) / axis.dot(axis)
			if part < -1e-9 || part > 1+1e-9 {
				return math.Inf(1)
			}
			return p.sub(base.add(axis.times(part))).length() - (from + part*(to-from))
		}
	case "triangle":
		a, b, c := corner("a"), corner("b"), corner("c")
		if b.sub(a).cross(c.sub(a)).length() < 1e-2 {
			a, b, c = vec{}, vec{1, 0, 0}, vec{0, 1, 0}
		}
		n := b.sub(a).cross(c.sub(a)).unit()
		return newTriangle(a, b, c, nil), func(p vec) float64 { return p.sub(a).dot(n) }
	}
	// An L in a random plane.
	right := drawUnit(t, "right")
	up := right.cross(vec{0.36, 0.48, 0.8})
	if up.length() < 1e-3 {
		right, up = vec{1, 0, 0}, vec{0, 1, 0}
	}
	up = up.unit()
	origin := corner("origin")
	var corners []vec
	for _, c := range [][2]float64{{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}} {
		corners = append(corners, origin.add(right.times(c[0])).add(up.times(c[1])))
	}
	return newPolygon(corners), func(p vec) float64 { return p.sub(origin).dot(right.cross(up)) }
}

// TestHits: where a ray hits, there is surface, within the bounds, and the normal is a unit vector across it;
// before that there is no hit, and what is hit behind it is surface as well.
func TestHits(t *testing.T) {
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		s, off := drawShape(t)
		r := ray{drawVec(t, "origin", 10), vec{}}
		target := s.bounds().lo.add(s.bounds().hi.sub(s.bounds().lo).mul(drawVec(t, "target",
			0.6).add(vec{0.5, 0.5, 0.5})))
		r.dir = target.sub(r.origin)
		if r.dir.length() < 1e-3 {
			return
		}
		r.dir = r.dir.unit()
		at, ok := s.hit(r, 1e-6, math.Inf(1))
		if !ok {
			return
		}
		hits++
		p := r.at(at)
		const close = 1e-6
		if d := off(p); math.Abs(d) > close {
			t.Fatalf("%v hit %#v at %v, which is %g off the surface", r, s, p, d)
		}
		if b := s.bounds(); p.sub(p.max(b.lo).min(b.hi)).length() > close {
			t.Fatalf("%v is outside %v", p, b)
		}
		n := s.normal(p)
		if math.Abs(n.length()-1) > close {
			t.Fatalf("normal %v is not a unit", n)
		}
		if up, down := off(p.add(n.times(1e-4))), off(p.sub(n.times(1e-4))); up*down >= 0 && !math.IsInf(up+down, 0) {
			t.Fatalf("the normal %v at %v does not lead across the surface: %g %g", n, p, up, down)
		}
		if _, again := s.hit(r, 1e-6, at); again {
			t.Fatalf("hit before the first hit at %g", at)
		}
		if after, again := s.hit(r, at+1e-6, math.Inf(1)); again && math.Abs(off(r.at(after))) > close {
			t.Fatalf("second hit at %g is off the surface", after)
		}
	})
	if hits == 0 {
		t.Error("no ray hit anything")
	}
}

// Rays hit each shape where a drawing of it shows, and miss what is open, behind them, beside it, or no part of it
// although its formula says so.
func TestHitsAtKnownPlaces(t *testing.T) {
	tube := newCone(vec{0, 0, 0}, 1, vec{0, 0, 2}, 1)
	hat := newCone(vec{0, 0, 0}, 2, vec{0, 0, 2}, 0)
	bitten := newPolygon([]vec{{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}})
	down, right := vec{0, 0, -1}, vec{1, 0, 0}
	for _, c := range []struct {
		name   string
		s      shape
		origin vec
		dir    vec
		want   float64 // 0: no hit
	}{
		{"sphere from outside", &sphere{vec{}, 1}, vec{-3, 0, 0}, right, 2},
		{"sphere from inside", &sphere{vec{}, 1}, vec{}, right, 1},
		{"sphere behind", &sphere{vec{}, 1}, vec{3, 0, 0}, right, 0},
		{"sphere beside", &sphere{vec{}, 1}, vec{-3, 1.001, 0}, right, 0},
		{"tube", tube, vec{-3, 0, 1}, right, 2},
		{"tube through its open end", tube, vec{0.5, 0, 9}, down, 0},
		{"tube above", tube, vec{-3, 0, 2.1}, right, 0},
		{"tube, the far side over the near rim", tube, vec{-3, 0, 4}, vec{2, 0, -1}.unit(), 2 * math.Sqrt(5)},
		{"hat", hat, vec{-3, 0, 1}, right, 2},
		{"hat from above", hat, vec{1, 0, 5}, down, 4},
		{"hat, its mirror image above", hat, vec{-3, 0, 3}, right, 0},
		{"in the bite", bitten, vec{2, 2, 5}, down, 0},
		{"beside the bite", bitten, vec{0.5, 2, 5}, down, 5},
		{"under it", bitten, vec{2, 0.5, 5}, down, 5},
		{"along it", bitten, vec{-1, 0.5, 0}, right, 0},
	} {
		at, ok := c.s.hit(ray{c.origin, c.dir}, 1e-9, math.Inf(1))
		if ok != (c.want > 0) || ok && math.Abs(at-c.want) > 1e-12 {
			t.Errorf("%s: hit %t at %g, want %g", c.name, ok, at, c.want)
		}
	}
}

// A cone or polygon without a surface, which a ray could not be reflected from, is no shape.
func TestShapesWithoutSurface(t *testing.T) {
	a, b := vec{1, 2, 3}, vec{4, 5, 6}
	if newCone(a, 1, a, 1) != nil || newCone(a, 0, b, 0) != nil {
		t.Error("a cone without a surface")
	}
	if newTriangle(a, b, a.add(b).times(0.5), nil) != nil || newPolygon([]vec{a, b, a, b}) != nil {
		t.Error("a polygon without area")
	}
}

// TestTree compares the tree with a look at every object.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var objects []object
		for range rapid.IntRange(0, 40).Draw(t, "objects") {
			s, _ := drawShape(t)
			objects = append(objects, object{s, &surface{through: rapid.SampledFrom([]float64{0, 0.5}).Draw(t,
				"through")}})
			if rapid.Bool().Draw(t, "twice") {
				objects = append(objects, objects[len(objects)-1])
			}
		}
		tree := buildTree(objects)
		for range 20 {
			r := ray{drawVec(t, "origin", 8), drawUnit(t, "dir")}
			from, to := 1e-9, rapid.SampledFrom([]float64{3, math.Inf(1)}).Draw(t, "to")
			nearest, light := to, 1.0
			for _, o := range objects {
				if at, ok := o.hit(r, from, to); ok {
					nearest = min(nearest, at)
					light *= o.surface.through
				}
			}
			if o, at := tree.nearest(r, from, to); at != nearest || (o == nil) != (nearest == to) {
				t.Fatalf("%v: nearest at %g, want %g", r, at, nearest)
			}
			if got := tree.clear(r, from, to); got != light {
				t.Fatalf("%v: %g of the light passes, want %g", r, got, light)
			}
		}
	})
}
