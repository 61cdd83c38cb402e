package wasm

// Where fuel is paid
//
// Whatever runs for ever passes the head of a loop or enters functions again and again. So fuel is paid there: at
// a loop's head for the instructions of the loop, at a function's entry for the others, inner loops apart. A
// function without loops and calls that is short pays nothing: who calls it often pays by itself. One that is a
// loop after a few instructions, as all of Go's are, pays for these in the loop. The price is capped (maxPrice), so
// that a long body of which a pass sees little, as an interpreter's, does not ask too often; a pass may then cost
// Limits.Body/maxPrice times what it pays, and no more.
//
// What one instruction does to much memory pays by size, after it: copies and fills, and growing, which may copy.

const (
	maxPrice  = 256
	freeBelow = 48   // instructions of a function without loops and calls that pays nothing
	growPrice = 4096 // of memory.grow
	copyShift = 4    // a copy of n bytes pays n >> copyShift
)

// prices gives the price to be paid after each instruction, by its place; at -1 is that of the entry.
func prices(code []instr) map[int]int32 {
	type open struct {
		at   int // of the loop; -1: the function
		n    int32
		loop bool
	}
	paid := map[int]int32{}
	stack := []open{{at: -1, loop: true}}
	inLoop := []int{0} // which of stack counts, by nesting of loops
	calls := false
	for i, in := range code {
		stack[inLoop[len(inLoop)-1]].n++
		switch in.op {
		case opLoop:
			stack = append(stack, open{at: i, loop: true})
			inLoop = append(inLoop, len(stack)-1)
		case opBlock, opIf:
			stack = append(stack, open{})
		case opCall, opCallIndirect:
			calls = true
		case opEnd:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.loop {
				inLoop = inLoop[:len(inLoop)-1]
				paid[top.at] = min(top.n, maxPrice)
			}
		}
	}
	if len(paid) == 1 && !calls && len(code) < freeBelow {
		delete(paid, -1)
	}
	if at := leads(code); at >= 0 && paid[-1] < freeBelow {
		paid[at] = min(paid[at]+paid[-1], maxPrice)
		delete(paid, -1)
	}
	return paid
}

// leads gives the loop that a function comes to before it can go anywhere else, -1 if there is none.
func leads(code []instr) int {
	for i, in := range code {
		switch {
		case in.op == opLoop:
			return i
		case in.op != opBlock && in.op < opDrop: // it calls, branches or ends
			return -1
		}
	}
	return -1
}

// A meter writes what pays.
type meter struct {
	*writer
	fuel  uint32 // the global
	tick  uint32 // the function
	local uint32 // an i32 of its own
}

// pay writes the payment of a price; sized adds to it what the local holds, in units of copies.
func (w meter) pay(price int32, sized bool) {
	w.op(opGlobalGet, w.fuel)
	if sized {
		w.op(opLocalGet, w.local)
		w.raw(opI32Const)
		w.s32(copyShift)
		w.raw(opI32ShrU, opI32Sub)
	}
	w.raw(opI32Const)
	w.s32(price)
	w.raw(opI32Sub)
	w.op(opLocalTee, w.local)
	w.op(opGlobalSet, w.fuel)
	w.op(opLocalGet, w.local)
	w.raw(opI32Const, 0, opI32LtS, opIf, 0x40)
	w.op(opCall, w.tick)
	w.op(opGlobalSet, w.fuel)
	w.raw(opEnd)
}
