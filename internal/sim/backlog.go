package sim

import "github.com/satin-peer/satin/internal/port"

// backlog is what others have written and a peer has not made readable yet, the oldest first. As in a swarm (see
// port.Apply) workers without a job do that, and jobs are delayed only by what has waited for long or what they read.
type backlog struct {
	writes []write
	step   int   // in which the last one was written
	since  int64 // until then idle workers have done what they could
}

type write struct{ at, work int64 } // when it came, and what is still to be done, in processor time at speed 1

// pay takes up to so much off the oldest for which want is true.
func (b *backlog) pay(most int64, want func(*write) bool) (paid int64) {
	for len(b.writes) > 0 && paid < most && want(&b.writes[0]) {
		w := &b.writes[0]
		part := min(w.work, most-paid)
		w.work, paid = w.work-part, paid+part
		if w.work == 0 {
			b.writes = b.writes[1:]
		}
	}
	return paid
}

func whatever(*write) bool { return true }

// wrote has all other peers take over what a job of one has written.
func (w *cast) wrote(by *peer, cost int64, step int) {
	if cost == 0 {
		return
	}
	for _, q := range w.peers {
		if q != by && q.alive {
			b := &q.backlog
			b.takeOver(q)
			b.writes, b.step = append(b.writes, write{w.now, cost}), step
		}
	}
}

// takeOver is called before workers become idle, or stop being so, and before there is more to take over.
func (b *backlog) takeOver(p *peer) {
	b.pay(int64(float64(p.world.now-b.since)*p.speed)*int64(p.engine.idle), whatever)
	b.since = p.world.now
}

// delays is by what a job begins later: its part of what it reads, where other workers are as idle as its own, or what
// has waited for too long.
func (b *backlog) delays(p *peer, n Node) int64 {
	b.takeOver(p)
	t := p.engine.writing
	if t == nil || len(b.writes) == 0 {
		return 0
	}
	left := int64(0)
	for _, w := range b.writes {
		left += w.work
	}
	if t.Step(n) > b.step {
		return b.pay(left/int64(p.engine.idle), whatever)
	}
	return b.pay(left, func(w *write) bool { return p.world.now-w.at > int64(port.ApplyAfter) })
}
