package session

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// asking is somebody who waits for figures.
type asking struct {
	whole  bool
	answer chan<- bool // there are figures; has room for it
}

// Figures are the engine's statistics. It waits for them, but not for long: a worker in the middle of a leaf,
// an engine that is busy or gone, have told some before.
func (s *Session) Figures() port.Figures {
	s.ask(true, figuresPatience)
	return *s.figures.Load()
}

// Last are the figures that are left of this peer's part when it has ended: nothing makes up later for what they lack.
// So it waits lastPatience at most for an engine that is busy, and for workers that are still in a leaf; of an engine
// that has not counted by then one worker at least is late.
func (s *Session) Last() port.Figures {
	for end := time.Now().Add(lastPatience); ; {
		counted := s.ask(true, time.Until(end))
		f := *s.figures.Load()
		if !counted {
			f.Late = max(f.Late, 1)
		}
		if !counted || f.Late == 0 {
			return f
		}
	}
}

// Lately is Figures as they were at most freshFor ago: those who look at them now and then do so at the same moment,
// and each count wakes another process and its workers.
func (s *Session) Lately() port.Figures {
	if at := s.countedAt.Load(); at > 0 && s.now()-time.Duration(at) <= freshFor {
		return *s.figures.Load()
	}
	return s.Figures()
}

// Measure has the engine time a job now and then: see port.Measure. Figures has what comes of it.
func (s *Session) Measure(j *steal.Job) {
	s.tell(func(time.Duration) { sides{s}.Do(&port.Order{Kind: port.Measure, Job: j}) })
}

// ask has the engine count, and says whether it has.
func (s *Session) ask(whole bool, atMost time.Duration) bool {
	answer := make(chan bool, 1)
	s.tell(func(time.Duration) {
		if s.died != nil {
			answer <- false
			return
		}
		s.asking = append(s.asking, asking{whole, answer})
		sides{s}.Do(&port.Order{Kind: port.Count, Whole: whole})
	})
	patience := time.NewTimer(atMost)
	defer patience.Stop()
	select {
	case counted := <-answer:
		return counted
	case <-s.quit:
	case <-patience.C:
	}
	return false
}

// counted takes figures in.
func (s *Session) counted(f *port.Figures) {
	s.trace.counted(f.Segments)
	if f.Whole {
		s.figures.Store(f)
		s.countedAt.Store(int64(s.now()))
	}
	s.asking = answer(s.asking, true, f.Whole)
}

// answer lets those go on who wait for figures, or for less than whole ones, and gives the others.
func answer(all []asking, counted, whole bool) []asking {
	left := all[:0]
	for _, a := range all {
		if a.whole && !whole {
			left = append(left, a)
		} else {
			a.answer <- counted
		}
	}
	return left
}
