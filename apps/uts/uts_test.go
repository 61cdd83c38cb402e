package uts

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

const (
	rootOf19 = "c6988ab70cc9559ae4d6cba254e29a845a85f86b"
	child258 = "07b7bab324614f94c20fe61ab912ea6e0c86ca6b"
)

// TestRandomStream checks the hashes of a seed and of a spawn by hand: SHA-1 of 16 zero bytes and the seed, and of a
// state and a child's number, computed with sha1sum.
func TestRandomStream(t *testing.T) {
	tree := Tree{Kind: Binomial, Seed: 19}
	root := tree.root()
	if got := hex.EncodeToString(root.State[:]); got != rootOf19 {
		t.Errorf("the root's state is %s", got)
	}
	child := root.child(258)
	if got := hex.EncodeToString(child.State[:]); got != child258 {
		t.Errorf("the child's state is %s", got)
	}
	if child.Depth != 1 {
		t.Errorf("the child's depth is %d", child.Depth)
	}
	child.State = [20]byte{16: 0xff, 17: 0xff, 18: 0xff, 19: 0xff} // the highest bit is not used
	if got, want := child.uniform(), 1-1.0/(1<<31); got != want {
		t.Errorf("the largest random number is %v, want %v", got, want)
	}
}

// TestPublishedTrees counts the trees with four million nodes on all cores, and one with the twin.
func TestPublishedTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("hashes 24 million nodes, which takes minutes under the race detector")
	}
	t3 := trees["T3"]
	if err := t3.check(sequential(t3.tree.prepare())); err != nil {
		t.Errorf("the twin: %v", err)
	}
	pool, err := satin.NewPool(satin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, line := range []string{"T2", "T4", "T5", "t1 --threshold 0"} {
		p, err := apptest.Setup(App, line)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pool.RunNamed(context.Background(), p.Root, p.Arg)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(got); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestDefaultTree counts the tree that the reference program makes when it is given no options.
func TestDefaultTree(t *testing.T) {
	for _, grain := range []int{0, 1, 2, 10, 100, 2000} {
		got := apptest.Solve(t, App, fmt.Sprintf("--threshold %d", grain)).(Tally)
		if got.Nodes != 1732 || got.Leaves != 1050 {
			t.Errorf("%+v, published are 1732 nodes and 1050 leaves", got)
		}
	}
}

// TestDeepTrees has jobs some thousand levels deep: chains, and a tree close to being infinite.
func TestDeepTrees(t *testing.T) {
	for _, line := range []string{
		"--type binomial --root 1 --q 0.999 --m 1",
		"--type binomial --root 20 --q 0.124875 --m 8 --seed 42",
		"--type hybrid --depth 10 --root 6 --q 0.234375 --m 4 --shift 0.3",
		"--shape cyclic --depth 4 --root 3 --seed 5",
		"--shape expdec --depth 3 --root 3 --seed 19",
		"--shape fixed --depth 5 --root 4",
	} {
		for _, grain := range []int{0, 3, 200} {
			apptest.Solve(t, App, fmt.Sprintf("%s --threshold %d", line, grain))
		}
	}
}

// recursively tallies the tree below n as its definition says.
func recursively(n *Node) (t Tally) {
	children := n.children()
	t.visit(n, children)
	for i := range children {
		child := n.child(i)
		t.add(recursively(&child))
	}
	return t
}

// TestSharesAreTheWhole relieves a walker at random and visits everything it has shared.
func TestSharesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := Tree{
			Kind:  Binomial,
			Root:  float64(rapid.IntRange(1, 40).Draw(t, "root")),
			Q:     0.15,
			M:     6,
			Seed:  rapid.Int32Range(0, 1<<30).Draw(t, "seed"),
			Shift: shift,
		}
		root := tree.root()
		want := recursively(&root)
		var got Tally
		for parts := [][]Place{{root.Place}}; len(parts) > 0; {
			before := slices.Clone(parts[0])
			w := walk(&tree, parts[0]...)
			for w.visit(rapid.IntRange(1, 60).Draw(t, "limit")) {
				if nodes := w.share(); nodes != nil {
					parts = append(parts, nodes)
				}
			}
			if !slices.Equal(parts[0], before) {
				t.Fatal("a walker changed the nodes it was given")
			}
			parts = parts[1:]
			got.add(w.tally)
		}
		if twin := sequential(&tree); twin != want {
			t.Errorf("%+v: the twin says %+v, the recursion %+v", tree, twin, want)
		}
		if got != want {
			t.Errorf("%+v: parts add up to %+v, the tree is %+v", tree, got, want)
		}
	})
}

