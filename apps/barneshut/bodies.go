package barneshut

import (
	"encoding/binary"
	"errors"
	"math"
)

// Body is a star, when it moves: its velocity is half a step older than its place, but at first.
type Body struct {
	At, Speed Vec
	Number    int32
}

// Chunk is what all others need of stars that are near each other: their places, in the order of their tree.
type Chunk struct{ tree *Tree }

func (c Chunk) empty() bool { return c.tree == nil || len(c.tree.At) == 0 }

// Motion is what nobody but a chunk's own job needs of its stars, in the same order.
type Motion struct {
	speed  []Vec
	number []int32
}

// Sum is a part of the energy, and of the momentum.
type Sum struct {
	Energy   float64
	Momentum Vec
}

// divide makes a chunk of bodies, which it puts into order.
func divide(bodies []Body, mass float64, leaf int) (Chunk, Motion) {
	arrange(bodies, leaf)
	at := make([]Vec, len(bodies))
	m := Motion{make([]Vec, len(bodies)), make([]int32, len(bodies))}
	for i := range bodies {
		at[i], m.speed[i], m.number[i] = bodies[i].At, bodies[i].Speed, bodies[i].Number
	}
	t := grow(at, mass, leaf)
	return Chunk{&t}, m
}

// appendTo is the opposite.
func (c *Chunk) appendTo(all []Body, m *Motion) []Body {
	if c.empty() || len(m.speed) != len(c.tree.At) || len(m.number) != len(m.speed) {
		return all
	}
	for i, at := range c.tree.At {
		all = append(all, Body{at, m.speed[i], m.number[i]})
	}
	return all
}

// arrange puts bodies into the order of a tree: half of them go to either side, along the longest edge of their box.
func arrange(bodies []Body, leaf int) {
	if len(bodies) <= leaf {
		return
	}
	low, high := bodies[0].At, bodies[0].At
	for i := range bodies {
		for k, x := range bodies[i].At {
			low[k], high[k] = min(low[k], x), max(high[k], x)
		}
	}
	axis := 0
	for k := range low {
		if high[k]-low[k] > high[axis]-low[axis] {
			axis = k
		}
	}
	half := len(bodies) / 2
	selectFirst(bodies, half, axis)
	arrange(bodies[:half], leaf)
	arrange(bodies[half:], leaf)
}

// selectFirst puts the first n in the order of an axis first (Hoare's Find, 1961). Bodies in one place go by number.
func selectFirst(bodies []Body, n, axis int) {
	before := func(a, b *Body) bool { // much faster than cmp.Compare, and places are numbers
		x, y := a.At[axis], b.At[axis]
		return x < y || x == y && a.Number < b.Number
	}
	for lo, hi := 0, len(bodies)-1; lo < hi; {
		pivot := bodies[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for before(&bodies[i], &pivot) {
				i++
			}
			for before(&pivot, &bodies[j]) {
				j--
			}
			if i <= j {
				bodies[i], bodies[j] = bodies[j], bodies[i]
				i, j = i+1, j-1
			}
		}
		if n <= j {
			hi = j
		} else if n >= i {
			lo = i
		} else {
			return
		}
	}
}

// step is a step of the bodies of a chunk on which such forces act (leap-frog, as in SPLASH). It gives them at its
// end, and the energy and momentum before it.
func (c *Chunk) step(m *Motion, forces []Force, time float64, first bool, leaf int) (next Chunk, moved Motion,
	sum Sum) {
	kick := time
	if first {
		kick /= 2
	}
	bodies := c.appendTo(make([]Body, 0, len(forces)), m)
	for i := range bodies {
		b, pull := &bodies[i], &forces[i]
		sum.Energy += pull[3] / 2
		for k := range b.Speed {
			now := b.Speed[k]
			if !first {
				now += float64(time / 2 * pull[k])
			}
			sum.Energy += float64(now*now) / 2
			sum.Momentum[k] += now
			b.Speed[k] += float64(kick * pull[k])
			b.At[k] = short(b.At[k] + float64(time*b.Speed[k]))
		}
	}
	next, moved = divide(bodies, c.tree.Mass, leaf)
	return next, moved, sum
}

