package session

import (
	"time"

	"github.com/satin-peer/satin/steal"

	"github.com/satin-peer/satin/internal/engine"
)

// takeOrder is a Take for the taker.
type takeOrder struct {
	ticket steal.Ticket
	max    int
}

// taker takes jobs out of the pool, which may wait for a worker, and encodes them.
func (s *Session) taker() {
	defer s.wg.Done()
	for {
		select {
		case o := <-s.takes:
			s.take(o)
		case <-s.quit:
			return
		}
	}
}

func (s *Session) take(o takeOrder) {
	var taken []*engine.Taken
	var jobs []steal.Taken
	for len(jobs) < o.max {
		t := s.pool.Take()
		if t == nil {
			break
		}
		j, err := jobOf(t)
		if err != nil { // it stays
			t.PutBack(false)
			break
		}
		taken = append(taken, t)
		jobs = append(jobs, steal.Taken{Job: j, Spawned: true}) // a guest that has not begun is never taken
	}
	s.tell(func(now time.Duration) {
		wanted := jobs[:0]
		for i, t := range taken {
			if s.early[t] {
				continue
			}
			jobs[i].Ref = s.give(given{t: t, id: jobs[i].Job.Identity})
			wanted = append(wanted, jobs[i])
		}
		if s.taking--; s.taking == 0 {
			clear(s.early)
		}
		s.carryOut(now, s.core.Taken(now, o.ticket, wanted))
	})
}
