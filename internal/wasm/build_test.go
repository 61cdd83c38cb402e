package wasm

import "fmt"

// A program makes a module by hand, for tests: functions of no or i64 parameters.
type program struct {
	funcs [][]byte // locals and code of each, without the length
	types []int    // 0: () -> i64, 1: () -> ()
	pages uint32
}

// bin gives the module: function i is exported as f<i>, the memory as memory.
func (p program) bin() []byte {
	w := &writer{b: []byte("\x00asm\x01\x00\x00\x00")}
	section := func(id byte, fill func(*writer)) {
		w.raw(id)
		w.sized(fill)
	}
	section(secType, func(w *writer) { w.raw(2, 0x60, 0, 1, typeI64, 0x60, 0, 0) })
	section(secFunction, func(w *writer) {
		w.u32(uint32(len(p.funcs)))
		for i := range p.funcs {
			w.u32(uint32(p.types[i]))
		}
	})
	section(secMemory, func(w *writer) { w.raw(1, 0); w.u32(p.pages) })
	section(secExport, func(w *writer) {
		w.u32(uint32(len(p.funcs) + 1))
		w.name("memory")
		w.raw(kindMem, 0)
		for i := range p.funcs {
			w.name(fmt.Sprint("f", i))
			w.raw(kindFunc)
			w.u32(uint32(i))
		}
	})
	section(secCode, func(w *writer) {
		w.u32(uint32(len(p.funcs)))
		for _, f := range p.funcs {
			w.name(string(f))
		}
	})
	return w.b
}

// one is a module of one function () -> i64 with the given code after no locals.
func one(code ...byte) []byte {
	return program{funcs: [][]byte{append([]byte{0}, code...)}, types: []int{0}, pages: 1}.bin()
}

// with appends a section to a module.
func with(bin []byte, id byte, content ...byte) []byte {
	w := &writer{b: append([]byte(nil), bin...)}
	w.raw(id)
	w.name(string(content))
	return w.b
}
