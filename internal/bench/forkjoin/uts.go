package main

import (
	"sync"

	"github.com/satin-peer/satin"
)

// The unbalanced tree of this kernel is binomial like those of the UTS benchmark (Olivier et al. 2006): the
// root has utsRoots children, any other node has utsArity children with probability 0.1247 and else none. A
// node is named by a 64-bit state, and a child's state is a mix of the parent's and its index: some 2 ns,
// where the benchmark's SHA-1 takes 100, so that the price of spawning shows. The application uts is the real
// one.
const (
	utsRoots = 2000
	utsArity = 8
	utsInner = uint64(1 << 64 / 10_000 * 1247)
)

// Node is a node of the tree.
type Node struct {
	State uint64
	Root  bool
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (v Node) child(i int) Node { return Node{State: mix(v.State + uint64(i+1)*0x9e3779b97f4a7c15)} }

func (v Node) children() int {
	switch {
	case v.Root:
		return utsRoots
	case mix(v.State^0x6a09e667f3bcc909) < utsInner:
		return utsArity
	}
	return 0
}

func utsSequential(v Node) int {
	n := 1
	for i := range v.children() {
		n += utsSequential(v.child(i))
	}
	return n
}

// uts spawns a job for every node.
func uts(f *satin.Frame, v Node) int {
	n := 1
	g := satin.Fork(f, uts)
	for i := range v.children() {
		g.Spawn(v.child(i))
	}
	for r := range g.Results() {
		n += r
	}
	return n
}

// utsGoroutines starts a goroutine for every node.
func utsGoroutines(v Node) int {
	counts := make([]int, v.children())
	var wg sync.WaitGroup
	wg.Add(len(counts))
	for i := range counts {
		go func() {
			counts[i] = utsGoroutines(v.child(i))
			wg.Done()
		}()
	}
	wg.Wait()
	n := 1
	for _, c := range counts {
		n += c
	}
	return n
}
