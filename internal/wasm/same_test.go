package wasm

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"
)

// run compiles and runs f0 of a module, and gives its result, its memory's beginning and how often it asked for fuel.
func run(t rapid.TB, bin []byte, o Options) (res uint64, mem string, ticks int) {
	p, err := Prepare(bin, o)
	if err != nil {
		t.Fatalf("refused: %v\n%x", err, bin)
	}
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	_, err = rt.NewHostModuleBuilder(TickModule).NewFunctionBuilder().WithGoFunction(api.GoFunc(
		func(_ context.Context, stack []uint64) {
			if ticks++; ticks > 100_000 {
				panic(errors.New("too long"))
			}
			stack[0] = 1000
		}), nil, []api.ValueType{api.ValueTypeI32}).Export(TickName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rt.Instantiate(ctx, p.Code)
	if err != nil {
		t.Fatalf("does not compile: %v\n%x", err, p.Code)
	}
	out, err := m.ExportedFunction("f0").Call(ctx)
	if err != nil {
		return 1, err.Error()[:20], ticks
	}
	b, _ := m.Memory().Read(0, 4096)
	return out[0], string(b), ticks
}

// compiles says whether a module is valid.
func compiles(code []byte) bool {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	_, err := rt.CompileModule(ctx, code)
	return err == nil
}

// A coder draws the code of a function that ends: locals 0 and 1 are f64, 2 i64, 3 an i32 counter of loops.
type coder struct {
	t *rapid.T
	w writer
	n int // instructions left to draw
	// blind: nothing looks at a float's bits
	blind bool
}

func (c *coder) pick(most int) int {
	c.n--
	return rapid.IntRange(0, most).Draw(c.t, "choice")
}

func (c *coder) float() {
	k := c.pick(9)
	if c.n < 0 {
		k = 0
	}
	switch {
	case k < 2:
		c.w.op(opLocalGet, uint32(k))
	case k < 4:
		f := rapid.SampledFrom([]float64{0, 1, -1.5, math.Inf(1), math.NaN(), 1e308, 5e-324}).Draw(c.t, "constant")
		c.w.raw(opF64Const)
		c.w.b = binary.LittleEndian.AppendUint64(c.w.b, math.Float64bits(f))
	case k < 7:
		c.float()
		c.float()
		last := opF64Copysign
		if c.blind {
			last--
		}
		c.w.raw(byte(rapid.IntRange(0xa0, last).Draw(c.t, "operation")))
	case k == 7:
		c.float()
		c.w.raw(rapid.SampledFrom([]byte{opF64Abs, 0x9a, opF64Ceil, 0x9c, 0x9d, 0x9e, 0x9f}).Draw(c.t, "operation"))
	case k == 8:
		c.float()
		c.w.raw(opF32Demote, opF64Promote)
	default:
		c.int()
		c.w.raw(0xb9) // f64.convert_i64_s
	}
}

func (c *coder) int() {
	k := c.pick(6)
	if c.n < 0 || c.blind && k == 1 {
		k = 0
	}
	switch k {
	case 0:
		c.w.op(opLocalGet, 2)
	case 1:
		c.float()
		c.w.raw(0xbd) // i64.reinterpret_f64
	case 2:
		c.float()
		c.w.raw(0xfc, 6) // i64.trunc_sat_f64_s
	case 3:
		c.float()
		c.float()
		c.w.raw(byte(rapid.IntRange(opF64Eq, opF64Ge).Draw(c.t, "comparison")), opExtend)
	case 4:
		c.w.raw(opI64Const)
		c.w.s32(rapid.Int32().Draw(c.t, "constant"))
	default:
		c.int()
		c.int()
		c.w.raw(rapid.SampledFrom([]byte{0x7c, 0x7d, 0x7e, 0x83, 0x85, 0x86}).Draw(c.t, "operation"))
	}
}

func (c *coder) statement(depth int) {
	switch k := c.pick(8); {
	case k < 2:
		c.float()
		c.w.op(opLocalSet, uint32(k))
	case k == 2:
		c.int()
		c.w.op(opLocalSet, 2)
	case k == 3:
		c.w.raw(opI32Const)
		c.w.s32(int32(rapid.IntRange(0, 4000).Draw(c.t, "address")))
		c.float()
		c.w.raw(0x39, 3, 0) // f64.store
	case k == 4 && depth < 3: // a loop of 3
		c.w.op(opLocalGet, 3)
		c.w.raw(opI32Const, 0)
		c.w.op(opLocalSet, 3)
		c.w.raw(opLoop, 0x40)
		c.statement(depth + 1)
		c.statement(depth + 1)
		c.w.op(opLocalGet, 3)
		c.w.raw(opI32Const, 1, 0x6a)
		c.w.op(opLocalTee, 3)
		c.w.raw(opI32Const, 3, opI32LtS, opBrIf, 0, opEnd)
		c.w.op(opLocalSet, 3)
	case k == 5 && depth < 3:
		c.int()
		c.w.raw(0x50, opIf, 0x40) // i64.eqz
		c.statement(depth + 1)
		c.w.raw(opElse)
		c.statement(depth + 1)
		c.w.raw(opEnd)
	case k == 6:
		c.w.raw(opI32Const, 0x80, 8, opI32Const, 0, opI32Const, 0x80, 2, 0xfc, 10, 0, 0)
	case k == 7:
		c.float()
		c.float()
		c.w.op(opLocalGet, 3)
		c.w.raw(opSelect)
		c.w.op(opLocalSet, 0)
	default:
		c.w.raw(opCall, 1, opDrop)
	}
}

// drawn is a module of two functions, the second of which is called by the first.
func drawn(t *rapid.T) []byte {
	body := func(instructions, statements int) []byte {
		c := coder{t: t, n: instructions}
		c.w.raw(3, 2, typeF64, 1, typeI64, 1, typeI32)
		c.w.op(opCall, 1)
		c.w.raw(opDrop)
		for range statements {
			c.statement(0)
		}
		c.int()
		c.w.raw(opEnd)
		return c.w.b
	}
	leaf := []byte{1, 1, typeF64, opI64Const, 7, opEnd}
	return program{funcs: [][]byte{body(60, 6), leaf}, types: []int{0, 0}, pages: 1}.bin()
}

// Fuel changes nothing that a program can see.
func TestSame(t *testing.T) { rapid.Check(t, same) }

// FuzzSame is the same for programs that the fuzzer chooses.
func FuzzSame(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Fuzz(rapid.MakeFuzz(same))
}

func same(t *rapid.T) {
	bin := drawn(t)
	o := options()
	o.NoFuel = true
	want, mem, _ := run(t, bin, o)
	o.NoFuel = false
	got, mem2, ticks := run(t, bin, o)
	if got != want || mem != mem2 {
		t.Errorf("with fuel %#x, without %#x; memories equal: %v", got, want, mem == mem2)
	}
	if ticks == 0 {
		t.Error("it never asked for fuel, of which it had none")
	}
}

// Where no NaN's bits are seen, making them canonical changes nothing.
func TestSameNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := coder{t: t, n: 40, blind: true}
		c.w.raw(3, 2, typeF64, 1, typeI64, 1, typeI32)
		c.float()
		c.w.op(opLocalTee, 0)
		c.w.op(opLocalGet, 0)
		c.w.raw(opF64Eq, opIf, typeI64)
		c.w.op(opLocalGet, 0)
		c.w.raw(0xbd, opElse, opI64Const, 1, opEnd, opEnd)
		bin := program{funcs: [][]byte{c.w.b}, types: []int{0}, pages: 1}.bin()
		o := options()
		got, _, _ := run(t, bin, o)
		o.NoNaN = true
		want, _, _ := run(t, bin, o)
		if got != want {
			t.Errorf("%#x with canonical NaNs, %#x without", got, want)
		}
	})
}

