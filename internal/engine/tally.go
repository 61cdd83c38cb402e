package engine

import (
	"sync/atomic"
	"time"
)

// A tally counts what this process does in place under one job from outside, however many of its workers take
// part. It costs a few loads when a worker begins or ends a stolen job, and nothing per spawn: the workers'
// own counters are read then, and when somebody asks for statistics.
//
// A job that one worker steals from another here counts for the job at the bottom of the victim's stack,
// which is the oldest: a victim that helps with another job meanwhile may have that part counted for the
// wrong one of the two.
type tally struct {
	spawned, executed atomic.Uint64
	own               atomic.Int64 // ns that went into no job that was kept
}

// A tallied is what a worker has counted already. Only its owner uses it, but for bottom.
type tallied struct {
	to                *tally // who gets what is done now; nil: nobody
	spawned, executed uint64
	bottom            atomic.Pointer[tally] // of the job at the bottom of the stack, for thieves
}

// begin has the tally of r, which a worker begins, count from now on, and gives the one that did. The first job is the
// one at the bottom of the worker's stack.
func (m *tallied) begin(c *counts, r *Record, first bool) (outer *tally) {
	outer = m.to
	t := (*tally)(nil)
	if r.W != nil {
		t = r.W.tallied.bottom.Load() // the victim cannot leave its bottom while a job of it is away
	} else if r.out != nil {
		t = &r.out.tally
	}
	m.count(c, t)
	if first {
		m.bottom.Store(t)
	}
	return outer
}

// count gives what was done since the last call to the present tally, and has t count from now on.
func (m *tallied) count(c *counts, t *tally) {
	spawned, executed := c.begun()+c.recalled+c.back, c.begun()+c.roots-c.unwound
	if m.to != nil { // unsigned numbers wrap around, and back
		m.to.spawned.Add(spawned - m.spawned)
		m.to.executed.Add(executed - m.executed)
	}
	m.to, m.spawned, m.executed = t, spawned, executed
	if t == nil {
		m.bottom.Store(nil)
	}
}

// Counts gives how many jobs have been spawned and run to their end in this process under the guest, itself
// among the latter. While it runs they are as old as the last call of Pool.Stats; when it has ended they are
// exact.
func (g *Guest) Counts() (spawned, executed uint64) {
	return g.r.out.tally.spawned.Load(), g.r.out.tally.executed.Load()
}

// Own is how long the guest took, on all cores together, without the jobs in it that the Host was brought by Kept; once
// it has ended, and 0 where nothing is kept.
func (g *Guest) Own() time.Duration { return time.Duration(g.r.out.tally.own.Load()) }
