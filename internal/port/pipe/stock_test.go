package pipe

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// A shop is an engine with a stock before it, both ways of a pipe, and a driver; a step is anything that one of them
// may do next.
type shop struct {
	stock  stock
	orders []port.Order // on their way to the engine
	events []port.Event // on their way back

	// Of the engine.
	queued int
	idle   bool
	runs   uint64
	last   steal.Ref
	away   map[steal.Ref]bool // jobs given away
	forgot int                // how often it was told to forget something
	fresh  map[steal.Ref]int  // that, when a job was given away

	// Of the driver.
	ticket steal.Ticket
	asking map[steal.Ticket]bool
	has    map[steal.Ref]bool
	heard  map[steal.Ref]bool // jobs that it has, or had
}

func newShop() *shop {
	return &shop{queued: 1, away: map[steal.Ref]bool{}, asking: map[steal.Ticket]bool{}, has: map[steal.Ref]bool{},
		heard: map[steal.Ref]bool{}, fresh: map[steal.Ref]int{}}
}

// do has the driver give an order.
func (s *shop) do(o port.Order) {
	if o.Kind == port.Take {
		s.ticket++
		o.Ticket = s.ticket
		s.asking[o.Ticket] = true
	}
	if s.stock.order(&o) {
		s.orders = append(s.orders, o)
	}
	s.sendOut()
}

func (s *shop) sendOut() {
	s.orders = append(s.orders, s.stock.out...)
	s.stock.out = nil
}

// poll has the driver hear what has come.
func (s *shop) poll(t fataler) (told []port.Event) {
	t.Helper()
	told = s.stock.events(s.events)
	s.events = nil
	s.sendOut()
	for _, e := range told {
		switch e.Kind {
		case port.Taken:
			if !s.asking[e.Ticket] {
				t.Fatalf("nobody asked with ticket %d", e.Ticket)
			}
			delete(s.asking, e.Ticket)
			for _, j := range e.Jobs {
				if s.has[j.Ref] {
					t.Fatalf("job %d is told twice", j.Ref)
				}
				s.has[j.Ref], s.heard[j.Ref] = true, true
			}
		case port.Dropped:
			for _, ref := range e.Refs {
				if !s.heard[ref] {
					t.Fatalf("the driver hears that job %d is not wanted, and has never had it", ref)
				}
				delete(s.has, ref)
			}
		}
	}
	return told
}

// work has the engine carry out an order.
func (s *shop) work(t fataler) {
	t.Helper()
	o := s.orders[0]
	s.orders = s.orders[1:]
	switch o.Kind {
	case port.Take:
		e := port.Event{Kind: port.Taken, Ticket: o.Ticket}
		for ; s.queued > 0 && len(e.Jobs) < o.Max; s.queued-- {
			s.last++
			s.away[s.last] = true
			e.Jobs = append(e.Jobs, steal.Taken{Ref: s.last})
			s.fresh[s.last] = s.forgot
		}
		s.events = append(s.events, e)
	case port.PutBack:
		if !s.away[o.Ref] {
			return // it was dropped meanwhile
		}
		delete(s.away, o.Ref)
		if s.has[o.Ref] {
			t.Fatalf("job %d goes back, and the driver has it", o.Ref)
		}
		s.queued++
	case port.Forget:
		s.forgot++
	case port.Run:
		s.runs++
		s.idle = false
	}
}

func (s *shop) report() {
	l := steal.Load{Workers: 1, Queued: s.queued, Runs: s.runs}
	if s.idle {
		l.Idle = 1
	}
	s.events = append(s.events, port.Event{Kind: port.LoadChanged, Load: l})
}

// settle lets all happen that is on its way.
func (s *shop) settle(t fataler) {
	t.Helper()
	for len(s.orders) > 0 || len(s.events) > 0 || len(s.stock.told) > 0 {
		for len(s.orders) > 0 {
			s.work(t)
		}
		s.poll(t)
	}
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// Whatever happens in whatever order: each Take is answered once, each job is with the driver, at hand, or with the
// engine, and in one of these places only, no worker
// waits for a job at hand, and what that reads is not forgotten.
func TestStock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShop()
		s.do(port.Order{Kind: port.Cores, Others: true})
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				s.do(port.Order{Kind: port.Take, Max: rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "most")})
			},
			"share": func(t *rapid.T) {
				s.do(port.Order{Kind: port.Cores, Others: rapid.IntRange(0, 3).Draw(t, "share") > 0})
			},
			"forget": func(*rapid.T) { s.do(port.Order{Kind: port.Forget}) },
			"run":    func(*rapid.T) { s.do(port.Order{Kind: port.Run}) },
			"put back": func(t *rapid.T) {
				if len(s.has) == 0 {
					t.Skip()
				}
				ref := slices.Min(refsOf(s.has))
				delete(s.has, ref)
				s.do(port.Order{Kind: port.PutBack, Ref: ref})
			},
			"poll": func(t *rapid.T) { s.poll(t) },
			"work": func(t *rapid.T) {
				if len(s.orders) == 0 {
					t.Skip()
				}
				s.work(t)
			},
			"spawn": func(*rapid.T) { s.queued++; s.idle = false; s.report() },
			"dry": func(t *rapid.T) {
				s.queued, s.idle = 0, true
				s.report()
			},
			"drop": func(t *rapid.T) {
				refs := refsOf(s.away)
				slices.Sort(refs)
				if len(refs) == 0 {
					t.Skip()
				}
				for _, ref := range refs {
					delete(s.away, ref)
				}
				s.events = append(s.events, port.Event{Kind: port.Dropped, Refs: refs})
			},
			"settle": func(t *rapid.T) {
				s.settle(t)
				s.report()
				s.settle(t)
				atHand := 0
				if s.stock.job != nil {
					atHand = 1
					if s.idle || !s.stock.others {
						t.Fatalf("job %d is kept from a worker", s.stock.job.Ref)
					}
					if s.fresh[s.stock.job.Ref] != s.forgot {
						t.Fatalf("what job %d reads may be forgotten", s.stock.job.Ref)
					}
				}
				if len(s.asking) > 0 || len(s.has)+atHand != len(s.away) {
					t.Fatalf("%d are not answered; %d jobs are away, the driver has %d, %d at hand", len(s.asking),
						len(s.away), len(s.has), atHand)
				}
			},
		})
	})
}

