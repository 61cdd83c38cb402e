package module

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"
)

// byHand loads a module that is written down here: of one page of memory, with a mutable i32 and, as the bodies of its
// functions without their ends, what is given or what does nothing. Its function 0 is satin1.read, and 1 satin1.write.
func byHand(t *testing.T, cfg Config, bodies map[string][]byte) *Module {
	t.Helper()
	const description = `{"abi": 1, "name": "byhand"}`
	const i32, i64, text = 0x7f, 0x7e, 32
	described := []byte{0x42, text, 0x42, 32, 0x86, 0x42, byte(len(description)), 0x84} // text<<32 | length
	sized := func(parts ...[]byte) []byte {
		all := slices.Concat(parts...)
		return append(binary.AppendUvarint(nil, uint64(len(all))), all...)
	}
	types := []byte{0x60, 1, i32, 1, i64, 0x60, 7, i32, i32, i32, i32, i32, i32, i32, 0}
	imports := slices.Concat([]byte{2}, sized([]byte("satin1")), sized([]byte("read")), []byte{0, 0},
		sized([]byte("satin1")), sized([]byte("write")), []byte{0, 1})
	var funcs, exports, code []byte
	for n, f := range []struct {
		name    string
		params  int
		result  byte
		nothing []byte
	}{
		{exportAttention, 0, i32, []byte{0x41, 8}},   // i32.const 8
		{exportAlloc, 1, i32, []byte{0x41, 0x80, 8}}, // i32.const 1024
		{exportRun, 3, i64, []byte{0x42, 0}},         // i64.const 0
		{exportDescribe, 0, i64, described},
		{exportSetup, 2, i64, []byte{0x42, 0}},
		{exportRender, 2, i64, []byte{0x42, 0}},
	} {
		types = append(append(append(types, 0x60), sized(slices.Repeat([]byte{i32}, f.params))...), 1, f.result)
		funcs = append(funcs, byte(n+2))
		exports = append(append(append(exports, sized([]byte(f.name))...), 0), byte(n+2))
		body, given := bodies[f.name]
		if !given {
			body = f.nothing
		}
		code = append(code, sized([]byte{0}, body, []byte{0x0b})...)
	}
	n := byte(len(funcs))
	bin := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id      byte
		content []byte
	}{
		{1, append([]byte{n + 2}, types...)}, {2, imports}, {3, append([]byte{n}, funcs...)}, {5, []byte{1, 0, 1}},
		{6, []byte{1, i32, 1, 0x41, 0, 0x0b}}, {7, append([]byte{n}, exports...)}, {10, append([]byte{n}, code...)},
		{11, slices.Concat([]byte{1, 0, 0x41, text, 0x0b}, sized([]byte(description)))},
	} {
		bin = append(append(bin, s.id), sized(s.content)...)
	}
	return loadBytes(t, cfg, bin)
}

// An instance that is made for a job is as one that other jobs have had, whatever the module does when it is asked for
// its attention word: else a job could tell how many run beside it.
func TestInstancesAreAlike(t *testing.T) {
	m := byHand(t, Config{}, map[string][]byte{ // it counts how often that is
		exportAttention: {0x23, 0, 0x41, 1, 0x6a, 0x24, 0, 0x41, 8},
	})
	had, err := m.get()
	if err != nil {
		t.Fatal(err)
	}
	made, err := m.get()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(had.wasm.image(), made.wasm.image()) {
		t.Error("memory or globals are others in one that was made than in one that was there")
	}
}
