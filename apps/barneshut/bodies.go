package barneshut

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Body is a star, when it moves: its velocity is half a step older than its place, but at first.
type Body struct {
	At, Speed Vec
	Number    int32
}

// Place is where a star is for all others, to a ten-millionth: forces depend on the boxes thousands of times as much.
type Place [3]float32

// place rounds a place.
func (v Vec) place() Place { return Place{float32(v[0]), float32(v[1]), float32(v[2])} }

func (p Place) exact() Vec { return Vec{float64(p[0]), float64(p[1]), float64(p[2])} }

// Chunk is what all others need of stars that are near each other: their places, in the order of their tree. It is a
// pointer and nothing else, as each job of forces copies those of all chunks.
type Chunk struct{ tree *Tree }

// Motion is what nobody but a chunk's own job needs of its stars, in the same order: where they are, how they move and
// which they are.
type Motion struct {
	at, speed []Vec
	number    []int32
}

func motionOf(stars int) Motion {
	return Motion{make([]Vec, stars), make([]Vec, stars), make([]int32, stars)}
}

func (m *Motion) stars() int32 { return int32(len(m.number)) }

// chunk is what others need of it.
func (m *Motion) chunk(mass float64, leaf int) Chunk {
	at := make([]Place, len(m.at))
	for i := range at {
		at[i] = m.at[i].place()
	}
	t := grow(at, mass, leaf)
	return Chunk{&t}
}

// Sum is a part of the energy and of the momentum, and of places when these are drawn.
type Sum struct {
	Energy          float64
	Momentum, Place Vec
}

// divide puts the bodies of a chunk in order.
func divide(bodies []Body, leaf int) Motion {
	at := make([]Vec, len(bodies))
	for i := range bodies {
		at[i] = bodies[i].At
	}
	m := motionOf(len(bodies))
	for to, i := range arranged(at, leaf) {
		m.at[to], m.speed[to], m.number[to] = bodies[i].At, bodies[i].Speed, bodies[i].Number
	}
	return m
}

// appendTo is the opposite.
func (m *Motion) appendTo(all []Body) []Body {
	for i, at := range m.at {
		all = append(all, Body{at, m.speed[i], m.number[i]})
	}
	return all
}

// arranged says in which order bodies in these places make a tree: half of them go to either side, along the longest
// edge of their box.
func arranged(at []Vec, leaf int) []int32 {
	order := make([]int32, len(at))
	for i := range order {
		order[i] = int32(i)
	}
	arrange(at, order, leaf)
	return order
}

func arrange(at []Vec, order []int32, leaf int) {
	if len(order) <= leaf {
		return
	}
	low, high := at[order[0]], at[order[0]]
	for _, i := range order {
		for k, x := range at[i] {
			low[k], high[k] = min(low[k], x), max(high[k], x)
		}
	}
	axis := 0
	for k := range low {
		if high[k]-low[k] > high[axis]-low[axis] {
			axis = k
		}
	}
	half := len(order) / 2
	selectFirst(at, order, half, axis)
	arrange(at, order[:half], leaf)
	arrange(at, order[half:], leaf)
}