// Arithmetic on NaNs with payloads and signs gives the canonical NaN, wherever it is looked at.
func TestCanonical(t *testing.T) {
	odd := []byte{opF64Const, 1, 2, 3, 0, 0, 0, 0xfc, 0xff} // a negative NaN with a payload
	arithmetic := [][]byte{
		append(append(append([]byte{}, odd...), odd...), 0xa0),
		append(append([]byte{}, odd...), 0x9f),
		append(append([]byte{}, odd...), opF32Demote, opF64Promote),
		append(append(append(append([]byte{}, odd...), odd...), 0xa2), append(append([]byte{}, odd...), 0xa1)...),
	}
	for _, expr := range arithmetic {
		for name, look := range map[string][]byte{
			"reinterpret":        {0xbd},
			"a local":            {opLocalSet, 0, opLocalGet, 0, 0xbd},
			"a negation":         {0x9a, 0x9a, 0xbd},
			"a store":            {opLocalSet, 0, opI32Const, 0, opLocalGet, 0, 0x39, 3, 0, opI32Const, 0, 0x29, 3, 0},
			"the end of a block": {opLocalSet, 0, opBlock, typeF64, opLocalGet, 0, opEnd, 0xbd},
		} {
			code := append([]byte{1, 1, typeF64}, expr...)
			code = append(append(code, look...), opEnd)
			bin := program{funcs: [][]byte{code}, types: []int{0}, pages: 1}.bin()
			if got, _, _ := run(t, bin, options()); got != 0x7ff8000000000000 {
				t.Errorf("%x through %s gives %#x", expr, name, got)
			}
		}
	}
}

// A copy pays for its size.
func TestCopiesPay(t *testing.T) {
	ticks := func(size ...byte) int {
		one := append(append([]byte{opI32Const, 0, opI32Const, 0, opI32Const}, size...), 0xfc, 10, 0, 0)
		code := append(append(append([]byte{0}, one...), one...), opI64Const, 0, opEnd)
		_, _, n := run(t, program{funcs: [][]byte{code}, types: []int{0}, pages: 1}.bin(), options())
		return n
	}
	if small, large := ticks(1), ticks(0x80, 0x80, 2); large <= small {
		t.Errorf("a copy of 1 byte asks for fuel %d times, one of 32 KiB %d times", small, large)
	}
}
