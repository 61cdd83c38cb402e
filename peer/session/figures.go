package session

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// asking is somebody who waits for figures.
type asking struct {
	whole  bool
	answer chan<- struct{}
}

// Figures are the engine's statistics. It waits for them, but not for long: a worker in the middle of a leaf,
// an engine that is busy or gone, have told some before.
func (s *Session) Figures() port.Figures {
	s.ask(true)
	return *s.figures.Load()
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

// ask has the engine count, and waits until it has.
func (s *Session) ask(whole bool) {
	answer := make(chan struct{})
	s.tell(func(time.Duration) {
		if s.died != nil {
			close(answer)
			return
		}
		s.asking = append(s.asking, asking{whole, answer})
		sides{s}.Do(&port.Order{Kind: port.Count, Whole: whole})
	})
	patience := time.NewTimer(figuresPatience)
	defer patience.Stop()
	select {
	case <-answer:
	case <-s.quit:
	case <-patience.C:
	}
}

// counted takes figures in.
func (s *Session) counted(f *port.Figures) {
	s.unkept = f.Unkept
	s.trace.counted(f.Segments)
	if f.Whole {
		s.figures.Store(f)
		s.countedAt.Store(int64(s.now()))
	}
	s.answerAsking(f.Whole)
}

// answerAsking lets those go on who wait for figures, or for less than whole ones.
func (s *Session) answerAsking(whole bool) {
	left := s.asking[:0]
	for _, a := range s.asking {
		if a.whole && !whole {
			left = append(left, a)
		} else {
			close(a.answer)
		}
	}
	s.asking = left
}
