package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/clock"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/sim"
)

func init() {
	satin.Register("wide.root", root)
	satin.Register("wide.node", node)
}

// Arg is a node of a tree, as long as the tree says when it is encoded.
type Arg struct {
	Key  uint64 `cbor:"1,keyasint,omitempty"`
	Work int64  `cbor:"2,keyasint,omitempty"`
	Size int32  `cbor:"3,keyasint,omitempty"`
	Form int32  `cbor:"4,keyasint,omitempty"`
	Tree uint16 `cbor:"5,keyasint,omitempty"`
	Pad  []byte `cbor:"6,keyasint"`
}

// Outcome is what a job computes, padded likewise. Took is set by the root job: from its begin to its end, in ns.
type Outcome struct {
	Sum    uint64 `cbor:"1,keyasint,omitempty"`
	Leaves uint64 `cbor:"2,keyasint,omitempty"`
	Took   int64  `cbor:"3,keyasint,omitempty"`
	Pad    []byte `cbor:"4,keyasint"`
}

// What the fields and heads of an encoded Arg and Outcome take, about: the padding is so much shorter.
const (
	argBytes     = 30
	outcomeBytes = 18
)

// pad is never written to.
var pad [1 << 19]byte

func padding(bytes, without int) []byte { return pad[:min(max(bytes-without, 0), len(pad))] }

func newArg(s *sim.Split, t model.Tree, n sim.Node) Arg {
	return Arg{n.Key, n.Work, n.Size, n.Form, uint16(t), padding(s.ArgBytes(n), argBytes)}
}

// root runs the whole tree.
func root(f *satin.Frame, tree uint16) Outcome {
	began := time.Now()
	t := model.Tree(tree)
	s, err := t.Shape()
	if err != nil {
		panic(err)
	}
	var o Outcome
	if steps := t.Steps(); steps != nil {
		o = run(f, s, t, steps)
	} else {
		o = node(f, newArg(s, t, s.Root()))
	}
	o.Took, o.Pad = int64(time.Since(began)), nil
	return o
}

// run does one step after the other: what only one can do, and then what all divide among themselves.
func run(f *satin.Frame, s *sim.Split, t model.Tree, steps *sim.Steps) (all Outcome) {
	for phase := 0; ; phase++ {
		n, serial, ok := model.Step(steps, phase)
		switch {
		case !ok:
			return all
		case serial:
			spend(time.Duration(steps.Cost(n)))
		default:
			o := satin.Spawn(f, node, newArg(s, t, n)).Get()
			all.Sum, all.Leaves = all.Sum+o.Sum, all.Leaves+o.Leaves
		}
	}
}

// node divides its work, or spends the time it takes. As in the simulator, the newest child runs at once.
func node(f *satin.Frame, a Arg) Outcome {
	t := model.Tree(a.Tree)
	s, err := t.Shape()
	if err != nil {
		panic(err)
	}
	n := sim.Node{Key: a.Key, Work: a.Work, Size: a.Size, Form: a.Form}
	children := s.Children(n, make([]sim.Node, 0, 2))
	result := Outcome{Pad: padding(s.ResultBytes(n), outcomeBytes)}
	switch len(children) {
	case 0:
		spend(time.Duration(s.Cost(n)))
		result.Sum, result.Leaves = model.Leaf(n), 1
	case 2:
		older := satin.Spawn(f, node, newArg(s, t, children[0]))
		newer := node(f, newArg(s, t, children[1]))
		first := older.Get()
		result.Sum, result.Leaves = first.Sum+newer.Sum, first.Leaves+newer.Leaves
	default:
		panic(fmt.Sprintf("a node with %d children", len(children)))
	}
	return result
}

// What the bench has said of this process: the part of its full speed that it has lost, in thousandths, and the
// percent of a job's cost at full speed for which it uses the processor. A process that only sleeps would look like one
// whose owner leaves it nothing; one that computes a little, and sleeps the longer the slower it is, looks like what it
// is.
var lost, burns atomic.Int64

func speed() float64 { return 1 - float64(lost.Load())/1000 }

// burn uses so much time of the processor.
func burn(d time.Duration) {
	for end := clock.Thread() + d; d > 0 && clock.Thread() < end; {
	}
}

// late is by how much this process's one worker has slept too long so far, in ns.
var late atomic.Int64

// spend sleeps for a job's cost. A timer is always late, and more so on a busy machine, where real computing
// would be slow as well; the next sleep is so much shorter, so that a peer's speed does not depend on the
// machine.
func spend(cost time.Duration) {
	wanted := time.Duration(float64(cost)/speed()) - time.Duration(late.Load())
	began := time.Now()
	burn(time.Duration(burns.Load() * int64(cost) / 100))
	if rest := wanted - time.Since(began); rest > 0 {
		time.Sleep(rest)
	}
	//satinvet:ignore how long a job sleeps is the machine's matter: its result does not depend on it
	late.Store(int64(time.Since(began) - wanted))
}
