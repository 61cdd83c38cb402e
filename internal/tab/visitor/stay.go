package visitor

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
)

// A Line is a connection with a gateway.
type Line interface {
	// Send sends a frame. It must not block, and may lose it.
	Send(frame []byte)
	// Serve gives each frame that comes to received, one at a time, until the connection has ended, or received says
	// that it is of no use.
	Serve(received func(frame []byte) error) error
	// Close ends it, whatever it is doing.
	Close()
}

// StayConfig says where somebody stays who helps by a link.
type StayConfig struct {
	// Config is for each visit; Send and Module are of the Stay.
	Config
	// Own is the gateway whose page it is, and Others are those where it may go on.
	Own    string
	Others []string
	// Dial connects to a gateway. It may block.
	Dial func(gateway string) (Line, error)
	// Module fetches one from a gateway, like Config.Module.
	Module func(gateway string, h module.Hash) ([]byte, error)
}

// A Stay is what a visitor does by a link: one Visitor after the other, at one gateway after the other when that is
// lost. Each is somebody new, whose former member knows what it has lost with it. Its methods may be called from any
// goroutine.
type Stay struct {
	cfg    StayConfig
	route  *route
	loader loader

	mu      sync.Mutex
	now     *Visitor // nil between two visits
	line    Line     // of now
	resting bool
	left    context.Context // done when it has left
	leave   context.CancelFunc
	before  Status   // of former visits,
	part    uint64   // the last of their parts,
	over    Segments // and what is still to be told of it
	why     string   // there is none
}

// NewStay makes a stay; Run begins it. Where it goes on first, when it has to, is drawn: all tabs of a gateway lose it
// at once.
func NewStay(cfg StayConfig) *Stay {
	others := slices.Clone(cfg.Others)
	rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	s := &Stay{cfg: cfg, route: newRoute(cfg.Own, others)}
	s.left, s.leave = context.WithCancel(context.Background())
	return s
}

// Run stays until Leave, then it gives nil, or until no gateway lets it in. It blocks.
func (s *Stay) Run() error {
	for {
		at, pause, ok := s.route.next()
		if !ok {
			return errors.New(s.whyNot())
		}
		select {
		case <-s.left.Done():
			return nil
		case <-time.After(pause):
		}
		worked, err := s.visit(at)
		s.mu.Lock()
		s.why = err.Error()
		s.mu.Unlock()
		switch {
		case s.left.Err() != nil:
			return nil
		case errors.Is(err, ErrRefused):
			s.route.refused()
		default:
			s.route.ended(worked)
		}
		if s.cfg.Changed != nil {
			s.cfg.Changed()
		}
	}
}

var errEnded = errors.New("the connection has ended")

// visit is one visit at a gateway. It says why that is over, and whether it has brought work.
func (s *Stay) visit(at string) (worked bool, err error) {
	line, err := s.cfg.Dial(at)
	if err != nil {
		return false, err
	}
	defer line.Close()
	cfg := s.cfg.Config
	cfg.Send = line.Send
	if s.cfg.Module != nil {
		cfg.Module = func(h module.Hash) ([]byte, error) { return s.cfg.Module(at, h) }
	}
	v, err := New(cfg)
	if err != nil {
		return false, err
	}
	v.loader = &s.loader
	s.mu.Lock()
	s.now, s.line, v.resting, v.part = v, line, s.resting, s.part // from now on Rest tells it
	s.mu.Unlock()
	if s.left.Err() != nil { // else Leave will find it
		line.Close()
	}
	heard := watch(line)
	err = line.Serve(func(b []byte) error {
		heard.note()
		return v.Received(b)
	})
	heard.stop()
	if err == nil {
		err = errEnded
	}
	v.Leave()
	did := v.Status()
	s.mu.Lock()
	s.now, s.line = nil, nil
	s.before = s.before.plus(&did)
	s.part, s.over = v.lastPart(), v.Segments()
	s.mu.Unlock()
	return did.Taken > 0, err
}

// Rest has it compute nothing, or again.
func (s *Stay) Rest(resting bool) {
	s.mu.Lock()
	s.resting = resting
	v := s.now
	s.mu.Unlock()
	if v != nil {
		v.Rest(resting)
	}
}

// Leave says goodbye and ends the stay.
func (s *Stay) Leave() {
	s.mu.Lock()
	v, line := s.now, s.line
	s.leave()
	s.mu.Unlock()
	if v != nil {
		v.Leave()
		line.Close()
	}
}

func (s *Stay) whyNot() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// Status says what it does and has done, and, while there is no gateway, why. It may wait some ms for the engine.
func (s *Stay) Status() (_ Status, why string) {
	s.mu.Lock()
	v, sum, why := s.now, s.before, s.why
	sum.Resting = s.resting
	s.mu.Unlock()
	if v == nil {
		return sum, why
	}
	now := v.Status()
	return sum.plus(&now), ""
}

// Segments gives what is new, like those of a Visitor: all parts of a stay have numbers of their own.
func (s *Stay) Segments() Segments {
	s.mu.Lock()
	v, over := s.now, s.over
	s.over = Segments{}
	s.mu.Unlock()
	if over.Part != 0 || v == nil {
		return over
	}
	return v.Segments()
}

// plus adds what was done in a later visit, and is what that one does.
func (s Status) plus(later *Status) Status {
	sum := *later
	sum.Executed += s.Executed
	sum.Taken += s.Taken
	sum.Given += s.Given
	sum.Worked += s.Worked
	return sum
}

// A watchdog ends a line on which nothing comes any more: a gateway that was cut off ends no connection, and a browser
// does not show that it is silent. It looks twice, because frames that have come wait while a job computes, or the
// whole tab is frozen.
type watchdog struct {
	mu     sync.Mutex
	timer  *time.Timer
	silent bool // nothing has come since it looked last
}

func watch(line Line) *watchdog {
	w := &watchdog{silent: true}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(tab.GoneAfter/2, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.silent {
			line.Close()
			return
		}
		w.silent = true
		w.timer.Reset(tab.GoneAfter / 2)
	})
	return w
}

func (w *watchdog) note() {
	w.mu.Lock()
	w.silent = false
	w.mu.Unlock()
}

func (w *watchdog) stop() { w.timer.Stop() }
