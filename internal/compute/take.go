package compute

import (
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// takeOrder is a Take for the taker.
type takeOrder struct {
	ticket steal.Ticket
	max    int
}

// takeSoon takes jobs that workers have to give, within some microseconds: as a rule they come by before another
// goroutine would have begun to. If they do not, or if others wait already, the order is the taker's.
func (e *Engine) takeSoon(o takeOrder) {
	if e.taking == 0 {
		taken, jobs, later := e.take(o.max, e.pool.TakeNow)
		if len(jobs) > 0 || !later {
			for i, t := range taken {
				jobs[i].Ref = e.give(t) // if it was dropped meanwhile, that is told later
			}
			e.took(&e.events, o.ticket, jobs)
			return
		}
	}
	e.taking++
	select {
	case e.takes <- o:
	default: // the taker is far behind: there is nothing to take at the moment
		e.taking--
		e.took(&e.events, o.ticket, nil)
	}
}

// took answers a Take. With the answer that there is no job goes what there is to give, so that it is told when there
// is one again.
func (e *Engine) took(told *[]port.Event, ticket steal.Ticket, jobs []steal.Taken) {
	if len(jobs) == 0 {
		e.lessAt = 1 // at once
	}
	*told = append(*told, port.Event{Kind: port.Taken, Ticket: ticket, Jobs: jobs})
}

// taker takes jobs for which a worker has to be waited for.
func (e *Engine) taker() {
	for {
		select {
		case o := <-e.takes:
			taken, jobs, _ := e.take(o.max, func() (*engine.Taken, bool) { return e.pool.Take(), false })
			e.answer(o, taken, jobs)
		case <-e.closing.Done():
			return
		}
	}
}

// maxStays is how many jobs that cannot leave a Take meets. Each is encoded in vain, once.
const maxStays = 8

// take takes jobs out of the pool and encodes them; later is what next said last.
func (e *Engine) take(most int, next func() (t *engine.Taken, later bool)) (taken []*engine.Taken,
	jobs []steal.Taken, later bool) {
	for stay := 0; len(jobs) < most && stay < maxStays; {
		var t *engine.Taken
		if t, later = next(); t == nil {
			break
		}
		j, err := e.jobOf(t.Job())
		if err != nil {
			t.Stay(false)
			stay++
			continue
		}
		taken = append(taken, t)
		jobs = append(jobs, j)
	}
	return taken, jobs, later
}

// answer tells which jobs were taken, without those that were dropped meanwhile.
func (e *Engine) answer(o takeOrder, taken []*engine.Taken, jobs []steal.Taken) {
	e.tell(func(told *[]port.Event) {
		wanted := jobs[:0]
		for i, t := range taken {
			if e.early[t] {
				continue
			}
			jobs[i].Ref = e.give(t)
			wanted = append(wanted, jobs[i])
		}
		if e.taking--; e.taking == 0 {
			clear(e.early)
		}
		e.took(told, o.ticket, wanted)
	})
}
