package wasm

// Where fuel is paid
//
// Whatever runs for ever passes the head of a loop or enters functions again and again. So fuel is paid there: at
// a loop's head for the instructions of the loop, at a function's entry for the others, inner loops apart. What is
// never branched back to is no loop.
//
// A function that is short and calls nothing, its loops apart, pays nothing at its entry: whoever calls it often pays
// by itself. That holds for a recursion whose calls are all in a loop, too: each frame has passed the loop's head. A
// function that is a loop after a few instructions, as most of Go's are, pays for these in the loop. The price is
// capped (maxPrice), so that a long body of which a pass sees little, as an interpreter's, does not ask too often; a
// pass may then cost Limits.Body/maxPrice times what it pays, and no more.
//
// What one instruction does to much memory pays by size, after it: copies and fills, and growing, which may copy.

const (
	maxPrice  = 256
	freeBelow = 48   // instructions of a function outside its loops, without calls, that pay nothing
	growPrice = 4096 // of memory.grow
	copyShift = 4    // a copy of n bytes pays n >> copyShift
)

// A nest is a block, a loop, or the function, that is open.
type nest struct {
	at    int   // of the loop; -1: the function
	n     int32 // instructions of a loop or the function
	loop  bool  // or the function
	back  bool  // something branches to its head
	calls bool
}

// prices gives the price to be paid after each instruction, by its place; at -1 is that of the entry.
func prices(code []instr) map[int]int32 {
	paid := map[int]int32{}
	stack := []nest{{at: -1, loop: true, back: true}}
	inLoop := []int{0} // which of stack are loops
	branch := func(label uint32) {
		if i := len(stack) - 1 - int(label); i > 0 { // of code that is not valid there may be none
			stack[i].back = true
		}
	}
	calls := false
	for i, in := range code {
		here := &stack[inLoop[len(inLoop)-1]]
		here.n++
		switch in.op {
		case opLoop:
			stack = append(stack, nest{at: i, loop: true})
			inLoop = append(inLoop, len(stack)-1)
		case opBlock, opIf:
			stack = append(stack, nest{})
		case opCall, opCallIndirect:
			here.calls = true
		case opBr, opBrIf:
			branch(in.index)
		case opBrTable:
			in.targets(branch)
		case opEnd:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !top.loop {
				break
			}
			inLoop = inLoop[:len(inLoop)-1]
			if top.back {
				paid[top.at], calls = min(top.n, maxPrice), top.calls
				break
			}
			outer := &stack[inLoop[len(inLoop)-1]]
			outer.n, outer.calls = outer.n+top.n, outer.calls || top.calls
		}
	}
	entry := paid[-1] // the function ended last: calls are its own
	if at := leads(code, paid); at >= 0 && entry < freeBelow {
		paid[at] = min(paid[at]+entry, maxPrice)
		delete(paid, -1)
	} else if !calls && entry < freeBelow {
		delete(paid, -1)
	}
	return paid
}

// leads gives the loop that a function comes to before it can go anywhere else, -1 if there is none.
func leads(code []instr, paid map[int]int32) int {
	for i, in := range code {
		switch {
		case in.op == opLoop && paid[i] > 0:
			return i
		case in.op != opBlock && in.op != opLoop && in.op < opDrop: // it calls, branches or ends
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
