package raytracer

import "math"

// scene is what an NFF file describes, ready for rays.
type scene struct {
	view       view
	background vec
	lights     []light
	surfaces   []*surface
	objects    []object
	tree       *tree
	epsilon    float64 // distance below which a ray that leaves a surface does not meet it again
}

// view is NFF's "v": where the eye is, and what it sees.
type view struct {
	from, at, up  vec
	angle         float64 // in degrees, between the middles of the first and the last pixel of the shorter side
	hither        float64 // nothing nearer to the eye than this is seen
	width, height int     // pixels
}

// light shines from a point, equally far.
type light struct{ position, colour vec }

// surface is NFF's "f".
type surface struct {
	colour  vec
	diffuse float64 // Kd
	mirror  float64 // Ks, of highlights and reflections
	shine   float64 // exponent of highlights
	through float64 // T, the part of light that passes
	index   float64 // of refraction
}

// finish builds what is needed to render the scene that has been described.
func (s *scene) finish() {
	// NFF leaves the strength of lights open; the databases of SPD assume this one, with which many are not
	// too bright.
	for i := range s.lights {
		s.lights[i].colour = s.lights[i].colour.times(1 / math.Sqrt(float64(len(s.lights))))
	}
	s.tree = buildTree(s.objects)
	s.objects = nil // the tree has them
	s.epsilon = 1e-12
	if all := s.tree.nodes[0].box; len(s.tree.objects) > 0 {
		s.epsilon += 1e-9 * all.hi.sub(all.lo).length()
	}
}

// add adds a shape, unless it is nil, with the surface that was described last.
func (s *scene) add(shape shape) {
	s.objects = append(s.objects, object{shape, s.surfaces[len(s.surfaces)-1]})
}

// camera makes the rays of a picture.
type camera struct {
	eye, corner vec // corner is the middle of the upper left pixel, at a distance of 1
	right, down vec // one pixel further
	hither      float64
	samples     int // rays per pixel, in each direction
	forward     vec
}

func newCamera(v view, width, height, samples int) *camera {
	forward := v.at.sub(v.from).unit()
	right := forward.cross(v.up).unit()
	down := forward.cross(right)
	pixel := 2 * math.Tan(v.angle*math.Pi/360) / float64(max(1, min(width, height)-1))
	return &camera{
		eye:     v.from,
		corner:  forward.sub(right.times(pixel * float64(width-1) / 2)).sub(down.times(pixel * float64(height-1) / 2)),
		right:   right.times(pixel),
		down:    down.times(pixel),
		hither:  v.hither,
		samples: samples,
		forward: forward,
	}
}

// pixel returns the colour of a pixel: the mean of its samples, which are spread evenly over it.
func (s *scene) pixel(c *camera, x, y int) vec {
	var sum vec
	n := float64(c.samples)
	for j := range c.samples {
		for i := range c.samples {
			dx := float64(x) + (float64(i)+0.5)/n - 0.5
			dy := float64(y) + (float64(j)+0.5)/n - 0.5
			dir := c.corner.add(c.right.times(dx)).add(c.down.times(dy)).unit()
			r := ray{c.eye, dir}
			sum = sum.add(s.trace(r, max(s.epsilon, c.hither/dir.dot(c.forward)), 1))
		}
	}
	return sum.times(1 / (n * n))
}

// maxGeneration is how many surfaces a ray may meet, being reflected or refracted at all but the last.
const maxGeneration = 5

// trace returns the light that comes along r from beyond from.
func (s *scene) trace(r ray, from float64, generation int) vec {
	o, at := s.tree.nearest(r, from, math.Inf(1))
	if o == nil {
		return s.background
	}
	p := r.at(at)
	outside := o.normal(p) // and to the side that the ray comes from:
	n, inside := outside, false
	if n.dot(r.dir) > 0 {
		n, inside = n.times(-1), true
	}
	f := o.surface
	c := s.shade(p, n, r.dir, f)
	if generation == maxGeneration {
		return c
	}
	if f.mirror > 0 {
		c = c.add(s.trace(ray{p, mirrored(r.dir, n)}, s.epsilon, generation+1).times(f.mirror))
	}
	if f.through > 0 {
		c = c.add(s.trace(ray{p, refracted(r.dir, n, f.index, inside)}, s.epsilon, generation+1).times(f.through))
	}
	return c
}

// shade returns what the lights contribute by Phong's model at p, with the normal n, seen in the direction dir.
func (s *scene) shade(p, n, dir vec, f *surface) (c vec) {
	if f.diffuse == 0 && f.mirror == 0 {
		return c
	}
	reflected := mirrored(dir, n)
	for _, l := range s.lights {
		way := l.position.sub(p)
		distance := way.length()
		way = way.times(1 / distance)
		slope := way.dot(n)
		if !(slope > 0) { // also if the light is at p
			continue
		}
		light := s.tree.clear(ray{p, way}, s.epsilon, distance)
		if light == 0 {
			continue
		}
		c = c.add(f.colour.mul(l.colour).times(f.diffuse * slope * light))
		if glance := way.dot(reflected); glance > 0 && f.shine > 0 {
			c = c.add(l.colour.times(f.mirror * math.Pow(glance, f.shine) * light))
		}
	}
	return c
}

func mirrored(dir, n vec) vec { return dir.sub(n.times(2 * dir.dot(n))).unit() }

// refracted bends a ray by Snell's law where it enters matter with the given index of refraction, or leaves it. If it
// cannot leave it is reflected.
func refracted(dir, n vec, index float64, leaves bool) vec {
	ratio := 1 / index
	if leaves {
		ratio = index
	}
	cos := -dir.dot(n)
	square := 1 - ratio*ratio*(1-cos*cos)
	if square < 0 {
		return mirrored(dir, n)
	}
	return dir.times(ratio).add(n.times(ratio*cos - math.Sqrt(square))).unit()
}
