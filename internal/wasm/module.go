package wasm

import (
	"bytes"
	"fmt"
)

// Limits bound a module before anything is compiled. Zero values allow nothing: begin with [DefaultLimits].
type Limits struct {
	Module  int    // bytes of the module
	Body    int    // bytes of one function
	Locals  int    // locals of one function, parameters included
	Targets int    // targets of one br_table
	Nesting int    // blocks in each other
	Table   int    // elements of all tables
	Entries int    // entries of any other list: types, functions, globals, exports, segments
	Pages   uint32 // pages of memory, of 64 KiB each: what a module may grow to
}

// DefaultLimits lets through what compilers make of ordinary programs, and bounds what compiling may cost. Browsers
// take 100,000 segments of data; Go makes 57,000 of its runtime alone.
func DefaultLimits() Limits {
	return Limits{
		Module: 16 << 20, Body: 128 << 10, Locals: 1024, Targets: 4096, Nesting: 1024, Table: 64 << 10,
		Entries: 100_000, Pages: 4096,
	}
}

// Numbers of sections.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

const (
	typeI32   = 0x7f
	typeI64   = 0x7e
	typeF32   = 0x7d
	typeF64   = 0x7c
	typeFunc  = 0x70
	typeExt   = 0x6f
	kindFunc  = 0
	kindTable = 1
	kindMem   = 2
	kindGlob  = 3
)

// maxTables bounds the tables of a module; compilers make one.
const maxTables = 4

// Types of values.
const (
	I32 = typeI32
	I64 = typeI64
)

// A FuncType is that of a function.
type FuncType struct{ Params, Results []byte }

// Equal says whether two are the same.
func (t FuncType) Equal(u FuncType) bool {
	return bytes.Equal(t.Params, u.Params) && bytes.Equal(t.Results, u.Results)
}

type imported struct {
	module, name string
	typ          uint32
}

type global struct {
	typ     byte
	mutable bool
	init    []instr
}

type exported struct {
	name  string
	kind  byte
	index uint32
}

// A body is the code of one function.
type body struct {
	locals []local
	nlocal int // with the parameters
	code   []byte
}

type local struct {
	n   uint32
	typ byte
}

// A segment is an element or a data segment: where it goes, and what it holds.
type segment struct {
	flag   uint32
	table  uint32 // or memory
	offset []instr
	kind   byte
	funcs  []uint32
	exprs  [][]instr
	data   []byte
}

// A module is what was read of a binary. Numbers of functions are those of the binary.
type module struct {
	lim      Limits
	types    []FuncType
	imports  []imported // of functions: no others are allowed
	funcs    []uint32   // their types
	tables   [][]byte   // as they were written
	memory   bool
	memMin   uint32
	memMax   uint32
	globals  []global
	exports  []exported
	start    int64 // -1: none
	elements []segment
	bodies   []body
	data     []segment
}

// read reads a whole module.
func read(bin []byte, lim Limits) (*module, error) {
	m, err := readTo(rank(0xff), bin, lim)
	if err == nil && len(m.bodies) != len(m.funcs) {
		err = fmt.Errorf("the module: has %d functions and code for %d", len(m.funcs), len(m.bodies))
	}
	return m, err
}

// readTo reads a module up to sections of a rank.
func readTo(most int, bin []byte, lim Limits) (*module, error) {
	if len(bin) > lim.Module {
		return nil, fmt.Errorf("the module has %d bytes, at most %d are allowed", len(bin), lim.Module)
	}
	if len(bin) < 8 || string(bin[:8]) != "\x00asm\x01\x00\x00\x00" {
		return nil, fmt.Errorf("this is no WebAssembly module (version 1)")
	}
	m := &module{lim: lim, start: -1}
	r := &reader{b: bin, at: 8, what: "the module"}
	last := 0
	for r.more() {
		id := r.byte()
		part := &reader{b: r.bytes(int(r.u32())), what: fmt.Sprintf("section %d", id)}
		if r.err != nil {
			break
		}
		if id != secCustom {
			if rank(id) <= last {
				return nil, fmt.Errorf("section %d is out of order or there twice", id)
			}
			if last = rank(id); last > most {
				return m, nil
			}
		}
		m.section(id, part)
		if part.end(); part.err != nil {
			return nil, part.err
		}
	}
	return m, r.err
}

