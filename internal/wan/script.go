package wan

import (
	"math/rand/v2"
	"time"
)

// NewModel makes the network a scenario describes, with its script in charge of it. The seed decides what the vary
// commands draw; equal seeds draw equally.
func (s *Scenario) NewModel(seed uint64) *Model {
	m := NewModel(s.Sizes, s.local)
	m.Add(&script{scenario: s, model: m, random: rand.NewPCG(seed, 0x77616e)})
	return m
}

// script interprets a scenario: the paper's script upcall.
type script struct {
	scenario *Scenario
	model    *Model
	random   *rand.PCG
	position int // in the body, then in the loop
	looping  bool
	wake     time.Duration
}

// Advance runs commands up to the first one that sleeps past now.
func (s *script) Advance(now time.Duration, links *Links) time.Duration {
	for s.wake <= now {
		c := s.fetch()
		switch {
		case c == nil:
			return Never
		case c.verb == verbSleep:
			s.wake += c.pause
		default:
			s.apply(c, links)
		}
	}
	return s.wake
}

// fetch takes the next command, or nil when the script has ended.
func (s *script) fetch() *command {
	commands := s.scenario.body
	if s.looping {
		commands = s.scenario.loop
	}
	if s.position == len(commands) {
		if len(s.scenario.loop) == 0 {
			return nil
		}
		s.looping, s.position, commands = true, 0, s.scenario.loop
	}
	s.position++
	return &commands[s.position-1]
}

func (s *script) apply(c *command, links *Links) {
	if c.verb == verbMeasure {
		s.model.follow(c.trace, s.wake)
		return
	}
	if c.from >= 0 {
		s.one(c, links, c.from, c.to)
		return
	}
	for from := range links.n {
		for to := range links.n {
			if from < to || from != to && !c.symmetric {
				s.one(c, links, from, to)
			}
		}
	}
}

// one applies a command to one link, or to both directions of it alike.
func (s *script) one(c *command, links *Links, from, to int) {
	var bandwidth, latency float64
	if c.verb == verbVary {
		bandwidth, latency = s.between(c.low, c.high), s.between(c.near, c.far)
	}
	act := func(from, to int) {
		switch c.verb {
		case verbSet:
			links.Set(from, to, c.conditions)
		case verbVary:
			links.Scale(from, to, bandwidth, latency)
		case verbRemove:
			links.Remove(from, to)
		case verbRestore:
			links.Restore(from, to)
		case verbQueue:
			links.Bound(from, to, c.bytes)
		}
	}
	act(from, to)
	if c.symmetric {
		act(to, from)
	}
}

// between draws a number in [low, high). The conversion keeps the compiler from fusing the multiplication with the
// addition, which would give other numbers on other machines.
func (s *script) between(low, high float64) float64 {
	share := float64(s.random.Uint64()>>11) / (1 << 53)
	return low + float64(share*(high-low))
}
