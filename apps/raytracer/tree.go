package raytracer

import (
	"math"
	"slices"
)

// tree finds the objects that a ray may meet: a binary tree of boxes, each around the objects below it.
type tree struct {
	nodes   []node // the root is the first
	objects []object
}

type object struct {
	shape
	surface *surface
}

// node is a leaf with the objects at first to first+count, or, with count 0, it has the children first and first+1.
type node struct {
	box   box
	first int32
	count int32
}

const (
	leafObjects = 4  // a node with so many objects or fewer is a leaf
	bins        = 16 // places to cut a node that are compared
	maxHeight   = 64 // of the tree: nodes so deep are leaves
)

func buildTree(objects []object) *tree {
	t := &tree{objects: slices.Clone(objects), nodes: make([]node, 1, max(1, len(objects)))}
	t.build(0, 0, int32(len(objects)), maxHeight)
	return t
}

// build makes node i of the objects from first on: it cuts them where that costs a ray least, by the surface
// area heuristic (MacDonald, Booth, "Heuristics for ray tracing using space subdivision", 1990): the chance
// that a ray meets a box is as its surface.
func (t *tree) build(i, first, count int32, height int) {
	objects := t.objects[first : first+count]
	around, centres := nothing, nothing
	for _, o := range objects {
		b := o.bounds()
		around = around.union(b)
		centres = centres.union(boxAround(b.centre()))
	}
	around = around.grown()
	t.nodes[i] = node{around, first, count}
	if count <= leafObjects || height == 1 {
		return
	}
	axis, at, found := cut(objects, centres)
	if !found { // all centres in one place
		return
	}
	left := int32(0) // how many have been put on the left side
	for k := range objects {
		if binOf(objects[k], centres, axis) < at {
			objects[k], objects[left] = objects[left], objects[k]
			left++
		}
	}
	children := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{}, node{})
	t.nodes[i] = node{box: around, first: children}
	t.build(children, first, left, height-1)
	t.build(children+1, first+left, count-left, height-1)
}

// cut returns the axis and the bin before which to cut with the least cost.
func cut(objects []object, centres box) (axis, at int, found bool) {
	cheapest := math.Inf(1)
	for a := range 3 {
		if !(centres.hi.along(a) > centres.lo.along(a)) {
			continue
		}
		var boxes [bins]box
		var counts [bins]int
		for i := range boxes {
			boxes[i] = nothing
		}
		for _, o := range objects {
			b := binOf(o, centres, a)
			boxes[b] = boxes[b].union(o.bounds())
			counts[b]++
		}
		var costAfter [bins]float64 // of the bins from i on
		after, n := nothing, 0
		for i := bins - 1; i > 0; i-- {
			after = after.union(boxes[i])
			n += counts[i]
			costAfter[i] = after.area() * float64(n)
		}
		before, n := nothing, 0
		for i := 1; i < bins; i++ {
			before = before.union(boxes[i-1])
			n += counts[i-1]
			if n == 0 || n == len(objects) {
				continue
			}
			if cost := before.area()*float64(n) + costAfter[i]; cost < cheapest {
				cheapest, axis, at, found = cost, a, i, true
			}
		}
	}
	return axis, at, found
}

// binOf tells in which of the bins along axis the centre of o lies.
func binOf(o object, centres box, axis int) int {
	lo, hi := centres.lo.along(axis), centres.hi.along(axis)
	return min(bins-1, int(bins*(o.bounds().centre().along(axis)-lo)/(hi-lo)))
}

// nearest returns the first object that r meets between from and to, and where.
func (t *tree) nearest(r ray, from, to float64) (hit *object, at float64) {
	t.walk(r, from, &to, func(o *object) bool {
		if d, ok := o.hit(r, from, to); ok {
			hit, to = o, d
		}
		return true
	})
	return hit, to
}

// clear returns which part of the light passes along r between from and to: of what comes straight, each
// object in the way lets through its part once.
func (t *tree) clear(r ray, from, to float64) float64 {
	light := 1.0
	t.walk(r, from, &to, func(o *object) bool {
		if _, ok := o.hit(r, from, to); ok {
			light *= o.surface.through
		}
		return light > 0
	})
	return light
}

// walk calls visit with every object whose box r meets between from and *to, which visit may lower, the nearer boxes
// first, until visit returns false.
func (t *tree) walk(r ray, from float64, to *float64, visit func(*object) bool) {
	inverse := vec{1 / r.dir.x, 1 / r.dir.y, 1 / r.dir.z}
	type visitLater struct {
		node int32
		at   float64 // where r enters its box
	}
	var stack [maxHeight + 1]visitLater
	for depth := 1; depth > 0; {
		depth--
		if stack[depth].at > *to {
			continue
		}
		n := &t.nodes[stack[depth].node]
		if n.count > 0 {
			for i := n.first; i < n.first+n.count; i++ {
				if !visit(&t.objects[i]) {
					return
				}
			}
			continue
		}
		if n.first == 0 { // an empty tree
			return
		}
		near, far := n.first, n.first+1
		nearAt, meetsNear := t.nodes[near].box.enters(r, inverse, from, *to)
		farAt, meetsFar := t.nodes[far].box.enters(r, inverse, from, *to)
		if farAt < nearAt {
			near, far, nearAt, farAt, meetsNear, meetsFar = far, near, farAt, nearAt, meetsFar, meetsNear
		}
		if meetsFar {
			stack[depth] = visitLater{far, farAt}
			depth++
		}
		if meetsNear {
			stack[depth] = visitLater{near, nearAt}
			depth++
		}
	}
}

// enters returns where r comes into b between from and to; false if it does not. Inverse is 1 over its direction.
func (b *box) enters(r ray, inverse vec, from, to float64) (float64, bool) {
	x1, x2 := (b.lo.x-r.origin.x)*inverse.x, (b.hi.x-r.origin.x)*inverse.x
	y1, y2 := (b.lo.y-r.origin.y)*inverse.y, (b.hi.y-r.origin.y)*inverse.y
	z1, z2 := (b.lo.z-r.origin.z)*inverse.z, (b.hi.z-r.origin.z)*inverse.z
	if x1 > x2 {
		x1, x2 = x2, x1
	}
	if y1 > y2 {
		y1, y2 = y2, y1
	}
	if z1 > z2 {
		z1, z2 = z2, z1
	}
	// Comparisons in this order let a NaN, 0 times infinity for a ray in the plane of a side, pass.
	if x1 > from {
		from = x1
	}
	if y1 > from {
		from = y1
	}
	if z1 > from {
		from = z1
	}
	if x2 < to {
		to = x2
	}
	if y2 < to {
		to = y2
	}
	if z2 < to {
		to = z2
	}
	return from, from <= to
}
