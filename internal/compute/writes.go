package compute

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
)

// writes are those of others that wait to be applied here: see port.ApplyAfter. As many are at work as cores have no
// job; as many as there are cores when a job waits for what it reads, which may be one of them, until none waits; and
// one, whatever the cores do, when the oldest has waited for long.
//
// Nothing is forgotten: what makes one more of them due is that it comes, that a core becomes free (Hungry or an order
// of cores follows), that a job wants something, that one has ended, or that time passes. All of these but the last set
// a token, after which, or at the time that take has said, the sharer asks take again.
type writes struct {
	patience time.Duration  // port.ApplyAfter
	most     int            // are at work
	waiting  []waitingWrite // the oldest first
	running  int
	hurry    bool // for all that wait
}

type waitingWrite struct {
	order port.Order
	since time.Time
}

// take says which ones are to begin when so many cores have no job, and after which time to ask again if nothing else
// happens; 0: not at all.
func (w *writes) take(now time.Time, idle int) (begin []waitingWrite, again time.Duration) {
	n := max(0, idle-w.running)
	if w.hurry {
		n = min(len(w.waiting), max(n, w.most-w.running))
		w.hurry = n < len(w.waiting)
	}
	if n == 0 && w.running == 0 && len(w.waiting) > 0 {
		if again = w.waiting[0].since.Add(w.patience).Sub(now); again <= 0 {
			n, again = 1, 0
		}
	}
	n = min(n, len(w.waiting))
	begin, w.waiting = slices.Clone(w.waiting[:n]), slices.Delete(w.waiting, 0, n)
	w.running += n
	return begin, again
}

// apply has writes applied that are due: see writes.take.
func (s *sharing) apply() (again time.Duration) {
	idle := s.e.pool.Idle()
	s.mu.Lock()
	begin, again := s.writes.take(time.Now(), idle)
	s.mu.Unlock()
	for i := range begin {
		s.e.wg.Go(func() {
			var e port.Event
			s.e.pool.Beside(func() { e = s.run(&begin[i].order) })
			s.e.tell(func(told *[]port.Event) { *told = append(*told, e) })
			s.mu.Lock()
			s.writes.running--
			s.mu.Unlock()
			s.wakeUp()
		})
	}
	return again
}

// wakeUp has the sharer look what there is to do.
func (s *sharing) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// hungry says that a core has no job.
func (s *sharing) hungry() {
	s.mu.Lock()
	waits := len(s.writes.waiting) > 0
	s.mu.Unlock()
	if waits {
		s.wakeUp()
	}
}