// TestBothSidesHaveEachLevel: in a critical tree as much is below a node as below any other, and a walker that is
// deep in it has a few of each level. With T3, of which most is one deep subtree, a share of the highest level alone
// was nothing: the second worker was idle for half of the time.
func TestBothSidesHaveEachLevel(t *testing.T) {
	tree := trees["T3"].tree
	w := walk(&tree, tree.root().Place)
	for range 200 {
		if !w.visit(1000) {
			t.Fatal("the tree is smaller than it should be")
		}
		before, levels := slices.Clone(w.waiting), map[int32]int{}
		for _, n := range w.share() {
			levels[n.Depth]++
		}
		for _, n := range w.waiting {
			levels[n.Depth]--
		}
		for depth, more := range levels {
			if more < -1 || more > 1 {
				t.Fatalf("of level %d, one side has %+d nodes more than the other", depth, more)
			}
		}
		w.waiting = before
	}
}

// TestASharesSize is what a job may be handed: it has to travel.
func TestASharesSize(t *testing.T) {
	w := walk(&Tree{}, make([]Place, 10*maxShared)...)
	shared := w.share()
	if left := len(w.waiting); len(shared) != maxShared || left != 9*maxShared {
		t.Errorf("of %d nodes %d were shared and %d left", 10*maxShared, len(shared), left)
	}
}

// The table that spares each node a power and a sine has what the node would compute, in every shape and depth.
func TestDivisorTable(t *testing.T) {
	for shape := range uint8(len(shapes)) {
		tree := geometric(shape, 30, 4, 1)
		table := tree.prepare()
		for d := range 200 {
			if got, want := table.divisor(d), tree.divisor(d); got != want {
				t.Errorf("%s, depth %d: %v in the table, %v without", shapes[shape], d, got, want)
			}
		}
	}
}

// Numbers that are not those published for a tree, or that no tree has, are told from right ones.
func TestCheckNoticesWrongAnswers(t *testing.T) {
	for _, c := range []struct {
		line string
		got  Tally
		want string
	}{
		{"T1", Tally{4130070, 3305118, 10}, "4130070 nodes, published are 4130071"},
		{"T1", Tally{4130071, 3305119, 10}, "3305119 leaves, published are 3305118"},
		{"T1", Tally{4130071, 3305118, 11}, "depth 11, published is 10\ndepth 11 is below the deepest level, 10"},
		{"--depth 3", Tally{5, 6, 1}, "no tree has 5 nodes, 6 leaves and depth 1"},
		{"--depth 3", Tally{5, 4, 2}, "no tree has 5 nodes, 4 leaves and depth 2"},
		{"--type binomial --root 5", Tally{11, 8, 2}, "3 inner nodes cannot have 10 children"},
	} {
		p, err := apptest.Setup(App, c.line)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(c.got); err == nil || err.Error() != c.want {
			t.Errorf("%s: got  %v\nwant %s", c.line, err, c.want)
		}
	}
}

// A tree that does not exist, has no end, or is described by options that make no sense is refused with what is
// allowed.
func TestBadInput(t *testing.T) {
	const list = "T1, T1L, T1WL, T1XL, T1XXL, T2, T2L, T2WL, T2XXL, T3, T3L, T3WL, T3XXL, T4, T5"
	apptest.Refuse(t, App, map[string]string{
		"T9":                           `TREE: got "T9", want one of ` + list,
		"T1 T2":                        `arguments: got "T1 T2", want exactly 1 (TREE)`,
		"T1 --threshold -1":            `--threshold: got "-1", want a whole number from 0 to 2147483647`,
		"T1 --seed 4":                  `--seed: got "4", want no such option beside T1, which has parameters of its own`,
		"--type ternary":               `--type: got "ternary", want one of binomial, geometric, hybrid`,
		"--shape round":                `--shape: got "round", want one of linear, expdec, cyclic, fixed`,
		"--seed -1":                    `--seed: got "-1", want a whole number from 0 to 2147483647`,
		"--depth 0":                    `--depth: got "0", want a whole number from 2 to 100`,
		"--root 0":                     `--root: got "0", want a number from 1 to 100`,
		"--root NaN":                   `--root: got "NaN", want a number from 1 to 100`,
		"--type binomial --root 1e7":   `--root: got "1e+07", want a number from 1 to 1e+06`,
		"--shift 1.5":                  `--shift: got "1.5", want a number from 0 to 1`,
		"--q -0.1":                     `--q: got "-0.1", want a number from 0 to 1`,
		"--m 101":                      `--m: got "101", want a whole number from 1 to 100`,
		"--type hybrid --q 0.5 --m 2":  `--q times --m: got "1", want less than 1, as the tree would have no end`,
		"--type binomial --q .6 --m 2": `--q times --m: got "1.2", want less than 1, as the tree would have no end`,
	})
}

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App) }

func BenchmarkSequential(b *testing.B) {
	tree := trees["T1"].tree.prepare()
	for b.Loop() {
		sequential(tree)
	}
}
