package model

import (
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/steal"
)

// bodiesApp is the number of the program in steps, apart from those of the applications of Table I.
const bodiesApp = 255

// Bodies names the program in steps for an input, 0 to 255: a model of Barnes-Hut for the programming-model paper's
// scenarios (5.6) with a sixth of the peers, without shared objects.
func Bodies(input int) Tree { return Tree(bodiesApp<<8 | input&maxInput) }

// Steps makes the program; nil if the tree is another one.
func (t Tree) Steps() *sim.Steps {
	if t>>8 != bodiesApp {
		return nil
	}
	return &sim.Steps{Name: "bodies", Count: 45, Serial: 600 * time.Millisecond, Body: sim.Split{
		Seed: uint64(t & maxInput), Total: 4 * time.Second, Grain: 100 * time.Millisecond, FanLow: 2, FanHigh: 2,
		Even: 0.5, Skew: 2, Arg: 400, Result: 60, Size: 280 << 10, PerUnit: 1}}
}

// Step gives a node of one phase of the program, and whether it is what only one peer can do; false if there is none.
func Step(s *sim.Steps, phase int) (n sim.Node, serial, ok bool) {
	list := s.Next(s.Root(), phase, nil)
	if len(list) == 0 {
		return n, false, false
	}
	return list[0], list[0].Form < 0, true
}

// StepsCore has the bounds and periods of the cores under which it runs: those of the simulator's page.
func StepsCore() steal.Config {
	c := steal.WAN()
	c.StealGap = 20 * time.Millisecond
	return c
}