func refsOf(m map[steal.Ref]bool) (list []steal.Ref) {
	for ref := range m {
		list = append(list, ref)
	}
	return list
}

// The way of a job that is at hand when somebody asks, step by step.
func TestStockIsFilledOnDemand(t *testing.T) {
	s := newShop()
	s.queued = 5
	s.do(port.Order{Kind: port.Cores, Others: true})
	s.report()
	s.settle(t)
	if len(s.away) != 0 {
		t.Fatal("a job is fetched before anybody has asked for one")
	}
	take := port.Order{Kind: port.Take, Max: 1}
	s.do(take)
	s.settle(t)
	if len(s.has) != 1 || s.stock.job == nil {
		t.Fatalf("one has asked: he has %d jobs, %v is at hand", len(s.has), s.stock.job)
	}
	s.do(take)
	if len(s.orders) > 0 {
		t.Error("the engine is asked although a job is at hand")
	}
	if told := s.poll(t); len(told) != 1 || len(s.orders) > 0 {
		t.Errorf("%+v is told, and the engine asked before anybody could hear it", told)
	}
	s.poll(t)
	s.do(take) // the next one is on its way
	if s.settle(t); len(s.has) != 3 {
		t.Errorf("three have asked, and have %d jobs", len(s.has))
	}
	s.events = append(s.events, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Queued: 1}})
	if told := s.poll(t); told[0].Load.Queued != 2 {
		t.Errorf("one job waits and one is at hand: %d are told", told[0].Load.Queued)
	}
	s.events = append(s.events, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1}})
	if told := s.poll(t); told[0].Load.Queued != 1 {
		t.Errorf("one is at hand: %d are told", told[0].Load.Queued)
	}
	s.do(take)
	if told := s.poll(t); len(told) != 2 || told[1].Kind != port.LoadChanged || told[1].Load.Queued != 0 {
		t.Errorf("the last one is given away: %+v is told", told)
	}
	s.queued = 5
	s.report()
	s.settle(t)
	s.idle = true
	s.report()
	if s.settle(t); s.stock.job != nil || len(s.away) != 4 {
		t.Error("the job at hand stays there, and a worker is idle")
	}
	s.idle = false
	s.report()
	if s.settle(t); s.stock.job != nil {
		t.Error("one is fetched again before anybody has asked")
	}
}

// asked is a shop with work to share, of which one job is asked for.
func asked(t *testing.T) *shop {
	t.Helper()
	s := newShop()
	s.queued = 5
	s.do(port.Order{Kind: port.Cores, Others: true})
	s.report()
	s.settle(t)
	s.do(port.Order{Kind: port.Take, Max: 1})
	return s
}

// A job at hand goes back when a worker needs it or there is nobody to share with; also one that comes after that.
func TestStockGoesBack(t *testing.T) {
	for what, ends := range map[string]func(s *shop){
		"a worker is idle": func(s *shop) {
			s.idle = true
			s.report()
		},
		"there is nobody to share with": func(s *shop) { s.do(port.Order{Kind: port.Cores}) },
		"something is forgotten":        func(s *shop) { s.do(port.Order{Kind: port.Forget}) },
	} {
		for _, onItsWay := range []bool{false, true} {
			s := asked(t)
			s.work(t)
			if s.poll(t); !onItsWay {
				s.settle(t)
			}
			ends(s)
			if s.settle(t); s.stock.job != nil || len(s.away) != 1 {
				t.Errorf("%s, on its way %v: %v is at hand, %d are away", what, onItsWay, s.stock.job, len(s.away))
			}
		}
	}
}

// The driver does not hear that nobody wants a job that it has never had, also if that crosses its way back.
func TestStockIsDropped(t *testing.T) {
	for _, goesBack := range []bool{false, true} {
		s := asked(t)
		s.settle(t)
		s.events = append(s.events, port.Event{Kind: port.Dropped, Refs: []steal.Ref{1, 2}})
		if goesBack {
			s.do(port.Order{Kind: port.Cores})
		}
		if told := s.poll(t); len(told) != 1 || !slices.Equal(told[0].Refs, []steal.Ref{1}) || s.stock.job != nil {
			t.Errorf("goes back %v: %+v is told, %v is at hand", goesBack, told, s.stock.job)
		}
	}
}

// Whoever asks for the last job while it is on its way into the stock gets it.
func TestStockOnItsWay(t *testing.T) {
	s := newShop()
	s.queued = 2
	s.do(port.Order{Kind: port.Cores, Others: true})
	s.report()
	s.settle(t)
	s.do(port.Order{Kind: port.Take, Max: 1})
	s.work(t)
	s.poll(t)
	if len(s.orders) != 1 || s.orders[0].Ticket&own == 0 {
		t.Fatalf("the engine is asked %+v", s.orders)
	}
	s.do(port.Order{Kind: port.Take, Max: 1})
	if s.settle(t); len(s.has) != 2 {
		t.Errorf("two have asked, and have %d jobs", len(s.has))
	}
}
