package engine_test

import "testing"

func seqFib(n int) int {
	if n < 2 {
		return n
	}
	return seqFib(n-1) + seqFib(n-2)
}

func seqQueens(b board) (n int) {
	if b.Cols == b.All {
		return 1
	}
	for m := b.free(); m != 0; m &= m - 1 {
		n += seqQueens(b.place(m & -m))
	}
	return n
}

func BenchmarkFibSequential(b *testing.B) {
	for b.Loop() {
		seqFib(30)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1346268, "ns/call")
}

func BenchmarkFib(b *testing.B) {
	p := testPool(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		run(b, p, fib, 30)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1346268, "ns/spawn")
}

func BenchmarkFib2Workers(b *testing.B) {
	p := testPool(b, 2)
	b.ReportAllocs()
	for b.Loop() {
		run(b, p, fib, 30)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1346268, "ns/spawn")
}

func BenchmarkQueensSequential(b *testing.B) {
	for b.Loop() {
		seqQueens(board{All: 1<<10 - 1})
	}
}

func BenchmarkQueens(b *testing.B) {
	p := testPool(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		run(b, p, queens, board{All: 1<<10 - 1})
	}
}
