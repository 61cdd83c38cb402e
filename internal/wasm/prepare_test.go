package wasm

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func options() Options {
	return Options{Limits: DefaultLimits(), Allowed: func(module, _ string, _ FuncType) error {
		if module != "satin1" {
			return errors.New("which modules may not")
		}
		return nil
	}}
}

// header is the empty module.
const header = "\x00asm\x01\x00\x00\x00"

// Modules that could do harm, or are none, are refused with the reason.
func TestRefusals(t *testing.T) {
	nested := append(bytes.Repeat([]byte{opBlock, 0x40}, 1100), bytes.Repeat([]byte{opEnd}, 1101)...)
	table := append([]byte{opI32Const, 0, opBrTable, 0x88, 0x27}, make([]byte, 5001)...)
	long := append(bytes.Repeat([]byte{0x01}, 128<<10), opI64Const, 0, opEnd)
	locals := program{funcs: [][]byte{{1, 0x81, 0x08, typeI32, opI64Const, 0, opEnd}}, types: []int{0}}.bin()
	for _, c := range []struct {
		name, why string
		bin       []byte
	}{
		{"nothing", "no WebAssembly module", nil},
		{"an ELF file", "no WebAssembly module", []byte("\x7fELF\x02\x01\x01\x00\x00")},
		{"half a section", "wants 5 bytes where 1 are left", []byte(header + "\x01\x05\x00")},
		{"too large", "at most 16777216 are allowed", append([]byte(header), make([]byte, 16<<20)...)},
		{"sections out of order", "out of order", with(with([]byte(header), secFunction, 0), secType, 0)},
		{"an unknown section", "not known", with([]byte(header), 77, 0)},
		{"2^32 types", "has 4294967295 types", with([]byte(header), secType, 0xff, 0xff, 0xff, 0xff, 0x0f)},
		{"a long number", "more than 32 bits", with([]byte(header), secType, 0xff, 0xff, 0xff, 0xff, 0x1f)},
		{"a longer number", "more than 5 bytes", with([]byte(header), secType, 0x80, 0x80, 0x80, 0x80, 0x80, 0)},
		{"vectors", "SIMD", with([]byte(header), secType, 1, 0x60, 1, 0x7b, 0)},
		{"vector code", "SIMD", one(0xfd, 0x0c)},
		{"an import of a file", "imports \"open\" of \"env\"", with(with([]byte(header), secType, 1, 0x60, 0, 0),
			secImport, 1, 3, 'e', 'n', 'v', 4, 'o', 'p', 'e', 'n', kindFunc, 0)},
		{"an imported memory", "no function", with([]byte(header), secImport, 1, 1, 'e', 1, 'm', kindMem, 0, 1)},
		{"two memories", "more than one memory", with([]byte(header), secMemory, 2, 0, 1, 0, 1)},
		{"a large memory", "wants 65536 pages", with([]byte(header), secMemory, 1, 0, 0x80, 0x80, 4)},
		{"a shared memory", "shared", with([]byte(header), secMemory, 1, 3, 1, 2)},
		{"a large table", "table of 65537 elements", with([]byte(header), secTable, 1, 0x70, 0, 0x81, 0x80, 4)},
		{"passive data", "passive data", with([]byte(header), secData, 1, 1, 0)},
		{"deep blocks", "blocks in each other", one(nested...)},
		{"a large br_table", "targets of a br_table", one(table...)},
		{"a long function", "has 131076 bytes", one(long...)},
		{"many locals", "more than 1024 locals", locals},
		{"no code", "1 functions and code for 0", with(with([]byte(header), secType, 1, 0x60, 0, 0), secFunction, 1,
			0)},
		{"code without end", "ends in the middle", one(opI64Const, 0)},
		{"code after its end", "1 bytes too many", one(opI64Const, 0, opEnd, 0x01)},
		{"table.set", "changes or reads its table", one(0x26, 0)},
		{"table.grow", "may not use", one(0xfc, 0x0f, 0)},
		{"memory.init", "may not use", one(0xfc, 0x08, 0, 0)},
		{"a tail call", "may not use", one(0x12, 0)},
		{"an atomic", "may not use", one(0xfe, 0x03, 0)},
		{"a computed constant", "computed", with([]byte(header), secGlobal, 1, typeI32, 0, opI32Const, 0,
			opI32Const, 0, 0x6a,
			opEnd)},
	} {
		p, err := Prepare(c.bin, options())
		if err == nil {
			t.Errorf("%s: let through, as %d bytes", c.name, len(p.Code))
		} else if !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: refused with %q, want one line with %q", c.name, err, c.why)
		}
	}
}

