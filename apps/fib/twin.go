package fib

// sequential is the naive Fibonacci function without any satin in it: the program that [fib] is compared
// with, and the leaf of [coarse].
func sequential(n int) int {
	if n < 2 {
		return n
	}
	return sequential(n-1) + sequential(n-2)
}

// iterative is the same function in n steps; it checks the answers of the slow ones.
func iterative(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}
