package wasm

import (
	"fmt"
	"slices"
	"strconv"
)

// Options say what [Prepare] does to a module.
type Options struct {
	Limits Limits
	// Allowed says why a function may not be imported, by its name and its type.
	Allowed func(module, name string, t FuncType) error
	// Plain leaves out fuel and canonical NaNs: to see what they cost, or that they change nothing.
	NoFuel, NoNaN bool
}

// TickModule and TickName name the import that a metered module calls without fuel: () -> i32, the new fuel.
const (
	TickModule = "satin1"
	TickName   = "tick"
)

// GlobalPrefix and a number is the name by which a mutable global is exported, fuel included; MemoryName that of the
// memory.
const (
	GlobalPrefix = "satin1.global."
	MemoryName   = "satin1.memory"
)

// A Prepared module can be compiled and run.
type Prepared struct {
	Code    []byte
	Exports map[string]FuncType // its functions, by the names that the module gave them
	Globals []string            // names of its mutable globals
	Memory  bool                // it has one
}

// Version names what Prepare does: its outcome may be kept for as long as that is the same.
const Version = 4

// Imports says whether a module imports a function; false for what is no module within the limits. It reads no more
// than that takes: whoever asks may have no bound for its memory.
func Imports(bin []byte, l Limits, from, name string) bool {
	m, err := readTo(rank(secImport), bin, l)
	is := func(i imported) bool { return i.module == from && i.name == name }
	return err == nil && slices.ContainsFunc(m.imports, is)
}

// Prepare reads a module, checks it against the limits, and meters it.
func Prepare(bin []byte, o Options) (*Prepared, error) {
	m, err := read(bin, o.Limits)
	if err != nil {
		return nil, err
	}
	for _, i := range m.imports {
		if err := o.Allowed(i.module, i.name, m.types[i.typ]); err != nil {
			return nil, fmt.Errorf("the module imports %.40q of %.40q, %w", i.name, i.module, err)
		}
	}
	e := &emitter{m: m, o: o, tick: uint32(len(m.imports)), fuel: uint32(len(m.globals))}
	out := &Prepared{Exports: map[string]FuncType{}, Memory: m.memory}
	if out.Code, err = e.module(out); err != nil {
		return nil, err
	}
	return out, nil
}

// An emitter writes a module anew. With fuel there is one more import, tick, the last, so the numbers of functions
// that are not imported move up by one; and one more global, the last.
type emitter struct {
	m    *module
	o    Options
	tick uint32
	fuel uint32
	err  error
}

func (e *emitter) fn(i uint32) uint32 {
	if i >= e.tick && !e.o.NoFuel {
		return i + 1
	}
	return i
}

