package compute

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// Config says for which run an engine works, and how.
type Config struct {
	Run job.RunID
	// Self names this peer in failures.
	Self string
	// Workers bounds the cores that may ever be used; the order Cores says how many may at the moment.
	Workers int
	// Idle gives the workers' threads the lowest priority there is, see engine.Config.
	Idle bool
	// Naive runs look nothing up and keep nothing.
	Naive bool
	// KeepAfter is how long a job must have run in place that its outcome is kept, DefaultKeepAfter if 0;
	// below zero, none is.
	KeepAfter time.Duration
	// Whole has jobs told whole whose outcome is kept, so that somebody can run them again.
	Whole bool
	// Lattices has Shares be told: of trials, and where results are compared.
	Lattices bool
	// Programs says that whoever started this process runs executables for jobs: the event Execute.
	Programs bool
	// Breathe lets others have the only thread there is, see engine.Config; nil: there are several.
	Breathe func()
}

// DefaultKeepAfter is as long as a job takes whose outcome is worth some microseconds.
const DefaultKeepAfter = 20 * time.Millisecond

const (
	// pulseShare is how many times KeepAfter a job's end may be hidden in the frame of another one: see
	// engine.Pool.Pulse.
	pulseShare = 20
	// lookEvery is how often an engine whose workers are busy looks whether there is work to give again:
	// workers do not report what they spawn.
	lookEvery = 2 * time.Millisecond
	// lessAfter is how long there has to be less to give before it is told by itself: where jobs are small that
	// changes all the time.
	lessAfter = 10 * time.Millisecond
	// maxTaking is how many Take orders may wait. One more finds nothing to take.
	maxTaking = 64
)

// An Engine runs the jobs of one run in this process. See the package comment.
type Engine struct {
	cfg     Config
	pool    *engine.Pool
	started time.Time
	bell    chan struct{}
	takes   chan takeOrder  // to the taker
	closing context.Context // over when Close is called
	close   context.CancelFunc
	wg      sync.WaitGroup // the taker, and who counts
	orphans atomic.Pointer[steal.Orphans]
	sharing *sharing
	foreign programs
	kept    keptQueue
	// encoding is the time that workers have spent on it, in ns.
	encoding atomic.Int64

	mu    sync.Mutex
	found []foundJob                 // from workers for the driver
	leaf  *steal.Job                 // the shortest that could be a yardstick
	short time.Duration              // what it took
	news  []func(told *[]port.Event) // from others for the driver, in order

	// Of the driver.
	events, spare []port.Event // told next; the last ones
	segments      map[steal.SegmentID]*engine.Guest
	given         map[steal.Ref]*engine.Taken // jobs outside
	refs          map[*engine.Taken]steal.Ref
	lastRef       steal.Ref
	taking        int                    // Take orders not answered
	early         map[*engine.Taken]bool // dropped before their Take was answered; empty when taking is 0
	runs          uint64                 // Run orders received
	others        bool                   // others may take jobs from here
	reported      steal.Load
	everSaid      bool
	works         bool          // a worker does, as of the last Poll: what was told may leave that to be concluded
	lessAt        time.Duration // when to tell that there is less to give, 0 if that is no news
	pulseAt       time.Duration
	counting      bool // the pool's statistics are being asked for
	gauge         gauge
}

// New starts an engine, with no cores.
func New(cfg Config) (*Engine, error) {
	switch {
	case cfg.Naive || cfg.KeepAfter < 0:
		cfg.KeepAfter = 0
	case cfg.KeepAfter == 0:
		cfg.KeepAfter = DefaultKeepAfter
	}
	e := &Engine{
		cfg: cfg, started: time.Now(), bell: make(chan struct{}, 1), takes: make(chan takeOrder, maxTaking),
		segments: map[steal.SegmentID]*engine.Guest{}, given: map[steal.Ref]*engine.Taken{},
		refs: map[*engine.Taken]steal.Ref{}, early: map[*engine.Taken]bool{},
	}
	e.closing, e.close = context.WithCancel(context.Background())
	e.sharing = newSharing(e)
	pool := engine.Config{Workers: cfg.Workers, Idle: cfg.Idle, Host: outside{e: e}, Outside: e.sharing,
		Deposits: e.sharing, Breathe: cfg.Breathe}
	e.foreign = programs{quit: e.closing.Done(), waiting: map[uint64]chan *port.Execution{}, tell: func(ev port.Event) {
		e.tell(func(told *[]port.Event) { *told = append(*told, ev) })
	}}
	if cfg.Programs {
		pool.Exec = e.foreign.execute
	}
	if !cfg.Naive {
		pool.Host, pool.KeepAfter = salvager{outside{e: e}}, cfg.KeepAfter
	}
	var err error
	if e.pool, err = engine.NewPool(pool); err != nil {
		return nil, err
	}
	e.pool.SetCores(0)
	e.wg.Go(e.taker)
	e.wg.Go(e.sharing.sharer)
	return e, nil
}