// Whether a module imports a function is found out without what comes after its imports, which may take many times its
// bytes.
func TestImportsReadNoMore(t *testing.T) {
	bin := with([]byte(header), secType, 1, 0x60, 0, 0)
	bin = with(bin, secImport, 1, 6, 's', 'a', 't', 'i', 'n', '1', 1, 'f', kindFunc, 0)
	const n = 60_000 // references to nothing: three bytes each
	var elements writer
	elements.raw(1, 5, typeFunc)
	elements.u32(n)
	elements.raw(bytes.Repeat([]byte{opRefNull, typeFunc, opEnd}, n)...)
	bin = with(bin, secElement, elements.b...)
	if _, err := Prepare(bin, options()); err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(1, func() {
		if !Imports(bin, DefaultLimits(), "satin1", "f") || Imports(bin, DefaultLimits(), "satin1", "g") {
			t.Error("what it imports is not found")
		}
	})
	if allocations > 100 {
		t.Errorf("%v allocations", allocations)
	}
}

// What is added to a module cannot be named by it, though it would be there: not the fuel, not the local that holds a
// NaN before that is canonical, not what refuels.
func TestNothingOfTheHosts(t *testing.T) {
	const most = "\xff\xff\xff\xff\x0f" // 1<<32 - 1, after which comes 0
	section := func(id byte, content string) []byte {
		return with(with(with([]byte(header), secType, 1, 0x60, 0, 0), secFunction, 1, 0), id, []byte(content)...)
	}
	code := func(s string) []byte { return one(append([]byte(s), opEnd)...) }
	for want, list := range map[string][][]byte{
		"names local 0 of 0": {code("\x20\x00"), code("\x21\x00"), code("\x22\x00")},
		"names local 2 of 2": {program{funcs: [][]byte{{1, 2, typeF64, opLocalGet, 2, opEnd}}, types: []int{0}}.bin()},
		"names global 0 of 0": {code("\x23\x00"), code("\x24\x00"), section(secExport, "\x01\x01g\x03\x00"),
			section(secData, "\x01\x00\x23\x00\x0b\x00"), section(secElement, "\x01\x00\x23\x00\x0b\x00")},
		"names function 1 of 1": {code("\x10\x01"), code("\xd2\x01"), section(secStart, "\x01"),
			section(secExport, "\x01\x01f\x00\x01"), section(secElement, "\x01\x00\x41\x00\x0b\x01\x01"),
			section(secElement, "\x01\x04\x41\x00\x0b\x01\xd2\x01\x0b"),
			section(secGlobal, "\x01\x70\x00\xd2\x01\x0b")},
		"names function 4294967295 of 1": {code("\x10" + most), section(secStart, most)},
		"names type 2 of 2":              {code("\x02\x02"), code("\x03\x02"), code("\x11\x02\x00")},
	} {
		for _, bin := range list {
			if _, err := Prepare(bin, options()); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%x: %v, want that it %s", bin, err, want)
			}
		}
	}
}

