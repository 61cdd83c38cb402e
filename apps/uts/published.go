package uts

import "maps"
import "slices"

// A published tree has been counted by its authors. The parameters and counts are those of sample_trees.sh in the
// reference program, UTS 1.1 and later; a count of 0 was not published.
type published struct {
	tree  Tree
	tally Tally
}

// shift is the reference program's default, which all published hybrid trees use.
const shift = 0.5

var trees = map[string]published{
	// Some four million nodes.
	"T1": {geometric(Fixed, 10, 4, 19), Tally{4130071, 3305118, 10}},
	"T2": {geometric(Cyclic, 16, 6, 502), Tally{4117769, 2342762, 81}},
	"T3": {binomial(2000, 0.124875, 8, 42), Tally{4112897, 3599034, 1572}},
	"T4": {Tree{Kind: Hybrid, Shape: Linear, Depth: 16, Root: 6, Seed: 1, Q: 0.234375, M: 4, Shift: shift},
		Tally{4132453, 3108986, 134}},
	"T5": {geometric(Linear, 20, 4, 34), Tally{4147582, 2181318, 20}},
	// Some hundred million.
	"T1L": {geometric(Fixed, 13, 4, 29), Tally{102181082, 81746377, 13}},
	"T2L": {geometric(Cyclic, 23, 7, 220), Tally{96793510, 53791152, 67}},
	"T3L": {binomial(2000, 0.200014, 5, 7), Tally{111345631, 89076904, 17844}},
	// Billions.
	"T1XL":  {geometric(Fixed, 15, 4, 29), Tally{1635119272, 1308100063, 15}},
	"T1XXL": {geometric(Fixed, 15, 4, 19), Tally{4230646601, 0, 15}},
	"T3XXL": {binomial(2000, 0.499995, 2, 316), Tally{2793220501, 0, 0}},
	"T2XXL": {binomial(2000, 0.499999995, 2, 0), Tally{10612052303, 5306027151, 216370}},
	// Hundreds of billions.
	"T1WL": {geometric(Fixed, 18, 4, 19), Tally{270751679750, 216601257283, 18}},
	"T2WL": {binomial(2000, 0.4999999995, 2, 559), Tally{295393891003, 147696946501, 1021239}},
	"T3WL": {binomial(2000, 0.4999995, 2, 559), Tally{157063495159, 78531748579, 758577}},
}

func geometric(shape uint8, depth int, root float64, seed int32) Tree {
	return Tree{Kind: Geometric, Shape: shape, Depth: depth, Root: root, Seed: seed}
}

func binomial(root float64, q float64, m int, seed int32) Tree {
	return Tree{Kind: Binomial, Root: root, Q: q, M: m, Seed: seed}
}

// names are the names of the published trees, sorted.
func names() []string { return slices.Sorted(maps.Keys(trees)) }