// Close ends all jobs: see port.Live.
func (e *Engine) Close() {
	e.close()
	e.wg.Wait()
	e.pool.Close()
}

// Bell says when to Poll: see port.Live.
func (e *Engine) Bell() <-chan struct{} { return e.bell }

// Do takes an order: see port.Engine.
func (e *Engine) Do(o *port.Order) {
	switch o.Kind {
	case port.Take:
		e.takeSoon(takeOrder{o.Ticket, o.Max})
	case port.Run:
		e.run(o)
	case port.PutBack:
		if t, ok := e.forget(o.Ref); ok {
			e.putBack(t, o)
		}
	case port.Deliver:
		e.deliver(o.Ref, o.Outcome)
	case port.Abort:
		e.abort(o.Segment)
	case port.LostWork:
		e.orphans.Store(o.Orphans)
		e.pool.Resalvage()
	case port.Cores:
		e.others = o.Others
		e.pool.SetCores(o.Max)
		e.sharing.pause(o.Max == 0 && !o.Turns)
	case port.Count:
		e.count(o.Whole)
	case port.Executed:
		e.foreign.executed(o.Exec)
	case port.Measure:
		e.measure(o.Job)
	default:
		e.sharing.do(o)
	}
}

// happened tells something that the driver's own order brought about.
func (e *Engine) happened(ev port.Event) { e.events = append(e.events, ev) }

// Poll gives the events: see port.Live.
func (e *Engine) Poll() (events []port.Event, again time.Duration) {
	e.hear()
	now := time.Since(e.started)
	e.report(now)
	e.pulse(now)
	if e.reported.Queued == 0 && e.works && e.others {
		again = lookEvery
	}
	for _, at := range [...]time.Duration{e.pulseAt, e.lessAt, e.gaugeAt(now)} {
		if wait := max(at-now, 1); at > 0 && (again == 0 || wait < again) {
			again = wait
		}
	}
	events = e.events
	e.events, e.spare = e.spare[:0], events
	return events, again
}

// hear takes the news in, in order.
func (e *Engine) hear() {
	e.mu.Lock()
	news, found, made := e.news, e.found, e.sharing.take()
	e.news, e.found = nil, nil
	e.mu.Unlock()
	e.events = append(e.events, made...) // first: the jobs that name what was made may be among the others
	if kept := e.kept.take(); len(kept) > 0 {
		e.happened(port.Event{Kind: port.Kept, Kept: kept})
	}
	e.hearFound(found)
	for _, f := range news {
		f(&e.events)
	}
}

// report tells how busy the workers are, if a core wants to know.
func (e *Engine) report(now time.Duration) {
	l := steal.Load{Workers: e.pool.Cores(), Idle: e.pool.Idle(), Runs: e.runs, Queued: e.pool.Queued()}
	e.works = l.Idle < l.Workers
	due := e.lessAt
	if e.lessAt = 0; e.everSaid {
		if !port.Differs(&l, &e.reported) {
			return
		}
		if port.Less(&l, &e.reported) && (due == 0 || now < due) {
			if e.lessAt = due; due == 0 {
				e.lessAt = now + lessAfter
			}
			return
		}
	}
	e.reported, e.everSaid = l, true
	e.happened(port.Event{Kind: port.LoadChanged, Load: l})
}

// pulse has the workers show now and then what they hide in frames, as long as any of them works.
func (e *Engine) pulse(now time.Duration) {
	if e.cfg.KeepAfter == 0 || !e.works {
		e.pulseAt = 0
		return
	}
	switch {
	case e.pulseAt == 0:
	case now < e.pulseAt:
		return
	default:
		e.pool.Pulse()
	}
	e.pulseAt = now + pulseShare*e.cfg.KeepAfter
}

// tell gives the driver news. It never blocks.
func (e *Engine) tell(f func(told *[]port.Event)) {
	e.mu.Lock()
	e.news = append(e.news, f)
	e.mu.Unlock()
	e.ring()
}

func (e *Engine) ring() {
	select {
	case e.bell <- struct{}{}:
	default:
	}
}
