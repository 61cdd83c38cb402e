package wasm

// An instr is one instruction. Those of the prefix 0xfc have 0xfc in the upper byte of op.
type instr struct {
	op    uint16
	index uint32 // of what it names first: a label, function, local, global, type
	imm   []byte // all that follows op, as written
}

// Instructions that matter here.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opLoad         = 0x28 // the first of the loads
	opStore        = 0x36 // the first of the stores
	opLastStore    = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32LtS       = 0x48
	opF32Eq        = 0x5b
	opF32Ne        = 0x5c
	opF64Eq        = 0x61
	opF64Ge        = 0x66
	opF64Ne        = 0x62
	opI32Sub       = 0x6b
	opI32ShrU      = 0x76
	opF32Abs       = 0x8b
	opF32Ceil      = 0x8d
	opF32Copysign  = 0x98
	opF64Abs       = 0x99
	opF64Ceil      = 0x9b
	opF64Copysign  = 0xa6
	opTruncFirst   = 0xa8 // to integers, from floats: up to opTruncLast but for one
	opExtend       = 0xac // i64.extend_i32_s, and the unsigned one after it
	opTruncLast    = 0xb1
	opF32Demote    = 0xb6
	opF64Promote   = 0xbb
	opLastNumeric  = 0xc4
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMemoryCopy   = 0xfc0a
	opMemoryFill   = 0xfc0b
	opTableSize    = 0xfc10
)

// readInstr reads one instruction of a function with so many locals.
func (m *module) readInstr(r *reader, locals int) (in instr) {
	in.op = uint16(r.byte())
	from := r.at
	switch op := in.op; {
	case op == opBlock || op == opLoop || op == opIf:
		m.readBlockType(r)
	case op == opCallIndirect:
		in.index = m.typeIndex(r)
		r.u32()
	case op == opBrTable:
		n := r.count(m.lim.Targets, "targets of a br_table")
		for i := 0; i <= n && r.err == nil; i++ {
			r.u32()
		}
	case op == opBr, op == opBrIf:
		in.index = r.u32()
	case op == opCall, op == opRefFunc:
		in.index = m.funcIndex(r)
	case op >= opLocalGet && op <= opLocalTee:
		in.index = r.index("local", locals)
	case op == opGlobalGet, op == opGlobalSet:
		in.index = m.globalIndex(r)
	case op == opSelectTyped:
		if r.u32() != 1 {
			r.fail("has a select of several values")
		}
		checkType(r, r.byte())
	case op >= opLoad && op <= opLastStore:
		r.u32()
		r.u32()
	case op == opMemorySize || op == opMemoryGrow:
		if r.byte() != 0 {
			r.fail("names a second memory")
		}
	case op == opI32Const:
		r.signed(32)
	case op == opI64Const:
		r.signed(64)
	case op == opF32Const:
		r.bytes(4)
	case op == opF64Const:
		r.bytes(8)
	case op == opRefNull:
		r.byte()
	case op == 0xfc:
		in.op |= 0xfc00 &^ 0xff
		in.op = 0xfc00 | uint16(min(r.u32(), 0xff))
		m.readPrefixed(r, in.op)
	case op == opUnreachable, op == 0x01, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect,
		op == opRefIsNull, op > opF64Const && op <= opLastNumeric:
	case op == 0x25 || op == 0x26:
		r.fail("changes or reads its table, which modules may not")
	case op == 0xfd:
		r.fail("uses vectors (SIMD), which modules may not")
	default:
		r.fail("has the instruction %#x, which modules may not use", op)
	}
	if r.err == nil {
		in.imm = r.b[from:r.at]
	}
	return in
}

// targets gives the labels of a br_table.
func (in instr) targets(each func(label uint32)) {
	r := &reader{b: in.imm}
	for n := r.u32() + 1; n > 0; n-- { // with the default
		each(r.u32())
	}
}

func (m *module) readPrefixed(r *reader, op uint16) {
	switch {
	case op <= 0xfc07:
	case op == opMemoryCopy:
		if to, from := r.byte(), r.byte(); to != 0 || from != 0 {
			r.fail("names a second memory")
		}
	case op == opMemoryFill:
		if r.byte() != 0 {
			r.fail("names a second memory")
		}
	case op == opTableSize:
		r.u32()
	default:
		r.fail("has the instruction 0xfc %#x, which modules may not use", op&0xff)
	}
}

// readBlockType reads a value type, or the number of a function type.
func (m *module) readBlockType(r *reader) {
	if r.at < len(r.b) && r.b[r.at]&0xc0 == 0x40 {
		if c := r.byte(); c != 0x40 {
			checkType(r, c)
		}
		return
	}
	m.typeIndex(r)
}

// readCode reads instructions up to the end that closes them all.
func (m *module) readCode(r *reader, locals int) (code []instr) {
	for depth := 1; depth > 0 && r.err == nil; {
		in := m.readInstr(r, locals)
		switch in.op {
		case opBlock, opLoop, opIf:
			if depth++; depth > m.lim.Nesting {
				r.fail("has more than %d blocks in each other", m.lim.Nesting)
			}
		case opEnd:
			depth--
		}
		code = append(code, in)
	}
	return code
}

// readExpr reads a constant expression.
func (m *module) readExpr(r *reader) []instr {
	var code []instr
	for r.err == nil {
		in := m.readInstr(r, 0)
		code = append(code, in)
		if in.op == opEnd || len(code) > 8 {
			break
		}
		switch in.op {
		case opI32Const, opI64Const, opF32Const, opF64Const, opGlobalGet, opRefNull, opRefFunc:
		default:
			r.fail("has a constant that is computed")
		}
	}
	if r.err == nil && code[len(code)-1].op != opEnd {
		r.fail("has a constant that is computed")
	}
	return code
}

// arity says how many operands a plain instruction takes and gives; false for one that may go elsewhere, calls
// or depends on a type.
func (in instr) arity() (pop, push int, plain bool) {
	op := in.op
	switch {
	case op == opLocalGet, op == opGlobalGet, op >= opI32Const && op <= opF64Const, op == opMemorySize,
		op == opRefNull, op == opRefFunc, op == opTableSize:
		return 0, 1, true
	case op == opLocalTee, op >= opLoad && op < opStore, op == opMemoryGrow, op == opRefIsNull,
		op >= 0xfc00 && op <= 0xfc07:
		return 1, 1, true
	case op == opLocalSet, op == opGlobalSet, op == opDrop:
		return 1, 0, true
	case op >= opStore && op <= opLastStore:
		return 2, 0, true
	case op == opSelect, op == opSelectTyped:
		return 3, 1, true
	case op == opMemoryCopy, op == opMemoryFill:
		return 3, 0, true
	case op == 0x45 || op == 0x50: // eqz
		return 1, 1, true
	case op > 0x45 && op <= opF64Ge:
		return 2, 1, true
	case op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b: // clz, ctz, popcnt
		return 1, 1, true
	case op > 0x69 && op < opF32Abs:
		return 2, 1, true
	case op >= opF32Abs && op <= 0x91, op >= opF64Abs && op <= 0x9f:
		return 1, 1, true
	case op > 0x91 && op <= opF64Copysign:
		return 2, 1, true
	case op > opF64Copysign && op <= opLastNumeric:
		return 1, 1, true
	}
	return 0, 0, false
}