// What is let through unchanged comes out as it went in, but for custom sections.
func TestUnchanged(t *testing.T) {
	o := options()
	o.NoFuel, o.NoNaN = true, true
	in := one(opI64Const, 0, opEnd)
	p, err := Prepare(with(in, secCustom, 1, 'x', 'y'), o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Prepare(p.Code, o)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(p.Code, again.Code) {
		t.Errorf("%x became %x", p.Code, again.Code)
	}
	if plain, err := Prepare(in, o); err != nil || !bytes.Equal(plain.Code, p.Code) {
		t.Errorf("with a custom section %x, without %x, %v", p.Code, plain.Code, err)
	}
	if _, has := p.Exports["f0"]; !has || len(p.Exports) != 1 {
		t.Errorf("exports %q", p.Exports)
	}
}

// Every way round pays: an entry, a loop's head, a copy; a short leaf does not.
func TestPrices(t *testing.T) {
	m := &module{lim: DefaultLimits(), funcs: []uint32{0}}
	for _, c := range []struct {
		name string
		code []byte
		want map[int]int32
	}{
		{"a short leaf", []byte{opI64Const, 0, opDrop, opEnd}, map[int]int32{}},
		{"a call", []byte{opCall, 0, opEnd}, map[int]int32{-1: 2}},
		{"a loop", []byte{opLoop, 0x40, opBr, 0, opEnd, opEnd}, map[int]int32{0: 4}},
		{"a loop after a call", []byte{opCall, 0, opLoop, 0x40, opBr, 0, opEnd, opEnd}, map[int]int32{-1: 3, 1: 2}},
		{"a loop that may be left out", []byte{opBlock, 0x40, opI32Const, 0, opBrIf, 0, opLoop, 0x40, opBr, 0, opEnd,
			opEnd, opCall, 0, opEnd}, map[int]int32{-1: 7, 3: 2}},
		{"calls in a loop", []byte{opBlock, 0x40, opI32Const, 0, opBrIf, 0, opLoop, 0x40, opCall, 0, opBr, 0, opEnd,
			opEnd, opEnd}, map[int]int32{3: 3}},
		{"a loop that nothing goes back to", []byte{opLoop, 0x40, opCall, 0, opEnd, opEnd}, map[int]int32{-1: 4}},
		{"such a loop in a loop", []byte{opI32Const, 0, opDrop, opLoop, 0x40, opLoop, 0x40, opCall, 0, opBr, 1, opEnd,
			opEnd, opEnd}, map[int]int32{2: 9}},
		{"the default of a table goes back", []byte{opLoop, 0x40, opBlock, 0x40, opI32Const, 0, opBrTable, 1, 0, 1,
			opEnd, opEnd, opEnd}, map[int]int32{0: 7}},
		{"a table that goes back", []byte{opLoop, 0x40, opBlock, 0x40, opI32Const, 0, opBrTable, 1, 1, 0,
			opEnd, opEnd, opEnd}, map[int]int32{0: 7}},
		{"a long leaf with a loop", append(append([]byte{opLoop, 0x40, opBr, 0, opEnd},
			bytes.Repeat([]byte{0x01}, 48)...), opEnd), map[int]int32{-1: 50, 0: 2}},
		{"a loop before much", append(append([]byte{opLoop, 0x40, opBr, 0, opEnd}, bytes.Repeat([]byte{0x01}, 100)...),
			opEnd), map[int]int32{-1: 102, 0: 2}},
		{"loops in each other", []byte{opLoop, 0x40, opBlock, 0x40, opLoop, 0x40, opBr, 0, opEnd, opEnd, opBr, 0, opEnd,
			opEnd}, map[int]int32{0: 7, 2: 2}},
		{"a long leaf", append(bytes.Repeat([]byte{0x01}, 1000), opEnd), map[int]int32{-1: maxPrice}},
	} {
		r := &reader{b: c.code, what: c.name}
		code := m.readCode(r, 0)
		if r.end(); r.err != nil {
			t.Fatal(r.err)
		}
		got := prices(code)
		if len(got) != len(c.want) {
			t.Errorf("%s: pays %v, want %v", c.name, got, c.want)
		}
		for at, n := range c.want {
			if got[at] != n {
				t.Errorf("%s: pays %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// FuzzPrepare: no bytes make it panic, what it lets through it lets through again, with the same outcome, and what is
// added to a module makes up for nothing that it lacks.
func FuzzPrepare(f *testing.F) {
	f.Add(one(opI64Const, 0, opEnd))
	f.Add(one(opLoop, 0x40, opBr, 0, opEnd, opI64Const, 0, opEnd))
	f.Add(one(opF32Const, 0, 0, 0, 0, opF32Ceil, 0xbc, opDrop, opLocalGet, 1, 0xbc, opExtend, opEnd))
	f.Add(one(opI32Const, 0, opGlobalSet, 0, opI64Const, 0, opEnd))
	f.Add(with([]byte(header), secElement, 1, 0, opI32Const, 0, opEnd, 0))
	f.Fuzz(func(t *testing.T, bin []byte) {
		o := options()
		o.Allowed = func(string, string, FuncType) error { return nil }
		p, err := Prepare(bin, o)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		o.NoFuel, o.NoNaN = true, true
		again, err := Prepare(p.Code, o)
		if err != nil {
			t.Fatalf("it does not read what it wrote: %v", err)
		}
		if len(again.Code) < len(p.Code) {
			t.Errorf("%d bytes became %d", len(p.Code), len(again.Code))
		}
		if plain, err := Prepare(bin, o); err != nil || compiles(p.Code) && !compiles(plain.Code) {
			t.Errorf("it is valid by what was added to it: %v", err)
		}
	})
}

// What Go makes of a program of some size has more segments of data than 65,536; browsers take 100,000.
func TestManySegments(t *testing.T) {
	memory := with([]byte(header), secMemory, 1, 0, 1)
	segment := []byte{0, opI32Const, 0, opEnd, 0}
	for n, why := range map[int]string{100_000: "", 100_001: "has 100001 data segments, at most 100000 are allowed"} {
		data := append([]byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)}, bytes.Repeat(segment, n)...)
		if _, err := Prepare(with(memory, secData, data...), options()); why == "" && err != nil ||
			why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
			t.Errorf("%d segments: %v, want %q", n, err, why)
		}
	}
}
