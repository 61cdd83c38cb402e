package barneshut

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// State is the bodies at a moment, in a tree. The velocities are half a step older than the places, but for the first.
// Before anything has moved it is only what the bodies are drawn from.
type State struct {
	Tree  Tree
	Order []int32 // the numbers of the bodies in the tree
	Speed []Vec   // by number
	Leaf  int     // most bodies of a leaf

	Draw int    // so many bodies
	Seed uint64 // of this kind
}

// Kick is a step of the simulation: what acts on the bodies, and for how long. It is sent to all who have the
// bodies, so it has nothing that they do not need.
type Kick struct {
	Pulls []byte // in the order of the tree: three numbers of eight bytes for each body
	Time  float64
	First bool // the velocities are those of now
}

// kick packs forces on the bodies of a state, which may come in pieces.
func (s *State) kick(forces [][]Force, time float64, first bool) Kick {
	k := Kick{make([]byte, 0, len(s.Order)*pullBytes), time, first}
	for _, piece := range forces {
		for i := range piece {
			for _, x := range piece[i][:3] {
				k.Pulls = binary.LittleEndian.AppendUint64(k.Pulls, math.Float64bits(x))
			}
		}
	}
	return k
}

const pullBytes = 3 * 8

// pull is what acts on a body.
func (k *Kick) pull(i int) (v Vec) {
	b := k.Pulls[i*pullBytes:][:pullBytes]
	for j := range v {
		v[j] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*j:]))
	}
	return v
}

// advance makes the next state (leap-frog, as in SPLASH); the first is drawn. It is the object's global method: all
// replicas compute it.
func advance(old State, k Kick) State {
	if old.Draw > 0 {
		return plummer(old.Draw, old.Seed, old.Leaf)
	}
	next := State{Speed: make([]Vec, len(old.Speed)), Leaf: old.Leaf}
	at := make([]Vec, len(old.Speed))
	for i, n := range old.Order {
		speed, pull := old.Speed[n], k.pull(i)
		kick := k.Time
		if k.First {
			kick /= 2
		}
		for j := range speed {
			speed[j] += float64(kick * pull[j])
			at[n][j] = old.Tree.At[i][j] + float64(k.Time*speed[j])
		}
		next.Speed[n] = speed
	}
	next.Tree, next.Order = build(at, old.Tree.Mass, old.Leaf)
	return next
}

// energy is that of a state on which such forces act, and the amount of its momentum, with the velocities as they
// are at its moment.
func (s *State) energy(forces [][]Force, time float64, first bool) (energy, momentum float64) {
	var total Vec
	half := time / 2
	if first {
		half = 0
	}
	order := s.Order
	for _, piece := range forces {
		for i := range piece {
			energy += piece[i][3] / 2
			for j, v := range s.Speed[order[i]] {
				v += float64(half * piece[i][j])
				total[j] += v
				energy += float64(v*v) / 2
			}
		}
		order = order[len(piece):]
	}
	m := s.Tree.Mass
	return energy * m, m * math.Sqrt(float64(total[0]*total[0])+float64(total[1]*total[1])+float64(total[2]*total[2]))
}

// plummer is a cluster of stars in equilibrium (Plummer 1911; made like SPLASH's, by the recipe of Aarseth, Hénon and
// Wielen, Astronomy and Astrophysics 37, 1974): its mass and the constant of gravity are 1, its energy about -1/4. The
// same seed gives the same bodies on every processor: there are no functions in it but the square root.
func plummer(n int, seed uint64, leaf int) State {
	const (
		within  = 0.999            // of the mass
		lengths = 3 * math.Pi / 16 // of the unit
	)
	speeds := math.Sqrt(1 / lengths)
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	at, speed := make([]Vec, n), make([]Vec, n)
	for i := range n {
		m := cubeRoot(within * (1 - rng.Float64()))
		r := 1 / math.Sqrt(1/(m*m)-1)
		at[i] = direction(rng, lengths*r)
		x := 0.0
		for y := 1.0; ; {
			x, y = rng.Float64(), rng.Float64()/10
			rest := 1 - float64(x*x)
			if y <= x*x*rest*rest*rest*math.Sqrt(rest) {
				break
			}
		}
		speed[i] = direction(rng, speeds*math.Sqrt2*x/math.Sqrt(math.Sqrt(1+float64(r*r))))
	}
	rest(at)
	rest(speed)
	s := State{Speed: speed, Leaf: leaf}
	s.Tree, s.Order = build(at, 1/float64(n), leaf)
	return s
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

// rest takes the mean away.
func rest(all []Vec) {
	var mean Vec
	for _, v := range all {
		for k := range v {
			mean[k] += v[k]
		}
	}
	for i := range all {
		for k := range mean {
			all[i][k] -= mean[k] / float64(len(all))
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
