package knapsack

import "math"

// sequential finds the best solution with no satin in it: the program that the jobs are compared with.
func sequential(in *Instance) Solution {
	w := walk(everything(in, 0))
	for w.visit(math.MaxInt) {
	}
	return w.best
}
