package module

import "bytes"

// What modules import to share values; docs/modules.md says what each does.
var satin1Shared = map[string]hostFunc{
	"constant": {types(i32, i32, i32), nil, shareConstant},
	"object":   {types(i32, i32, i32), nil, shareObject},
	"write":    {types(i32, i32, i32, i32, i32, i32, i32), nil, writeObject},
	"lattice":  {types(i32, i32, i32, i32), nil, shareLattice},
	"read":     {types(i32), types(i64), readValue},
	"value":    {types(i32), types(i64), latticeValue},
	"grow":     {types(i32, i32, i32), nil, growLattice},
	"naming":   {types(i32, i32, i32), nil, naming},
	"file":     {types(i32, i32, i32), types(i32), namedFile},
}

// maxNames is how many shared values a job may name.
const maxNames = 64

func (in *instance) sharing() Shared {
	if in.shared == nil {
		in.refuse("it shares values where it may not")
	}
	return in.shared
}

// copied are bytes of the module's that the host keeps.
func (in *instance) copied(at, n uint64) []byte {
	if uint32(n) > maxValue {
		in.refuse("it shares %d bytes, at most %d are allowed", uint32(n), maxValue)
	}
	return bytes.Clone(in.bytes(at, n))
}

func (in *instance) name(at uint64) Name { return Name(in.bytes(at, uint64(nameSize))) }

func (in *instance) named(to uint64, n Name) { in.put(to, n[:]) }

func shareConstant(in *instance, a []uint64) {
	in.named(a[2], in.sharing().Constant(in.copied(a[0], a[1])))
}

func shareObject(in *instance, a []uint64) {
	in.named(a[2], in.sharing().Object(in.copied(a[0], a[1])))
}

func writeObject(in *instance, a []uint64) {
	write, next := in.copied(a[2], a[3]), in.copied(a[4], a[5])
	in.named(a[6], in.sharing().Write(uint32(a[0]), in.name(a[1]), write, next))
}

func shareLattice(in *instance, a []uint64) {
	in.mayDiffer()
	in.named(a[3], in.sharing().Lattice(uint32(a[0]), in.copied(a[1], a[2])))
}

// readValue keeps the bytes for result.
func readValue(in *instance, a []uint64) {
	in.result = in.sharing().Read(in.name(a[0]))
	in.touches(len(in.result))
	a[0] = uint64(len(in.result))
}

const unchanged = 1<<64 - 1

func latticeValue(in *instance, a []uint64) {
	in.mayDiffer()
	name := in.name(a[0])
	v := in.sharing().Value(name)
	in.touches(len(v))
	if last, asked := in.seen[name]; asked && last == v {
		a[0] = unchanged
		return
	}
	if in.seen == nil {
		in.seen = map[Name]string{}
	}
	if len(in.seen) >= maxNames {
		in.refuse("a job looks at more than %d lattices", maxNames)
	}
	in.seen[name], in.result = v, []byte(v)
	a[0] = uint64(len(v))
}

// grewElsewhere says whether a lattice that the job looks at has other values than it has seen.
func (in *instance) grewElsewhere() bool {
	for name, last := range in.seen {
		if in.shared.Value(name) != last {
			return true
		}
	}
	return false
}

func growLattice(in *instance, a []uint64) {
	in.mayDiffer()
	in.sharing().Grow(in.name(a[0]), in.copied(a[1], a[2]))
	in.touches(touchesMost) // the module's own methods have looked at it, and nobody ends these
}

// naming says what the next job that is offered, or the root job, names.
func naming(in *instance, a []uint64) {
	n := uint32(a[1])
	if n > maxNames {
		in.refuse("a job names %d shared values, at most %d are allowed", n, maxNames)
	}
	in.names, in.guard = in.copied(a[0], uint64(n)*uint64(nameSize)), uint32(a[2]) != 0
}

// takeNames gives what naming has said.
func (in *instance) takeNames() (names []byte, guard bool) {
	names, guard = in.names, in.guard
	in.names, in.guard = nil, false
	return names, guard
}

func namedFile(in *instance, a []uint64) {
	name, ok := in.sharing().File(string(in.bytes(a[0], a[1])))
	if !ok {
		a[0] = 0
		return
	}
	in.named(a[2], name)
	a[0] = 1
}
