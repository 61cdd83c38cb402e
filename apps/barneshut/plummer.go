package barneshut

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The bodies are in chunks from the beginning: shells of one mass, each in eight octants, and these in six by which of
// a body's coordinates is the largest, and which the least. A chunk is moved by one job when all forces on it are
// known: with few and large ones a step takes longer.
const (
	shells  = 7
	octants = 8
	orders  = 6
	chunks  = shells * octants * orders
)

// Jobs name all regions, of so many chunks. With fewer and larger ones jobs are smaller, and the end of a step takes
// longer: a machine has to make the trees of the last that comes.
const (
	perRegion = 2 * orders
	regions   = chunks / perRegion
)

// chunk is which bodies belong to one at first.
func (p *Problem) chunk(c int) (first, next int) {
	return c * p.Bodies / chunks, (c + 1) * p.Bodies / chunks
}

// plummer draws the bodies of a chunk from a cluster in equilibrium (Plummer 1911; made like SPLASH's, by the
// recipe of Aarseth, Hénon and Wielen, Astronomy and Astrophysics 37, 1974): its mass and the constant of gravity
// are 1, its energy about -1/4. Each chunk has its part of the mass, and otherwise stars are where chance has them.
// The same seed gives the same bodies on every processor: there are no functions in it but the square root.
func (p *Problem) plummer(c int) []Body {
	const (
		within  = 0.999            // of the mass
		lengths = 3 * math.Pi / 16 // of the unit
	)
	speeds := math.Sqrt(1 / lengths)
	rng := rand.New(rand.NewPCG(p.Seed, uint64(p.Bodies)*chunks+uint64(c)))
	first, next := p.chunk(c)
	all := make([]Body, next-first)
	for i := range all {
		m := cubeRoot(within * (float64(c/octants/orders) + 1 - rng.Float64()) / shells)
		r := 1 / math.Sqrt(1/(m*m)-1)
		at := within48(direction(rng, lengths*r), c/orders%octants, c%orders)
		x := 0.0
		for y := 1.0; ; {
			x, y = rng.Float64(), rng.Float64()/10
			rest := 1 - float64(x*x)
			if y <= x*x*rest*rest*rest*math.Sqrt(rest) {
				break
			}
		}
		speed := direction(rng, speeds*math.Sqrt2*x/math.Sqrt(math.Sqrt(1+float64(r*r))))
		all[i] = Body{at, speed, int32(first + i)}
	}
	return all
}

// within48 turns a direction into the one like it in an octant in which its coordinates are in a certain order.
func within48(v Vec, octant, order int) (at Vec) {
	for k := range v {
		v[k] = math.Abs(v[k])
	}
	slices.Sort(v[:])
	first := order % 3
	second := (first + 1 + order/3) % 3
	at[first], at[second], at[3-first-second] = v[0], v[1], v[2]
	for k := range at {
		if octant>>k&1 == 1 {
			at[k] = -at[k]
		}
	}
	return at
}

// begin makes a chunk of the bodies that are drawn for it.
func (p *Problem) begin(c int) (m Moved) {
	m.Motion = divide(p.plummer(c), p.Leaf)
	m.Chunk = m.Motion.chunk(p.mass(), p.Leaf)
	for i := range m.Motion.at {
		for k, x := range m.Motion.at[i] {
			m.Sum.Place[k] += x
			m.Sum.Momentum[k] += m.Motion.speed[i][k]
		}
	}
	return m
}

// Drift is how far all bodies together are from where they should be, and how they move: bodies that are drawn one by
// one do not rest. The first step takes it away, as forces do not depend on it.
type Drift struct{ At, Speed Vec }

// drift is that of all bodies.
func (p *Problem) drift(all Sum) (d Drift) {
	n := float64(p.Bodies)
	for k := range d.At {
		d.At[k], d.Speed[k] = all.Place[k]/n, all.Momentum[k]/n
	}
	return d
}

// direction draws a vector of the given length.
func direction(rng *rand.Rand, length float64) Vec {
	for {
		v := Vec{2*rng.Float64() - 1, 2*rng.Float64() - 1, 2*rng.Float64() - 1}
		r2 := float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2])
		if r2 > 0 && r2 <= 1 {
			by := length / math.Sqrt(r2)
			return Vec{v[0] * by, v[1] * by, v[2] * by}
		}
	}
}

// cubeRoot is that of a number from 0 to 1, by Newton's method from above.
func cubeRoot(x float64) float64 {
	r := 1.0
	for range 200 {
		next := r - (r-x/(r*r))/3
		if next >= r {
			break
		}
		r = next
	}
	return r
}
