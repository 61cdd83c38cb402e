package satinvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// The flow checks follow each local Future and Group through the control-flow graph of its function, three times:
//
//   - forward: what the variable may hold at a point (states), over all paths that lead there;
//   - backward, over all paths from a point: is the Future taken before anything else happens to it (wanted)?
//   - backward, over any path from a point: is it used at all before it is set again (live)?
//
// A Future is taken twice where it was taken for certain and is wanted for certain; it is taken with nothing spawned
// where it is zero for certain and wanted for certain. Both are asked at each Get and on each edge of the graph, so
// the branch that goes around a Spawn is found, while conditions that exclude each other raise no alarm: there is no
// point at which both answers are certain. A child is lost where a variable is set to it and is not live.

// states is the set of states that a variable may be in.
type states uint8

const (
	zero    states = 1 << iota // declared, nothing spawned
	pending                    // holds a child that has not been taken
	taken                      // its result was taken
	unknown                    // anything else
)

func (s states) after(e eventKind) states {
	switch e {
	case setZero:
		return zero
	case setSpawn:
		return pending
	case take:
		return taken
	case setOther, use:
		return unknown
	}
	return s
}

// A flow is what is known of one variable at the ends of each block.
type flow struct {
	b               *body
	v               *types.Var
	in, out         map[*cfg.Block]states
	wanted, live    map[*cfg.Block]bool // at the beginning of the block
	wantedAtEnd     map[*cfg.Block]bool
	liveAtEnd       map[*cfg.Block]bool
	preds           map[*cfg.Block][]*cfg.Block
	reachableBlocks []*cfg.Block
}

func newFlow(b *body, v *types.Var) *flow {
	f := &flow{
		b: b, v: v,
		in: map[*cfg.Block]states{}, out: map[*cfg.Block]states{},
		wanted: map[*cfg.Block]bool{}, live: map[*cfg.Block]bool{},
		wantedAtEnd: map[*cfg.Block]bool{}, liveAtEnd: map[*cfg.Block]bool{},
		preds: map[*cfg.Block][]*cfg.Block{},
	}
	for _, block := range b.graph.Blocks {
		if block.Live {
			f.reachableBlocks = append(f.reachableBlocks, block)
			f.wanted[block] = true // the greatest fixed point: lowered from here
			for _, s := range block.Succs {
				f.preds[s] = append(f.preds[s], block)
			}
		}
	}
	for f.forward() {
	}
	for f.backward() {
	}
	return f
}

// events gives what happens to the variable in a block.
func (f *flow) events(block *cfg.Block) (own []event) {
	for _, e := range f.b.blocks[block] {
		if e.v == f.v {
			own = append(own, e)
		}
	}
	return own
}

func (f *flow) forward() (changed bool) {
	for _, block := range f.reachableBlocks {
		var s states
		if block == f.b.graph.Blocks[0] {
			s = unknown
		}
		for _, p := range f.preds[block] {
			s |= f.out[p]
		}
		f.in[block] = s
		for _, e := range f.events(block) {
			s = s.after(e.kind)
		}
		if f.out[block] != s {
			f.out[block] = s
			changed = true
		}
	}
	return changed
}

func (f *flow) backward() (changed bool) {
	for i := len(f.reachableBlocks) - 1; i >= 0; i-- {
		block := f.reachableBlocks[i]
		wanted, live := block.Return() == nil, false // a path that ends in a panic wants everything
		for _, s := range block.Succs {
			wanted = wanted && f.wanted[s]
			live = live || f.live[s]
		}
		f.wantedAtEnd[block], f.liveAtEnd[block] = wanted, live
		events := f.events(block)
		for j := len(events) - 1; j >= 0; j-- {
			wanted, live = before(events[j].kind, wanted, live)
		}
		if wanted != f.wanted[block] || live != f.live[block] {
			f.wanted[block], f.live[block] = wanted, live
			changed = true
		}
	}
	return changed
}

// before gives wanted and live just before an event from what they are just after it.
func before(e eventKind, wanted, live bool) (bool, bool) {
	switch e {
	case take:
		return true, true
	case use:
		return false, true
	case setZero, setSpawn, setOther:
		return false, false
	}
	return wanted, live
}

// liveAfter says whether the variable is used on some path after the i-th of the events of a block.
func (f *flow) liveAfter(block *cfg.Block, i int) bool {
	live := f.liveAtEnd[block]
	events := f.events(block)
	for j := len(events) - 1; j > i; j-- {
		_, live = before(events[j].kind, false, live)
	}
	return live
}

// nextTake finds the first take that a path from the beginning of block comes to.
func (f *flow) nextTake(block *cfg.Block) ast.Node {
	seen := map[*cfg.Block]bool{block: true}
	for queue := []*cfg.Block{block}; len(queue) > 0; queue = queue[1:] {
		for _, e := range f.events(queue[0]) {
			if e.kind == take {
				return e.at
			}
		}
		for _, s := range queue[0].Succs {
			if !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return nil
}
