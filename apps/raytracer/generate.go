package raytracer

import "math"

// The scenes are those of the Standard Procedural Databases (Haines, "A proposal for standard graphics environments",
// IEEE Computer Graphics and Applications 7(11), 1987): same view, lights, surfaces and shapes, and as many objects.

// sky is the background that all of them share.
var sky = vec{0.078, 0.361, 0.753}

// generators make the scenes by name. Their sizes are SPD's size factors.
var generators = map[string]struct {
	scene    func(size int) *scene
	standard int // SPD's own size
	largest  int // about a million objects
}{
	"balls": {balls, 4, 6},
	"mount": {mount, 6, 9},
}

// balls is the sphere flake: a sphere that carries nine others of a third of its radius, and so on, size
// times: the sum of 9^i for i from 0 to size spheres and a floor.
func balls(size int) *scene {
	s := &scene{
		view:       view{from: vec{2.1, 1.3, 1.7}, up: vec{0, 0, 1}, angle: 45, hither: 0.01, width: 512, height: 512},
		background: sky,
	}
	for _, p := range []vec{{4, 3, 2}, {1, -4, 4}, {-3, 1, 5}} {
		s.lights = append(s.lights, light{p, vec{1, 1, 1}})
	}
	s.surfaces = append(s.surfaces, &surface{colour: vec{1, 0.75, 0.33}, diffuse: 0.8, index: 1})
	s.add(newPolygon([]vec{{12, 12, -0.5}, {-12, 12, -0.5}, {-12, -12, -0.5}, {12, -12, -0.5}}))
	s.surfaces = append(s.surfaces, &surface{colour: vec{1, 0.9, 0.7}, diffuse: 0.5, mirror: 0.5, shine: 3.0827,
		index: 1})
	s.flake(vec{}, 0.5, vec{0, 0, 1}, flakeDirections(), size)
	return s
}

// flakeDirections are those of the nine spheres on one that looks up: six around it and three above.
func flakeDirections() (dirs [9]vec) {
	high := math.Sqrt(2.0 / 3) // and so far out is the height of a regular tetrahedron with edges of 1
	out := math.Sqrt(1 - high*high)
	for i := range 3 {
		sin, cos := math.Sincos(math.Pi/4 + float64(i)*2*math.Pi/3)
		dirs[i] = vec{out * cos, out * sin, high}
	}
	for i := range 6 {
		sin, cos := math.Sincos(math.Pi/12 + float64(i)*math.Pi/3)
		dirs[3+i] = vec{cos, sin, 0}
	}
	return dirs
}

// flake adds a sphere that looks in the direction up, and those that it carries.
func (s *scene) flake(centre vec, radius float64, up vec, dirs [9]vec, levels int) {
	s.add(&sphere{centre, radius})
	if levels == 0 {
		return
	}
	turn := turnTo(up)
	for _, d := range dirs {
		d = turn(d)
		s.flake(centre.add(d.times(radius*4/3)), radius/3, d, dirs, levels-1)
	}
}

// turnTo returns the rotation that takes the z axis to the unit vector up on the shortest way.
func turnTo(up vec) func(vec) vec {
	if up.z < -1+1e-12 {
		return func(v vec) vec { return vec{-v.x, v.y, -v.z} }
	}
	axis := vec{0, 0, 1}.cross(up) // as long as the sine of the angle
	return func(v vec) vec {       // Rodrigues' formula
		return v.times(up.z).add(axis.cross(v)).add(axis.times(axis.dot(v) / (1 + up.z)))
	}
}

// mount is a fractal mountain of 2 * 4^size triangles behind a pyramid of four glass spheres.
func mount(size int) *scene {
	s := &scene{
		view:       view{from: vec{-1.6, 1.6, 1.7}, up: vec{0, 0, 1}, angle: 45, hither: 0.01, width: 512, height: 512},
		background: sky,
		lights:     []light{{vec{-100, -100, 100}, vec{1, 1, 1}}},
	}
	s.surfaces = append(s.surfaces, &surface{colour: vec{1, 1, 1}, diffuse: 0.1, mirror: 0.1, shine: 101.1,
		through: 0.9, index: 1.5})
	centre, radius := vec{-0.8, 0.8, 1}, 0.17
	out := radius * math.Sqrt(1.5) // of each sphere's centre from the pyramid's
	s.add(&sphere{centre.add(vec{0, 0, out}), radius})
	for i := range 3 {
		sin, cos := math.Sincos(-math.Pi/4 + float64(i)*2*math.Pi/3)
		side := out * math.Sqrt(8) / 3
		s.add(&sphere{centre.add(vec{side * cos, side * sin, -out / 3}), radius})
	}
	s.surfaces = append(s.surfaces, &surface{colour: vec{0.5, 0.45, 0.35}, diffuse: 1, index: 1})
	s.mountain(size)
	return s
}

// mountain adds a square of side 2 whose height is found by halving it again and again, and moving the new
// points up or down by a random amount that is as their distance, times a roughness that gives the surface a
// dimension of 2.2 (Fournier, Fussell, Carpenter, "Computer rendering of stochastic models", 1982).
//
// SPD takes these amounts from a hash function of its own, which it says is faulty; those here are others.
func (s *scene) mountain(size int) {
	const (
		side      = 2.0
		dimension = 2.2
	)
	n := 1 << size // squares along a side
	ratio := 2 / math.Pow(2, 1/(dimension-1))
	rough := math.Sqrt(ratio*ratio - 1)
	heights := make([]float64, (n+1)*(n+1))
	at := func(x, y int) *float64 { return &heights[y*(n+1)+x] }
	for step := n; step > 1; step /= 2 {
		half := step / 2
		rise := rough * side * float64(half) / float64(n)
		for y := 0; y <= n; y += half {
			for x := 0; x <= n; x += half {
				switch bump := rise * gaussian(x*(512/n), y*(512/n)); {
				case x%step != 0 && y%step != 0:
					*at(x, y) = (*at(x-half, y-half)+*at(x+half, y-half)+*at(x-half, y+half)+*at(x+half,
						y+half))/4 + math.Sqrt2*bump
				case x%step != 0:
					*at(x, y) = (*at(x-half, y)+*at(x+half, y))/2 + bump
				case y%step != 0:
					*at(x, y) = (*at(x, y-half)+*at(x, y+half))/2 + bump
				}
			}
		}
	}
	point := func(x, y int) vec {
		return vec{side*float64(x)/float64(n) - 1, side*float64(y)/float64(n) - 1, *at(x, y)}
	}
	for y := range n {
		for x := range n {
			a, b, c, d := point(x, y), point(x+1, y), point(x+1, y+1), point(x, y+1)
			s.add(newTriangle(a, b, c, nil))
			s.add(newTriangle(c, d, a, nil))
		}
	}
}

// gaussian is a random number for a point of the largest mountain, nearly normally distributed with a
// variance of 1: the sum of twelve that are spread evenly from -1/2 to 1/2. It takes no function whose last
// digits depend on the machine.
func gaussian(x, y int) float64 {
	const mountain = 8 // another number is another mountain
	state := uint64(mountain)<<32 | uint64(y)<<16 | uint64(x)
	sum := -6.0
	for range 12 { // SplitMix64 (Steele, Lea, Flood 2014)
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		sum += float64(z>>11) / (1 << 53)
	}
	return sum
}
