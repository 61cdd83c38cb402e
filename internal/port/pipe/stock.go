package pipe

import (
	"slices"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// A stock is a job that was fetched from the engine before anybody asked for it. The way there and back takes many
// times as long as all that is done at its end; whoever steals is not to wait for it twice.
//
// The rules. As soon as the driver has taken a job, the engine is asked for the next one (Take, with a ticket of the
// stock's own), if it has said that it has more, and that all its workers work. That job is at hand: it answers the
// next Take at once. Whoever asks while it is on its way gets it when it comes: else he might get none although there
// was one.
//
// To the engine a job at hand is outside, as though somebody had stolen it. If it tells that nobody wants it
// (Dropped), that ends here. If a worker has nothing to do, or waits for just this one, the engine says that the worker
// is idle, and the job goes back; none is fetched again before somebody has asked. So for each job that was asked for,
// a worker may wait for one way here and back, once. It also goes back when there is nobody to share with. An engine
// that has none after all is asked again when it has told, or given, something.
//
// A worker that has one job outstanding at a time, and needs it within microseconds, gets each job back before anybody
// asks for it: there a steal waits for the other process. It costs more than both ways: whoever carries the order out
// takes the core of the very worker that it waits for, whose priority is lower, and when it sleeps it wakes too late,
// as the worker has run the job itself. So some asks are answered by none after a ms. Such a job is not worth a steal.
//
// The driver never hears of a job at hand, but for the count of what there is to give. So it does not keep what that
// job reads of shared values, either, though it has been told of it: when it has the engine forget any, the job goes
// back, and is told of anew with what it reads. A lattice's value goes with the job as it was when it was fetched: no
// less than when it was spawned, and what has grown since is told to all.
//
// A stock does nothing by itself: it changes what goes by, and leaves orders for the engine in out.
type stock struct {
	job    *steal.Taken
	back   steal.Ref    // of the last one that went back; what the engine says of it may have crossed that
	asked  bool         // one is on its way
	old    bool         // and what it reads may have been forgotten since
	last   steal.Ticket // of the stock's own Takes
	owed   steal.Ticket // who asked meanwhile; 0: nobody
	wanted bool         // somebody has asked since a worker was idle
	due    bool         // it is to be seen whether a job should be fetched
	others bool         // there is somebody who may ask
	load   steal.Load   // told last
	runs   uint64       // Run orders that went by

	told []port.Event // for the driver, before all others
	out  []port.Order // for the engine
}

// own marks the tickets of a stock; the driver counts its own from 1.
const own steal.Ticket = 1 << 63

// order sees an order on its way to the engine, and says whether it goes on.
func (s *stock) order(o *port.Order) (on bool) {
	switch o.Kind {
	case port.Take:
		s.wanted, s.due = true, true
		switch {
		case o.Max != 1:
		case s.job != nil:
			s.told = append(s.told, port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: []steal.Taken{*s.job}})
			s.lose()
			return false
		case s.asked && s.owed == 0:
			s.owed = o.Ticket
			return false
		}
	case port.Run:
		s.runs++
	case port.Forget, port.Failed:
		s.old = true
		s.giveBack()
	case port.Cores:
		if s.others = o.Others; !s.others {
			s.giveBack()
		}
	}
	return true
}

// idle says whether a worker has nothing to do, as far as is known here: one to which a job is on its way has.
func (s *stock) idle() bool { return s.load.IdleAfter(s.runs) > 0 }

// fetch asks for a job, if it is time for one.
func (s *stock) fetch() {
	s.due = false
	if !s.others || !s.wanted || s.asked || s.job != nil || s.load.Queued == 0 || s.idle() {
		return
	}
	s.asked, s.old = true, false
	s.last++
	s.out = append(s.out, port.Order{Kind: port.Take, Ticket: own | s.last, Max: 1})
}

// giveBack has the job at hand run where it comes from.
func (s *stock) giveBack() {
	if s.job != nil {
		s.out = append(s.out, port.Order{Kind: port.PutBack, Ref: s.job.Ref})
		s.job, s.back = nil, s.job.Ref
	}
	s.wanted = false
}

// lose takes the job at hand out. If it was all that there was to give, the driver is told that there is nothing.
func (s *stock) lose() {
	s.job = nil
	if s.load.Queued == 0 {
		s.told = append(s.told, port.Event{Kind: port.LoadChanged, Load: s.load})
	}
}

// events gives what the driver is to hear, of what the engine has told; the list is used for it.
func (s *stock) events(list []port.Event) []port.Event {
	kept := list[:0]
	for i := range list {
		if s.event(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	if len(s.told) > 0 { // whoever hears this is not to wait until the next one is asked for
		kept = append(s.told, kept...)
		s.told = nil
	} else if s.due {
		s.fetch()
	}
	return kept
}

// event sees an event on its way to the driver, and says whether it goes on.
func (s *stock) event(e *port.Event) (on bool) {
	switch e.Kind {
	case port.Taken:
		if s.asked && e.Ticket == own|s.last {
			return s.fetched(e)
		}
		s.due = s.due || len(e.Jobs) > 0
	case port.Dropped:
		return s.dropped(e)
	case port.LoadChanged:
		s.load = e.Load
		if s.idle() {
			s.giveBack()
		}
		if s.job != nil {
			e.Load.Queued++
		}
		s.due = true
	}
	return true
}

// fetched takes in what has come for the stock.
func (s *stock) fetched(e *port.Event) (on bool) {
	s.asked = false
	if s.owed != 0 {
		e.Ticket, s.owed = s.owed, 0
		s.due = len(e.Jobs) > 0
		return true
	}
	if len(e.Jobs) > 0 {
		s.job = &e.Jobs[0]
		if s.old || !s.others || s.idle() {
			s.giveBack()
		}
	}
	return false
}

// dropped takes a job that nobody wants out of the stock, and out of the event.
func (s *stock) dropped(e *port.Event) (on bool) {
	e.Refs = slices.DeleteFunc(e.Refs, func(ref steal.Ref) bool {
		atHand := s.job != nil && ref == s.job.Ref
		if atHand {
			s.lose()
		}
		return atHand || ref == s.back
	})
	return len(e.Refs) > 0
}
