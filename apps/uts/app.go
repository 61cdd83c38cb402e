package uts

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// defaultGrain is some 0.5 ms of work.
const defaultGrain = 4000

// Limits of parameters that are not those of a published tree. They keep numbers sensible; a tree can still be too
// large to count.
const (
	maxRoot  = 1_000_000
	maxDepth = 100
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the unbalanced tree search.
var App = apps.App{
	Version: sources,
	Name:    "uts",
	Summary: "count the nodes of a very unbalanced tree (the UTS benchmark)",
	Args:    "[TREE]",
	Long: `Counts the nodes and leaves of a tree in which every node's number of children is random, so that subtrees of one node
differ in size by many orders of magnitude. The random numbers come from SHA-1: a node's state is the hash of its parent's
state and of its place among its siblings, as in the benchmark by Olivier and others (LCPC 2006).

TREE is one of the trees that the benchmark's authors have counted: ` + strings.Join(names(), ", ") + `.
T1 to T5 have four million nodes, those with L a hundred million, XL and XXL billions, WL hundreds of billions. The answer is
checked with the published one. The other options describe a tree of one's own instead.

A job visits --threshold nodes and shares what is left with new jobs; with 0, every node is a job.`,
	Examples: []string{"T1", "T3 --threshold 0", "T1L",
		"--type geometric --shape expdec --depth 10 --root 4 --seed 19"},
	Setup: setup,
}

// options are the flags that describe a tree.
type options struct {
	kind, shape string
	seed, depth int
	root, shift float64
	q           float64
	m           int
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	var o options
	fs.StringVar(&o.kind, "type", kinds[Geometric], "`kind` of a tree of one's own: "+strings.Join(kinds, ", "))
	fs.StringVar(&o.shape, "shape", shapes[Linear], "`shape` of a geometric tree: "+strings.Join(shapes, ", "))
	fs.IntVar(&o.seed, "seed", 0, "`number` that makes a tree different from others")
	fs.IntVar(&o.depth, "depth", 6, "depth parameter of a geometric tree, in `levels`")
	fs.Float64Var(&o.root, "root", 4, "`number` of children of the root, a mean for geometric trees")
	fs.Float64Var(&o.shift, "shift", shift, "`share` of the depth where a hybrid tree turns binomial")
	fs.Float64Var(&o.q, "q", 15./64, "`probability` that a node of a binomial tree has children")
	fs.IntVar(&o.m, "m", 4, "`number` of children that it has then")
	grain := fs.Int("threshold", defaultGrain,
		"`nodes` that a job visits before it shares the rest; 0 makes a job of every node")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.IntRange("--threshold", *grain, 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if len(args) == 0 {
			tree, err := o.tree()
			if err != nil {
				return nil, err
			}
			return problem("a "+o.kind+" tree", published{tree: tree}, *grain), nil
		}
		if err := apps.ArgCount(args, 1, "TREE"); err != nil {
			return nil, err
		}
		name := strings.ToUpper(args[0])
		tree, found := trees[name]
		if !found {
			return nil, &apps.InputError{What: "TREE", Got: args[0], Want: "one of " + strings.Join(names(), ", ")}
		}
		var own error
		fs.Visit(func(f *flag.Flag) {
			if slices.Contains(ownFlags, f.Name) {
				own = &apps.InputError{What: "--" + f.Name, Got: f.Value.String(),
					Want: "no such option beside " + name + ", which has parameters of its own"}
			}
		})
		if own != nil {
			return nil, own
		}
		return problem(name, tree, *grain), nil
	}
}

// The names of kinds, shapes and of the flags that describe a tree.
var (
	kinds    = []string{Binomial: "binomial", Geometric: "geometric", Hybrid: "hybrid"}
	shapes   = []string{Linear: "linear", ExpDec: "expdec", Cyclic: "cyclic", Fixed: "fixed"}
	ownFlags = []string{"type", "shape", "seed", "depth", "root", "shift", "q", "m"}
)

// tree checks the options, those that the kind of tree does not use too.
func (o *options) tree() (t Tree, err error) {
	kind, shape := slices.Index(kinds, o.kind), slices.Index(shapes, o.shape)
	if kind < 0 {
		return t, &apps.InputError{What: "--type", Got: o.kind, Want: "one of " + strings.Join(kinds, ", ")}
	}
	if shape < 0 {
		return t, &apps.InputError{What: "--shape", Got: o.shape, Want: "one of " + strings.Join(shapes, ", ")}
	}
	t = Tree{Kind: uint8(kind), Shape: uint8(shape), Seed: int32(o.seed), Root: o.root, Depth: o.depth,
		Shift: o.shift, Q: o.q, M: o.m}
	most := float64(maxChildren)
	if t.Kind == Binomial {
		most = maxRoot
	}
	for _, err := range []error{
		apps.IntRange("--seed", o.seed, 0, math.MaxInt32),
		apps.IntRange("--depth", o.depth, 2, maxDepth),
		apps.FloatRange("--root", o.root, 1, most),
		apps.FloatRange("--shift", o.shift, 0, 1),
		apps.FloatRange("--q", o.q, 0, 1),
		apps.IntRange("--m", o.m, 1, maxChildren),
	} {
		if err != nil {
			return t, err
		}
	}
	if t.Kind != Geometric && o.q*float64(o.m) >= 1 {
		return t, &apps.InputError{What: "--q times --m", Got: fmt.Sprint(o.q * float64(o.m)),
			Want: "less than 1, as the tree would have no end"}
	}
	return t, nil
}

func problem(name string, p published, grain int) *apps.Problem {
	tree := p.tree.prepare()
	return &apps.Problem{
		Title:      "UTS " + name,
		Root:       "uts.count",
		Arg:        Search{Tree: tree, Grain: grain},
		Sequential: func() any { return sequential(tree) },
		Check: func(result any) error {
			return errors.Join(p.check(result.(Tally)), tree.check(result.(Tally)))
		},
		Answer: func(result any) apps.Answer {
			t := result.(Tally)
			return apps.Answer{
				Text:   fmt.Sprintf("%s: %d nodes, %d leaves, depth %d", name, t.Nodes, t.Leaves, t.Depth),
				Fields: map[string]any{"tree": name, "nodes": t.Nodes, "leaves": t.Leaves, "depth": t.Depth},
			}
		},
	}
}

// check compares with the counts that were published.
func (p *published) check(t Tally) error {
	want := p.tally
	switch {
	case want.Nodes != 0 && want.Nodes != t.Nodes:
		return fmt.Errorf("%d nodes, published are %d", t.Nodes, want.Nodes)
	case want.Leaves != 0 && want.Leaves != t.Leaves:
		return fmt.Errorf("%d leaves, published are %d", t.Leaves, want.Leaves)
	case want.Depth != 0 && want.Depth != t.Depth:
		return fmt.Errorf("depth %d, published is %d", t.Depth, want.Depth)
	}
	return nil
}

// check compares with what can be said about any tree like this.
func (t *Tree) check(got Tally) error {
	inner := got.Nodes - got.Leaves
	switch {
	case got.Nodes == 0 || got.Leaves == 0 || got.Leaves > got.Nodes || uint64(got.Depth) > inner:
		return fmt.Errorf("no tree has %d nodes, %d leaves and depth %d", got.Nodes, got.Leaves, got.Depth)
	case t.Kind == Binomial && got.Nodes != 1+uint64(t.Root)+(inner-1)*uint64(t.M):
		return fmt.Errorf("%d inner nodes cannot have %d children", inner, got.Nodes-1)
	case t.Kind == Geometric && (t.Shape == Linear || t.Shape == Fixed) && got.Depth > t.Depth:
		return fmt.Errorf("depth %d is below the deepest level, %d", got.Depth, t.Depth)
	}
	return nil
}
