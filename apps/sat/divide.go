package sat

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// maxParts bounds how many parts a problem may be divided into.
const maxParts = 100_000

// divide cuts a formula into cubes for runs of their own, at most n: always the one in two that has most variables
// left, which is likely to be the hardest. The cubes are in the order of the tree of their decisions, which are
// all that is known of each: whoever attempts one finds out the rest again, so that its refutation stands alone.
func (c Cube) divide(n int) []Cube {
	type node struct {
		Cube
		halves []*node
		closed bool // it cannot be split, or has been
	}
	root := &node{Cube: Cube{Formula: c.Formula, Facts: c.Facts, Decisions: c.Decisions, Splits: 1, Proof: true}}
	all := []*node{root}
	for parts := 1; parts < min(n, maxParts); {
		var best *node
		for _, x := range all {
			if !x.closed && (best == nil || len(x.Facts) < len(best.Facts)) {
				best = x
			}
		}
		if best == nil {
			break
		}
		best.closed = true
		if _, halves := best.solve(nil); len(halves) > 0 {
			for _, half := range halves {
				half.Splits = 1
				best.halves = append(best.halves, &node{Cube: half})
			}
			all = append(slices.DeleteFunc(all, func(x *node) bool { return x == best }), best.halves...)
			parts++
		}
	}
	var cubes []Cube
	var walk func(x *node)
	walk = func(x *node) {
		if len(x.halves) == 0 {
			cubes = append(cubes, Cube{Formula: c.Formula, Facts: x.Decisions, Decisions: x.Decisions,
				Threshold: c.Threshold, Proof: true})
		}
		for _, half := range x.halves {
			walk(half)
		}
	}
	walk(root)
	return cubes
}

// pieceBytes is what a conflict makes of a proof, as it travels: that of w(2;3,10) to w(2;3,14).
const pieceBytes = 62

// parts is how a campaign proves the formula of c.
func (c Cube) parts() *apps.Parts {
	return &apps.Parts{
		Formula: c.Formula.write,
		Cut: func(of []int32, parts int) (cubes [][]int32) {
			whole := c
			whole.Facts, whole.Decisions = of, of
			for _, cube := range whole.divide(parts) {
				cubes = append(cubes, cube.Decisions)
			}
			return cubes
		},
		Args: func(cube []int32, file string) []string {
			return []string{"--cube=" + cubeText(cube), "--proof=" + file}
		},
		Leave: func(cubes [][]int32) []string {
			words := make([]string, len(cubes))
			for i, cube := range cubes {
				words[i] = cubeText(cube)
			}
			return []string{"--leave=" + cmp.Or(strings.Join(words, ";"), ";")} // of one with no literals
		},
		Guess: func(cube []int32, probes int) []string {
			return []string{"--cube=" + cubeText(cube), fmt.Sprint("--estimate=", probes)}
		},
		PieceBytes: pieceBytes,
		Check: func(formula string, files []string, cubes [][]int32) []string {
			args := []string{"--check", formula}
			for i, file := range files {
				args = append(args, file+"="+cubeText(cubes[i]))
			}
			return args
		},
		MostChecked: maxHearing,
	}
}

// cubeText is how a cube is named on a command line.
func cubeText(decisions []int32) string {
	words := make([]string, len(decisions))
	for i, d := range decisions {
		words[i] = strconv.Itoa(int(d))
	}
	return strings.Join(words, ",")
}

// parseCube reads what cubeText wrote: literals of different variables of f.
func parseCube(text string, f *Formula) (decisions []int32, err error) {
	if text == "" {
		return nil, nil
	}
	met := map[int]bool{}
	for _, word := range strings.Split(text, ",") {
		l, err := strconv.Atoi(strings.TrimSpace(word))
		v := max(l, -l)
		if err != nil || v < 1 || v > f.Variables || met[v] {
			return nil, &apps.InputError{What: "--cube", Got: text,
				Want: fmt.Sprintf("literals of different variables from 1 to %d, with commas between them", f.Variables)}
		}
		met[v] = true
		decisions = append(decisions, int32(l))
	}
	return decisions, nil
}
