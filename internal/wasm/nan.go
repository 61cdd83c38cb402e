package wasm

// Processors agree about all of WebAssembly but the bits of a NaN that arithmetic made: its sign and payload.
// So what arithmetic makes is looked at and, if it is a NaN, replaced by the canonical one, unless all that
// happens to it is more arithmetic, whose own result is looked at, or a comparison or a conversion to an
// integer, which treat all NaNs alike.

// lookAhead is how many instructions are searched for what takes a result, before it is made canonical anyway.
const lookAhead = 64

// makesNaN says whether an instruction's result may be a NaN of its own making, and of which type.
func (in instr) makesNaN() (typ byte, makes bool) {
	switch op := in.op; {
	case op >= opF32Ceil && op < opF32Copysign, op == opF32Demote:
		return typeF32, true
	case op >= opF64Ceil && op < opF64Copysign, op == opF64Promote:
		return typeF64, true
	}
	return 0, false
}

// hidesNaN says whether an instruction shows nothing of a NaN operand's bits.
func (in instr) hidesNaN() bool {
	if _, makes := in.makesNaN(); makes {
		return true
	}
	switch op := in.op; {
	case op >= opF32Eq && op <= opF64Ge, op == opDrop:
		return true
	case op >= opTruncFirst && op <= opTruncLast:
		return op != opExtend && op != opExtend+1
	}
	return in.op >= 0xfc00 && in.op <= 0xfc07
}

// seen says whether the bits of code[i]'s result may be seen.
func seen(code []instr, i int) bool {
	above := 0 // operands above the result
	for _, in := range code[i+1 : min(i+1+lookAhead, len(code))] {
		pop, push, plain := in.arity()
		switch {
		case !plain:
			return true
		case pop > above:
			return !in.hidesNaN()
		}
		above += push - pop
	}
	return true
}

// canonical writes the check of the value on the stack, which has a local of its own.
func (w *writer) canonical(typ byte, local uint32) {
	w.op(opLocalTee, local)
	if typ == typeF32 {
		w.raw(opF32Const, 0, 0, 0xc0, 0x7f)
	} else {
		w.raw(opF64Const, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
	}
	w.op(opLocalGet, local)
	w.op(opLocalGet, local)
	if typ == typeF32 {
		w.raw(opF32Eq)
	} else {
		w.raw(opF64Eq)
	}
	w.raw(opSelect)
}

// op writes an instruction with one number.
func (w *writer) op(op byte, index uint32) {
	w.raw(op)
	w.u32(index)
}