func (e *emitter) module(p *Prepared) ([]byte, error) {
	w := &writer{b: []byte("\x00asm\x01\x00\x00\x00")}
	m := e.m
	section := func(id byte, n int, each func(*writer, int)) {
		if n == 0 {
			return
		}
		w.raw(id)
		w.sized(func(w *writer) {
			w.u32(uint32(n))
			for i := range n {
				each(w, i)
			}
		})
	}
	types := slices.Clone(m.types)
	imports := m.imports
	if !e.o.NoFuel {
		imports = append(slices.Clone(imports), imported{TickModule, TickName, uint32(len(types))})
		types = append(types, FuncType{Results: []byte{typeI32}})
	}
	section(secType, len(types), func(w *writer, i int) {
		w.raw(0x60)
		w.name(string(types[i].Params))
		w.name(string(types[i].Results))
	})
	section(secImport, len(imports), func(w *writer, i int) {
		w.name(imports[i].module)
		w.name(imports[i].name)
		w.raw(kindFunc)
		w.u32(imports[i].typ)
	})
	section(secFunction, len(m.funcs), func(w *writer, i int) { w.u32(m.funcs[i]) })
	section(secTable, len(m.tables), func(w *writer, i int) { w.raw(m.tables[i]...) })
	if m.memory {
		section(secMemory, 1, func(w *writer, _ int) {
			w.raw(1)
			w.u32(m.memMin)
			w.u32(max(m.memMax, m.memMin))
		})
	}
	globals := m.globals
	if !e.o.NoFuel {
		zero := []instr{{op: opI32Const, imm: []byte{0}}, {op: opEnd}}
		globals = append(slices.Clone(globals), global{typeI32, true, zero})
	}
	section(secGlobal, len(globals), func(w *writer, i int) {
		g := globals[i]
		w.raw(g.typ, flag(g.mutable))
		e.expr(w, g.init)
	})
	exports := e.exports(p, globals)
	section(secExport, len(exports), func(w *writer, i int) {
		w.name(exports[i].name)
		w.raw(exports[i].kind)
		w.u32(exports[i].index)
	})
	if m.start >= 0 {
		w.raw(secStart)
		w.sized(func(w *writer) { w.u32(e.fn(uint32(m.start))) })
	}
	section(secElement, len(m.elements), func(w *writer, i int) { e.elements(w, m.elements[i]) })
	section(secCode, len(m.bodies), func(w *writer, i int) { w.sized(func(w *writer) { e.body(w, i) }) })
	section(secData, len(m.data), func(w *writer, i int) {
		w.raw(0)
		e.expr(w, m.data[i].offset)
		w.name(string(m.data[i].data))
	})
	return w.b, e.err
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// exports are the module's own, its mutable globals and its memory.
func (e *emitter) exports(p *Prepared, globals []global) []exported {
	list := make([]exported, 0, len(e.m.exports)+len(globals)+1)
	for _, x := range e.m.exports {
		if x.kind == kindFunc {
			p.Exports[x.name] = e.m.typeOf(x.index)
			x.index = e.fn(x.index)
		}
		list = append(list, x)
	}
	if p.Memory && !e.o.NoFuel {
		list = append(list, exported{MemoryName, kindMem, 0})
	}
	for i, g := range globals {
		if g.mutable {
			name := GlobalPrefix + strconv.Itoa(i)
			p.Globals = append(p.Globals, name)
			list = append(list, exported{name, kindGlob, uint32(i)})
		}
	}
	return list
}

func (e *emitter) elements(w *writer, s segment) {
	w.u32(s.flag)
	active, explicit, exprs := s.flag&1 == 0, s.flag&2 != 0, s.flag&4 != 0
	if active && explicit {
		w.u32(s.table)
	}
	if active {
		e.expr(w, s.offset)
	}
	if explicit || !active {
		w.raw(s.kind)
	}
	if exprs {
		w.u32(uint32(len(s.exprs)))
		for _, x := range s.exprs {
			e.expr(w, x)
		}
		return
	}
	w.u32(uint32(len(s.funcs)))
	for _, f := range s.funcs {
		w.u32(e.fn(f))
	}
}

func (e *emitter) expr(w *writer, code []instr) {
	for _, in := range code {
		e.instr(w, in)
	}
}

// instr writes an instruction as it was, but for the numbers of functions.
func (e *emitter) instr(w *writer, in instr) {
	switch {
	case in.op == opCall || in.op == opRefFunc:
		w.op(byte(in.op), e.fn(in.index))
	case in.op > 0xff:
		w.raw(0xfc)
		w.raw(in.imm...)
	default:
		w.raw(byte(in.op))
		w.raw(in.imm...)
	}
}

// body writes a function's locals and code, with fuel and canonical NaNs.
func (e *emitter) body(w *writer, i int) {
	b := e.m.bodies[i]
	r := &reader{b: b.code, what: fmt.Sprintf("function %d", i)}
	code := e.m.readCode(r, b.nlocal)
	if r.end(); r.err != nil {
		if e.err == nil {
			e.err = r.err
		}
		return
	}
	next := uint32(b.nlocal)
	locals := slices.Clone(b.locals)
	local := func(typ byte) uint32 {
		locals = append(locals, local{1, typ})
		next++
		return next - 1
	}
	var in writer
	mt := meter{writer: &in, fuel: e.fuel, tick: e.tick}
	var paid map[int]int32
	if !e.o.NoFuel {
		paid = prices(code)
		mt.local = local(typeI32)
	}
	if n, pays := paid[-1]; pays {
		mt.pay(n, false)
	}
	nan := map[byte]uint32{}
	for at, x := range code {
		bulk := !e.o.NoFuel && (x.op == opMemoryCopy || x.op == opMemoryFill)
		if bulk {
			in.op(opLocalTee, mt.local)
		}
		e.instr(&in, x)
		if n, pays := paid[at]; pays {
			mt.pay(n, false)
		}
		if bulk {
			mt.pay(1, true)
		}
		if x.op == opMemoryGrow && !e.o.NoFuel {
			mt.pay(growPrice, false)
		}
		if typ, makes := x.makesNaN(); makes && !e.o.NoNaN && seen(code, at) {
			if _, has := nan[typ]; !has {
				nan[typ] = local(typ)
			}
			in.canonical(typ, nan[typ])
		}
	}
	w.u32(uint32(len(locals)))
	for _, l := range locals {
		w.u32(l.n)
		w.raw(l.typ)
	}
	w.raw(in.b...)
}
