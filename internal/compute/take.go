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

// taker takes jobs out of the pool, which may wait for a worker, and encodes them.
func (e *Engine) taker() {
	for {
		select {
		case o := <-e.takes:
			e.take(o)
		case <-e.quit:
			return
		}
	}
}

func (e *Engine) take(o takeOrder) {
	var taken []*engine.Taken
	var jobs []steal.Taken
	for len(jobs) < o.max {
		t := e.pool.Take()
		if t == nil {
			break
		}
		job, err := jobOf(t)
		if err != nil { // it stays
			t.PutBack(false)
			break
		}
		taken = append(taken, t)
		jobs = append(jobs, steal.Taken{Job: job, Spawned: true}) // a guest that has not begun is never taken
	}
	e.answer(o, taken, jobs)
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
		*told = append(*told, port.Event{Kind: port.Taken, Ticket: o.ticket, Jobs: wanted})
	})
}
