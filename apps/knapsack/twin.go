package knapsack

import "math"

// sequential finds the best solution with no satin in it: the program that the jobs are compared with.
func sequential(in *Instance) Solution {
	w := walk(in, everything(in), Solution{Taken: newSet(in.size())})
	for w.visit(math.MaxInt) {
	}
	return w.best
}
