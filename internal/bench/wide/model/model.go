// Package model has the computations that the bench runs twice: on real processes (internal/bench/wide) and
// in the simulator. They are the simulator's models of the four applications of the CRS paper's Table I, with
// less work in all.
package model

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
)

// The swarm: as many peers in each cluster, with one worker each.
const (
	Clusters   = 4
	PerCluster = 2
	Peers      = Clusters * PerCluster
)

// Work is how long a peer would be busy if nothing were lost: what makes a run take 20 to 30 s.
const Work = 18 * time.Second

// paperPeers is on how many the paper ran its applications.
const paperPeers = 64

// A Tree names a job tree in a word, so that every job can carry it: which application, and which input.
type Tree uint16

// maxInput is the highest number of an input.
const maxInput = 1<<8 - 1

// NewTree names an application's tree for an input, 0 to 255.
func NewTree(app string, input int) (Tree, error) {
	if input < 0 || input > maxInput {
		return 0, fmt.Errorf("input %d; there are 0 to %d", input, maxInput)
	}
	for i, a := range paper.Apps() {
		if a.Name == app {
			return Tree(i<<8 | input), nil
		}
	}
	_, err := paper.AppNamed(app)
	return 0, err
}

// Shape makes the tree. Grain, the way work is divided, and sizes of arguments are those of the paper's
// model. The work is less, so that all Peers need Work for it; what a run transmits with its results is less
// as the run is shorter: it is to load the links alike.
func (t Tree) Shape() (*sim.Split, error) {
	if s := t.Steps(); s != nil {
		return &s.Body, nil
	}
	apps := paper.Apps()
	if int(t>>8) >= len(apps) {
		return nil, fmt.Errorf("there is no application with the number %d", t>>8)
	}
	s := apps[t>>8].Tree(uint64(t & maxInput))
	perPeer := s.Total / paperPeers
	s.Size = int32(float64(s.Size) * float64(Work) / float64(perPeer))
	s.Total = Work * Peers
	return s, nil
}

// Leaf is the contribution of a leaf to the result: a tree's result is the sum of those of its leaves, modulo 2^64.
func Leaf(n sim.Node) uint64 { return n.Key ^ n.Key>>29 }

// Sequential computes a tree's result, and how many leaves it has.
func Sequential(t Tree) (sum, leaves uint64, err error) {
	s, err := t.Shape()
	if err != nil {
		return 0, 0, err
	}
	stack := []sim.Node{s.Root()}
	if steps := t.Steps(); steps != nil {
		stack = bodiesOf(steps)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		before := len(stack) - 1
		if stack = s.Children(n, stack[:before]); len(stack) == before {
			sum += Leaf(n)
			leaves++
		}
	}
	return sum, leaves, nil
}

// bodiesOf lists the roots of what is divided in each step.
func bodiesOf(s *sim.Steps) (list []sim.Node) {
	for phase := 0; ; phase++ {
		switch n, serial, ok := Step(s, phase); {
		case !ok:
			return list
		case !serial:
			list = append(list, n)
		}
	}
}

// Between are the conditions of every link between two clusters, in either direction.
func Between(roundTrip time.Duration) wan.Conditions {
	return wan.Conditions{Bandwidth: 100e3, Latency: roundTrip / 2}
}

// Local are the simulator's conditions inside a cluster: those of this machine's loopback interface, about,
// with our protocol on it.
var Local = wan.Conditions{Bandwidth: 200e6, Latency: 100 * time.Microsecond}
