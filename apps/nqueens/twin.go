package nqueens

// sequential counts the solutions of the n queens problem with no satin in it: the program that the jobs are compared
// with. The leaves of the jobs use the same solver.
func sequential(n int) uint64 {
	if n == 1 {
		return 1
	}
	var s solver
	return s.count(empty(n, 0)) / third
}