// rank gives a section's place in the order of sections: the count of data segments comes before the code.
func rank(id byte) int {
	if id == secDataCount {
		return 2*secCode - 1
	}
	return 2 * int(id)
}

func (m *module) section(id byte, r *reader) {
	each := func(of string, f func()) {
		for range r.count(m.lim.Entries, of) {
			if f(); r.err != nil {
				return
			}
		}
	}
	switch id {
	case secCustom:
		r.name() // what follows is left out
		r.at = len(r.b)
	case secType:
		each("types", func() { m.types = append(m.types, m.readType(r)) })
	case secImport:
		each("imports", func() { m.imports = append(m.imports, m.readImport(r)) })
	case secFunction:
		each("functions", func() { m.funcs = append(m.funcs, m.typeIndex(r)) })
	case secTable:
		each("tables", func() { m.tables = append(m.tables, m.readTable(r)) })
	case secMemory:
		each("memories", func() { m.readMemory(r) })
	case secGlobal:
		each("globals", func() { m.globals = append(m.globals, m.readGlobal(r)) })
	case secExport:
		each("exports", func() { m.exports = append(m.exports, m.readExport(r)) })
	case secStart:
		m.start = int64(m.funcIndex(r))
	case secElement:
		each("element segments", func() { m.elements = append(m.elements, m.readElements(r)) })
	case secCode:
		n := r.count(m.lim.Entries, "functions")
		for i := 0; i < n && r.err == nil; i++ {
			m.bodies = append(m.bodies, m.readBody(r, i))
		}
	case secData:
		each("data segments", func() { m.data = append(m.data, m.readData(r)) })
	case secDataCount:
		r.u32()
	default:
		r.fail("is not known")
	}
}

func (m *module) readType(r *reader) (t FuncType) {
	if r.byte() != 0x60 {
		r.fail("has a type that is no function's")
		return t
	}
	t.Params = r.bytes(r.count(m.lim.Locals, "parameters"))
	t.Results = r.bytes(r.count(m.lim.Locals, "results"))
	for _, v := range [][]byte{t.Params, t.Results} {
		for _, c := range v {
			checkType(r, c)
		}
	}
	return t
}

// checkType refuses vectors, in which NaNs are hard to make canonical, and what is no type.
func checkType(r *reader, c byte) {
	switch c {
	case typeI32, typeI64, typeF32, typeF64, typeFunc, typeExt:
	case 0x7b:
		r.fail("uses vectors (SIMD), which modules may not")
	default:
		r.fail("has a value of the unknown type %#x", c)
	}
}

// typeOf is the type of a function.
func (m *module) typeOf(fn uint32) FuncType {
	if own := int(fn) - len(m.imports); own >= 0 {
		return m.types[m.funcs[own]]
	}
	return m.types[m.imports[fn].typ]
}

func (m *module) typeIndex(r *reader) uint32   { return r.index("type", len(m.types)) }
func (m *module) funcIndex(r *reader) uint32   { return r.index("function", len(m.imports)+len(m.funcs)) }
func (m *module) globalIndex(r *reader) uint32 { return r.index("global", len(m.globals)) }

func (m *module) readImport(r *reader) imported {
	i := imported{module: r.name(), name: r.name()}
	if kind := r.byte(); kind != kindFunc {
		r.fail("imports %s.%s, which is no function", i.module, i.name)
		return i
	}
	i.typ = m.typeIndex(r)
	return i
}