// selectFirst puts the first n in the order of an axis first (Hoare's Find, 1961). Bodies in one place go by number.
func selectFirst(at []Vec, order []int32, n, axis int) {
	before := func(a, b int32) bool { // much faster than cmp.Compare, and places are numbers
		x, y := at[a][axis], at[b][axis]
		return x < y || x == y && a < b
	}
	for lo, hi := 0, len(order)-1; lo < hi; {
		pivot := order[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for before(order[i], pivot) {
				i++
			}
			for before(pivot, order[j]) {
				j--
			}
			if i <= j {
				order[i], order[j] = order[j], order[i]
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

// expected says in which order the bodies of a chunk will make a tree after a step, by where they would be without
// forces: it can be found while these are. No force moves a body far in a step.
func (m *Motion) expected(time float64, leaf int) []int32 {
	at := make([]Vec, len(m.at))
	for i := range at {
		for k, x := range m.at[i] {
			at[i][k] = x + float64(time*m.speed[i][k])
		}
	}
	return arranged(at, leaf)
}

// move is a step of the bodies of a chunk on which such forces act (leap-frog, as in SPLASH). It gives them at its
// end in an order that expected has found, and the energy and momentum before it.
func (s *Step) move(order []int32, forces []Force) (m Moved) {
	kick, drift := s.Time, Drift{}
	if s.First != nil {
		kick, drift = kick/2, *s.First
	}
	m.Motion = motionOf(len(order))
	for to, i := range order {
		at, speed, pull := s.Motion.at[i], s.Motion.speed[i], &forces[i]
		m.Sum.Energy += pull[3] / 2
		for k := range speed {
			speed[k] -= drift.Speed[k]
			now := speed[k]
			if s.First == nil {
				now += float64(s.Time / 2 * pull[k])
			}
			m.Sum.Energy += float64(now*now) / 2
			m.Sum.Momentum[k] += now
			speed[k] += float64(kick * pull[k])
			at[k] += float64(s.Time*speed[k]) - drift.At[k]
		}
		m.Motion.at[to], m.Motion.speed[to], m.Motion.number[to] = at, speed, s.Motion.number[i]
	}
	m.Chunk = m.Motion.chunk(s.Mass, s.Leaf)
	return m
}

// Sizes of what is sent: of a body's place, motion and force, and of what stands before the places and before a chunk
// of a region.
const (
	placeBytes  = 3 * 4
	motionBytes = 6*8 + 4
	forceBytes  = 4 * 8
	headBytes   = 8 + 2
	lengthBytes = 4
)

var errChunk = errors.New("these are no stars")

// MarshalBinary gives the places: the boxes are made of them anew where they go.
func (c Chunk) MarshalBinary() ([]byte, error) { return c.appendPlaces(make([]byte, 0, c.size())), nil }

// size is that of what is sent.
func (c Chunk) size() int {
	if c.tree == nil {
		return 0
	}
	return headBytes + len(c.tree.At)*placeBytes
}

// appendPlaces appends what is sent.
func (c Chunk) appendPlaces(b []byte) []byte {
	if c.tree == nil {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.tree.Mass))
	b = binary.BigEndian.AppendUint16(b, uint16(c.tree.Leaf))
	end := len(b) + len(c.tree.At)*placeBytes
	b = slices.Grow(b, end-len(b))
	to := b[len(b):end]
	for i := range c.tree.At {
		at, p := &c.tree.At[i], (*[placeBytes]byte)(to)
		binary.BigEndian.PutUint32(p[0:], math.Float32bits(at[0]))
		binary.BigEndian.PutUint32(p[4:], math.Float32bits(at[1]))
		binary.BigEndian.PutUint32(p[8:], math.Float32bits(at[2]))
		to = to[placeBytes:]
	}
	return b[:end]
}

// UnmarshalBinary is the opposite.
func (c *Chunk) UnmarshalBinary(b []byte) error {
	*c = Chunk{}
	if len(b) == 0 {
		return nil
	}
	var m memory
	if err := m.need(b); err != nil {
		return err
	}
	*c = m.take().chunk(b)
	return nil
}

// memory is taken at once for all chunks that come together, which is much quicker.
type memory struct {
	trees, stars, cells int
	tree                []Tree
	at                  []Place
	cell                []Cell
}

// need adds what a chunk takes.
func (m *memory) need(b []byte) error {
	if len(b) < headBytes || (len(b)-headBytes)%placeBytes != 0 || leafOf(b) == 0 {
		return errChunk
	}
	n := (len(b) - headBytes) / placeBytes
	m.trees, m.stars, m.cells = m.trees+1, m.stars+n, m.cells+cellsOf(n, leafOf(b))
	return nil
}

func leafOf(b []byte) int { return int(binary.BigEndian.Uint16(b[8:])) }

func (m *memory) take() *memory {
	m.tree, m.at, m.cell = make([]Tree, m.trees), make([]Place, m.stars), make([]Cell, m.cells)
	return m
}

// chunk makes one of what was needed.
func (m *memory) chunk(b []byte) Chunk {
	t, n := &m.tree[0], (len(b)-headBytes)/placeBytes
	t.Mass, t.Leaf = math.Float64frombits(binary.BigEndian.Uint64(b)), leafOf(b)
	cells := cellsOf(n, t.Leaf)
	t.At, t.Cells = m.at[:n:n], m.cell[:0:cells]
	m.tree, m.at, m.cell = m.tree[1:], m.at[n:], m.cell[cells:]
	for i, b := 0, b[headBytes:]; i < n; i, b = i+1, b[placeBytes:] {
		p := (*[placeBytes]byte)(b)
		t.At[i] = Place{single(p[0:]), single(p[4:]), single(p[8:])}
	}
	t.grow()
	return Chunk{t}
}

// MarshalBinary gives the chunks one after the other, each after its length.
func (r Region) MarshalBinary() ([]byte, error) {
	if r == (Region{}) {
		return nil, nil
	}
	size := 0
	for _, c := range r {
		size += lengthBytes + c.size()
	}
	b := make([]byte, 0, size)
	for _, c := range r {
		b = c.appendPlaces(binary.BigEndian.AppendUint32(b, uint32(c.size())))
	}
	return b, nil
}

// UnmarshalBinary is the opposite.
func (r *Region) UnmarshalBinary(b []byte) error {
	*r = Region{}
	if len(b) == 0 {
		return nil
	}
	var parts [perRegion][]byte
	var m memory
	for i := range parts {
		if len(b) < lengthBytes {
			return errChunk
		}
		n := uint64(binary.BigEndian.Uint32(b))
		if b = b[lengthBytes:]; n > uint64(len(b)) {
			return errChunk
		}
		if parts[i], b = b[:n], b[n:]; n == 0 {
			continue
		}
		if err := m.need(parts[i]); err != nil {
			return err
		}
	}
	if len(b) > 0 {
		return errChunk
	}
	m.take()
	for i, p := range parts {
		if len(p) > 0 {
			r[i] = m.chunk(p)
		}
	}
	return nil
}

func single(b []byte) float32 { return math.Float32frombits(binary.BigEndian.Uint32(b)) }

// MarshalBinary and UnmarshalBinary carry places, velocities and numbers.
func (m Motion) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, len(m.speed)*motionBytes)
	for i := range m.speed {
		b = appendFloats(appendFloats(b, m.at[i][:]), m.speed[i][:])
		b = binary.BigEndian.AppendUint32(b, uint32(m.number[i]))
	}
	return b, nil
}

// UnmarshalBinary is the opposite of MarshalBinary.
func (m *Motion) UnmarshalBinary(b []byte) error {
	if len(b)%motionBytes != 0 {
		return errChunk
	}
	*m = motionOf(len(b) / motionBytes)
	for i := range m.number {
		b = takeFloats(takeFloats(b, m.at[i][:]), m.speed[i][:])
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
