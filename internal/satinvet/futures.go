package satinvet

import (
	"golang.org/x/tools/go/cfg"
)

// checkFlow reports what the flow of a body says of its Futures and Groups.
func (c *checker) checkFlow(b *body) {
	for v, h := range b.vars {
		f := newFlow(b, v)
		if h == group {
			c.checkGroup(f)
			continue
		}
		c.checkLost(f)
		c.checkTakes(f)
		c.checkLoops(f)
	}
}

// checkLost reports children whose Future nobody reads on any path.
func (c *checker) checkLost(f *flow) {
	for _, block := range f.reachableBlocks {
		for i, e := range f.events(block) {
			if e.kind == setSpawn && !f.liveAfter(block, i) {
				c.report(e.at,
					"the result of the job in %s is never taken: call %s.Get, or do not spawn it; a job is a pure function, so without its result it was for nothing", f.v.Name(), f.v.Name())
			}
		}
	}
}

// checkTakes reports a Get of a Future that has been taken, or that nothing was spawned into: see flow.
func (c *checker) checkTakes(f *flow) {
	for _, block := range f.reachableBlocks {
		s := f.in[block]
		for _, e := range f.events(block) {
			if e.kind == take {
				c.reportTake(f, s, e)
			}
			s = s.after(e.kind)
		}
		for _, succ := range block.Succs {
			if !f.wanted[succ] {
				continue
			}
			if at := f.nextTake(succ); at != nil && s != f.in[succ] {
				c.reportTake(f, s, event{take, f.v, at})
			}
		}
	}
}

func (c *checker) reportTake(f *flow, s states, e event) {
	name := f.v.Name()
	switch s {
	case taken:
		c.report(e.at,
			"%s is taken twice on a path to here, which panics: keep the result of the first Get in a variable", name)
	case zero:
		c.report(e.at,
			"%s is taken here, but on a path to here nothing was spawned into it: Spawn first, or Get only where it was spawned", name)
	}
}

// checkLoops reports a Future that was taken before a turn of a loop that takes it for certain.
func (c *checker) checkLoops(f *flow) {
	for _, head := range f.reachableBlocks {
		if head.Kind != cfg.KindForLoop && head.Kind != cfg.KindRangeLoop || len(f.events(head)) > 0 {
			continue
		}
		body := head.Succs[0]
		at := f.nextTake(body)
		if at == nil || !f.wanted[body] || f.wanted[head] || f.in[body] == taken { // the last two are for checkTakes
			continue
		}
		for _, p := range f.preds[head] {
			if f.out[p] == taken {
				c.report(at, "%s is taken again in a turn of this loop, which panics: call Get once, outside of it, or Spawn in each turn", f.v.Name())
			}
		}
	}
}

// checkGroup reports children of a group that are spawned when nobody reads the group's results any more.
func (c *checker) checkGroup(f *flow) {
	for _, block := range f.reachableBlocks {
		for i, e := range f.events(block) {
			if e.kind == add && !f.liveAfter(block, i) {
				c.report(e.at,
					"the results of this child of %s are never read: range over %s.Results after it; a job is a pure function, so without its result it was for nothing", f.v.Name(), f.v.Name())
			}
		}
	}
}