func (m *module) readTable(r *reader) []byte {
	from := r.at
	checkType(r, r.byte())
	flag := r.byte()
	least := int(r.u32())
	if flag&1 != 0 {
		r.u32()
	}
	if flag > 1 {
		r.fail("has a table of a kind that is not allowed")
	}
	if len(m.tables) == maxTables {
		r.fail("has more than %d tables", maxTables)
	}
	if least > m.lim.Table {
		r.fail("has a table of %d elements, at most %d are allowed", least, m.lim.Table)
	}
	if r.err != nil {
		return nil
	}
	return r.b[from:r.at]
}

func (m *module) readMemory(r *reader) {
	if m.memory {
		r.fail("has more than one memory")
	}
	flag := r.byte()
	m.memory, m.memMin, m.memMax = true, r.u32(), m.lim.Pages
	if flag&1 != 0 {
		m.memMax = min(r.u32(), m.lim.Pages)
	}
	if flag > 1 {
		r.fail("has a shared or 64-bit memory")
	}
	if m.memMin > m.lim.Pages {
		r.fail("wants %d pages of memory to begin with, at most %d are allowed", m.memMin, m.lim.Pages)
	}
}

func (m *module) readGlobal(r *reader) (g global) {
	g.typ = r.byte()
	checkType(r, g.typ)
	mut := r.byte()
	if mut > 1 {
		r.fail("has a global that is neither mutable nor not")
	}
	g.mutable = mut == 1
	if g.mutable && (g.typ == typeFunc || g.typ == typeExt) {
		r.fail("has a mutable global that refers to a function")
	}
	g.init = m.readExpr(r)
	return g
}

func (m *module) readExport(r *reader) exported {
	x := exported{name: r.name(), kind: r.byte()}
	switch x.kind {
	case kindFunc:
		x.index = m.funcIndex(r)
	case kindGlob:
		x.index = m.globalIndex(r)
	default:
		x.index = r.u32()
	}
	return x
}

func (m *module) readElements(r *reader) (s segment) {
	s.flag = r.u32()
	if s.flag > 7 {
		r.fail("has an element segment of an unknown kind")
		return s
	}
	active, explicit, exprs := s.flag&1 == 0, s.flag&2 != 0, s.flag&4 != 0
	if active {
		if explicit {
			s.table = r.u32()
		}
		s.offset = m.readExpr(r)
	}
	if explicit || !active {
		s.kind = r.byte()
	}
	n := r.count(m.lim.Table, "elements")
	for i := 0; i < n && r.err == nil; i++ {
		if exprs {
			s.exprs = append(s.exprs, m.readExpr(r))
		} else {
			s.funcs = append(s.funcs, m.funcIndex(r))
		}
	}
	return s
}

func (m *module) readData(r *reader) (s segment) {
	s.flag = r.u32()
	switch s.flag {
	case 2:
		s.table = r.u32()
		fallthrough
	case 0:
		s.offset = m.readExpr(r)
	default:
		r.fail("has passive data, which modules may not use")
	}
	s.data = r.bytes(int(r.u32()))
	return s
}

func (m *module) readBody(r *reader, i int) (b body) {
	size := int(r.u32())
	if size > m.lim.Body {
		r.fail("function %d has %d bytes, at most %d are allowed", i, size, m.lim.Body)
		return b
	}
	in := &reader{b: r.bytes(size), what: fmt.Sprintf("function %d", i)}
	if r.err != nil {
		return b
	}
	if i >= len(m.funcs) {
		r.fail("has code for more functions than there are")
		return b
	}
	total := len(m.types[m.funcs[i]].Params)
	for range in.count(m.lim.Locals, "groups of locals") {
		l := local{in.u32(), in.byte()}
		checkType(in, l.typ)
		if in.err != nil {
			break
		}
		if uint64(total)+uint64(l.n) > uint64(m.lim.Locals) {
			in.fail("has more than %d locals", m.lim.Locals)
			break
		}
		total += int(l.n)
		b.locals = append(b.locals, l)
	}
	b.nlocal = total
	if b.code = in.b[in.at:]; in.err != nil {
		r.err = in.err
	}
	return b
}
