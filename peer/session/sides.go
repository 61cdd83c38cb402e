package session

import (
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// sides are what the driver has around it: the engine, with a trace of what it is given, the network, and the
// store. All is called by the loop.
type sides struct{ s *Session }

// Do gives the engine an order.
func (x sides) Do(o *port.Order) {
	s := x.s
	switch o.Kind {
	case port.Run:
		s.ordered++
		s.trace.begin(o.Segment, o.Job)
	case port.PutBack:
		if o.Restarted {
			s.trace.lost(o.Ref)
		}
		s.trace.back(o.Ref)
	}
	if s.died == nil {
		s.cfg.Engine.Do(o)
	}
}

// Send sends a message.
func (x sides) Send(m *steal.Message) {
	if m.Request != nil {
		x.s.trace.asked.Store(int64(x.s.now()))
	}
	x.s.cfg.Send(m)
}

// Tell tells news.
func (x sides) Tell(n *steal.News) {
	if x.s.cfg.Tell != nil {
		x.s.cfg.Tell(n)
	}
}

// Answer has the root's outcome.
func (x sides) Answer(outcome []byte) {
	if x.s.cfg.Answer != nil {
		x.s.cfg.Answer(outcome, x.s.driver.Proofs().Answer)
	}
}

// Store gives an outcome to the store.
func (x sides) Store(p steal.Partial, _ driver.Source) {
	x.s.cfg.Store.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher)
}