// short rounds a number of eight bytes to the first six of them.
func short(x float64) float64 {
	return math.Float64frombits((math.Float64bits(x) + 1<<15) &^ (1<<16 - 1))
}

// Sizes of what is sent: of a body's place, motion and force, and of what stands before the places.
const (
	placeBytes  = 3 * 6
	motionBytes = 3*8 + 4
	forceBytes  = 4 * 8
	headBytes   = 8 + 2
)

var errChunk = errors.New("these are no stars")

// MarshalBinary gives the places: the boxes are made of them anew where they go.
func (c Chunk) MarshalBinary() ([]byte, error) {
	t := c.tree
	if t == nil {
		return nil, nil
	}
	leaf := 1
	for i := range t.Cells {
		if !t.divided(int32(i)) {
			leaf = max(leaf, int(t.Cells[i].Count))
		}
	}
	b := make([]byte, 0, headBytes+len(t.At)*placeBytes)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(t.Mass))
	b = binary.BigEndian.AppendUint16(b, uint16(leaf))
	for i := range t.At {
		for _, x := range t.At[i] {
			bits := math.Float64bits(x)
			b = binary.BigEndian.AppendUint32(b, uint32(bits>>32))
			b = binary.BigEndian.AppendUint16(b, uint16(bits>>16))
		}
	}
	return b, nil
}

// UnmarshalBinary is the opposite.
func (c *Chunk) UnmarshalBinary(b []byte) error {
	if len(b) == 0 {
		c.tree = nil
		return nil
	}
	if len(b) < headBytes || (len(b)-headBytes)%placeBytes != 0 {
		return errChunk
	}
	mass, leaf := math.Float64frombits(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint16(b[8:])
	b = b[headBytes:]
	at := make([]Vec, len(b)/placeBytes)
	for i := range at {
		place := b[i*placeBytes:][:placeBytes]
		for k := range at[i] {
			high, low := binary.BigEndian.Uint32(place[6*k:]), binary.BigEndian.Uint16(place[6*k+4:])
			at[i][k] = math.Float64frombits(uint64(high)<<32 | uint64(low)<<16)
		}
	}
	if leaf == 0 {
		return errChunk
	}
	t := grow(at, mass, int(leaf))
	c.tree = &t
	return nil
}

// MarshalBinary and UnmarshalBinary carry velocities and numbers.
func (m Motion) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, len(m.speed)*motionBytes)
	for i := range m.speed {
		b = appendFloats(b, m.speed[i][:])
		b = binary.BigEndian.AppendUint32(b, uint32(m.number[i]))
	}
	return b, nil
}

// UnmarshalBinary is the opposite of MarshalBinary.
func (m *Motion) UnmarshalBinary(b []byte) error {
	if len(b)%motionBytes != 0 {
		return errChunk
	}
	n := len(b) / motionBytes
	*m = Motion{make([]Vec, n), make([]int32, n)}
	for i := range n {
		b = takeFloats(b, m.speed[i][:])
		m.number[i] = int32(binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	return nil
}

// Forces are those on some bodies.
type Forces []Force

// MarshalBinary and UnmarshalBinary carry forces.
func (f Forces) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, len(f)*forceBytes)
	for i := range f {
		b = appendFloats(b, f[i][:])
	}
	return b, nil
}

// UnmarshalBinary is the opposite of MarshalBinary.
func (f *Forces) UnmarshalBinary(b []byte) error {
	if len(b)%forceBytes != 0 {
		return errChunk
	}
	*f = make(Forces, len(b)/forceBytes)
	for i := range *f {
		b = takeFloats(b, (*f)[i][:])
	}
	return nil
}

func appendFloats(b []byte, all []float64) []byte {
	for _, x := range all {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// takeFloats fills all and gives the rest.
func takeFloats(b []byte, all []float64) []byte {
	for i := range all {
		all[i] = math.Float64frombits(binary.BigEndian.Uint64(b[8*i:]))
	}
	return b[8*len(all):]
}
