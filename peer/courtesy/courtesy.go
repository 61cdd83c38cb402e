// Package courtesy keeps what the owner of a machine allows: it looks at the machine every second, as far as his
// preferences ask for that (package preferences decides, package senses sees), and says how many cores jobs may have
// until the next look. Beside programs that want all cores jobs are stopped, and tried again now and then.
package courtesy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/senses"
)

// A Config is what a Courtesy needs of the peer that it is a part of.
type Config struct {
	Log   *slog.Logger
	Now   func() time.Time
	Cores int // that the peer was started with: engines have no more
	// Used is what jobs have had so far.
	Used func() report.RunStats
	// Allow carries a verdict out, and Bound what does not depend on the moment: one after the other, and neither may
	// call back. Told is called afterwards when the others are to know, and may.
	Allow func(cores, rest int)
	Bound func(p *preferences.Preferences)
	Told  func()
}

// A Courtesy does it for one peer.
//
// Preferences change at any time, from any goroutine. The mutex is held while a verdict is made and carried out, so
// verdicts are carried out in the order in which they were made; looking happens before, without it, so a sense that
// hangs for its two seconds keeps nobody waiting but the next look.
type Courtesy struct {
	Config
	// look sees what the preferences need; slow says whether what changes slowly is looked at too.
	look func(p *preferences.Preferences, slow bool, before preferences.Seen) preferences.Seen

	mu      sync.Mutex
	allowed preferences.Preferences
	seen    preferences.Seen
	verdict preferences.Verdict
	said    preferences.Verdict // what the log and the others were told last
	trying  bool                // jobs that a crowd has stopped, and nothing is known yet of what comes of it
}

const (
	lookEvery = time.Second
	slowLooks = 5 // every so many looks are at what changes slowly, and costs milliseconds to see
)

// New makes one. Until Begin all cores may be used.
func New(cfg Config) *Courtesy {
	all := preferences.Verdict{Cores: cfg.Cores}
	c := &Courtesy{Config: cfg, verdict: all, said: all}
	among := &crowd{sum: cfg.Used, times: senses.Cores}
	c.look = func(p *preferences.Preferences, slow bool, before preferences.Seen) preferences.Seen {
		s := lookAtMachine(p, slow, before)
		among.look(&s, c.besideCrowd())
		return s
	}
	return c
}

// Begin has the preferences kept from now on, for as long as Keep runs: it looks once before it returns.
func (c *Courtesy) Begin(first preferences.Preferences) {
	c.allowed = first
	c.Bound(&first)
	c.round(true)
}

// Keep looks every second until the context ends.
func (c *Courtesy) Keep(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.round(n%slowLooks == 0)
		}
	}
}

// round looks once and decides.
func (c *Courtesy) round(slow bool) {
	c.mu.Lock()
	p, before := c.allowed, c.seen
	c.mu.Unlock()
	seen := c.look(&p, slow, before)
	c.decide(func() { c.seen = seen })
}

// Prefer changes what is allowed. What was seen last holds until the next look.
func (c *Courtesy) Prefer(p preferences.Preferences) {
	c.decide(func() {
		c.allowed = p
		c.Bound(&p)
	})
}

// decide makes a verdict after a change, and carries it out, if it is another one.
func (c *Courtesy) decide(change func()) {
	if c.judge(change) {
		c.Told()
	}
}

// judge says whether the others are to know. That jobs which a crowd has stopped are tried again nobody needs to: with
// the crowd still there that would be said every two seconds, by each machine, to the whole swarm. What came of it says
// the next look that finds cores left over, or that jobs have held one.
func (c *Courtesy) judge(change func()) (other bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if c.seen.Now = c.Now(); c.seen.Zone != nil {
		c.seen.Now = c.seen.Now.In(c.seen.Zone)
	}
	p := c.allowed
	p.Workers = min(p.Workers, c.Cores)
	before, said := c.verdict, c.said
	c.verdict = p.Decide(c.seen, before)
	if c.verdict.Cores != before.Cores || c.verdict.Rest != before.Rest {
		c.Allow(c.verdict.Cores, c.verdict.Rest)
	}
	unknown := c.trying && c.seen.Lost == 0 && c.seen.Taken >= preferences.Crowded && c.verdict.Cores > 0
	if c.trying = c.verdict.Crowded.IsZero() && (!before.Crowded.IsZero() || unknown); c.trying {
		return false
	}
	if c.said = c.verdict; c.said.Limit != said.Limit {
		c.Log.Info("cores that may be used", "cores", c.verdict.Cores, "why", c.verdict.Limit)
	}
	return c.said.Cores != said.Cores
}

// InForce gives the verdict in force.
func (c *Courtesy) InForce() preferences.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verdict
}

// besideCrowd says whether jobs are stopped beside a crowd, or tried again.
func (c *Courtesy) besideCrowd() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trying || !c.verdict.Crowded.IsZero()
}

// Allowed are the cores that the others are to know of.
func (c *Courtesy) Allowed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Cores
}

// lookAtMachine is the look of a real peer.
func lookAtMachine(p *preferences.Preferences, slow bool, before preferences.Seen) (s preferences.Seen) {
	touched, battery, metered, programs, heat := p.Needs()
	if touched {
		s.Untouched, s.Watched = senses.Untouched()
	}
	s.Battery = battery && senses.OnBattery()
	if !slow {
		s.Metered, s.Running, s.Celsius, s.Zone = before.Metered, before.Running, before.Celsius, before.Zone
		return s
	}
	if len(p.Hours) > 0 {
		s.Zone = senses.Zone()
	}
	s.Metered = metered && senses.Metered()
	if programs {
		s.Running = senses.Running(p.YieldTo)
	}
	if heat {
		s.Celsius = senses.Celsius()
	}
	return s
}
