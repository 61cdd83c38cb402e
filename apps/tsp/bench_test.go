package tsp

import "testing"

// BenchmarkSequential is what internal/bench measures: a run of some thousand branchings.
func BenchmarkSequential(b *testing.B) {
	p := Problem{Map: randomInstance(70, defaultSeed)}
	b.ReportAllocs()
	for b.Loop() {
		solveAlone(p)
	}
}
