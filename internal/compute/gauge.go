package compute

import (
	"context"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

const (
	// gaugeShare is the part of the cores' time that speed may be measured for, one in so many, what is about to begin
	// included. One run that turns out to be longer is paid back before the next.
	gaugeShare = 200
	// gaugeEvery is the least time between two measurements, gaugeLeast what the first one is expected to take, and
	// after gaugeMost it is given up: this yardstick is not for this machine.
	gaugeEvery = 2 * time.Second
	gaugeLeast = 20 * time.Millisecond
	gaugeMost  = 10 * time.Second
	// gaugeTimes is of how many measurements the best is told: a job that comes meanwhile, or a program that runs for a
	// moment, is not the machine.
	gaugeTimes = 3
	// gaugeIdle is how long a core must have been idle: most that have no job get one at once.
	gaugeIdle = 5 * time.Millisecond
	// A job that took so long could be a yardstick: long beside the clock and what interrupts it, short beside the time
	// that there is for it.
	leastLeaf, mostLeaf = 5 * time.Millisecond, 200 * time.Millisecond
)

// A gauge decides when to time the yardstick. It has no clock, and is told how busy the cores are.
type gauge struct {
	yardstick job.Identity
	job       *steal.Job // nil: there is none
	arg       any

	at      time.Duration // of the last look
	idle    time.Duration // since when a core has been idle; 0: none is
	cores   time.Duration // that might have been used till then, added up
	spent   time.Duration
	next    time.Duration // not before that
	running bool
	took    []time.Duration // of this yardstick, lately
	runs    uint64
}

// look says whether to begin now, or else when that is if nothing happens; 0: never.
func (g *gauge) look(now time.Duration, cores, idle int) (begin bool, at time.Duration) {
	g.cores += time.Duration(cores) * (now - g.at)
	g.at = now
	if g.job == nil || g.running || idle == 0 || cores == 0 {
		g.idle = 0
		return false, 0
	}
	if g.idle == 0 {
		g.idle = now
	}
	due := (gaugeShare*(g.spent+g.expected()) - g.cores) / time.Duration(cores)
	if at = max(g.next, g.idle+gaugeIdle, now+due); at > now {
		return false, at
	}
	g.running = true
	return true, 0
}

func (g *gauge) expected() time.Duration {
	if n := len(g.took); n > 0 {
		return g.took[n-1]
	}
	return gaugeLeast
}

// set begins with a yardstick.
func (g *gauge) set(j *steal.Job, arg any) {
	g.job, g.arg, g.yardstick, g.took = j, arg, job.Identify(j.Function, j.Arg), nil
}

// measured takes in what a run of the yardstick took. One that failed is never tried again.
func (g *gauge) measured(now time.Duration, yardstick job.Identity, took time.Duration, failed bool) {
	g.running, g.next = false, now+gaugeEvery
	g.spent += took
	switch {
	case yardstick != g.yardstick: // there is another one now
	case failed:
		g.job = nil
	default:
		g.runs++
		if g.took = append(g.took, took); len(g.took) > gaugeTimes {
			g.took = g.took[1:]
		}
	}
}

// speed is what is known.
func (g *gauge) speed() port.Speed {
	s := port.Speed{Yardstick: g.yardstick, Runs: g.runs}
	if len(g.took) > 0 {
		s.Took = slices.Min(g.took)
	}
	return s
}

// measure takes the order to time a job: what cannot be run here says nothing of how fast it is.
func (e *Engine) measure(j *steal.Job) {
	f, ok := engine.Lookup(j.Function)
	v, err := f.Small, error(nil)
	if !ok || v == nil || len(j.Arg) > 0 {
		_, v, err = read(j.Function, j.Arg)
	}
	if err == nil && e.cfg.Breathe == nil { // or it would hold up the one thread there is
		e.gauge.set(&steal.Job{Function: j.Function, Arg: j.Arg}, v)
	}
}

// Small says whether the function has a small instance of its own.
func Small(function string) bool {
	f, ok := engine.Lookup(function)
	return ok && f.Small != nil
}

// gaugeAt begins a measurement if it is time, or says when it will be if nothing happens; 0: never.
func (e *Engine) gaugeAt(now time.Duration) time.Duration {
	g := &e.gauge
	begin, at := g.look(now, e.pool.Cores(), e.pool.Idle())
	if !begin {
		return at
	}
	id, fn, arg := g.yardstick, g.job.Function, g.arg
	e.wg.Go(func() {
		ctx, cancel := context.WithTimeout(e.closing, gaugeMost)
		defer cancel()
		began := time.Now()
		took, err := e.pool.Time(ctx, fn, arg)
		if err != nil {
			took = time.Since(began)
		}
		e.tell(func(*[]port.Event) { g.measured(time.Since(e.started), id, took, err != nil) })
	})
	return 0
}

// offer takes in a job that was kept here: it could be a yardstick if it is neither long nor short, small enough to
// travel, and reads nothing that is shared, which would not be there.
func (e *Engine) offer(j *engine.Job, arg []byte) {
	if j.Took < leastLeaf || j.Took > mostLeaf || len(arg) > port.MaxYardstick || len(j.Func) > port.MaxYardstickName ||
		engine.Guarded(j.Func, j.Arg) {
		return
	}
	shares := false
	engine.Handles(j.Arg, func(engine.Shared) { shares = true })
	e.mu.Lock()
	defer e.mu.Unlock()
	if !shares && (e.leaf == nil || j.Took < e.short) {
		e.leaf, e.short = &steal.Job{Function: j.Func, Arg: arg}, j.Took
	}
}
