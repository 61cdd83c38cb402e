// Package impure has jobs that change the world. // want package:"registers impure.clean, (impure.counted, )?impure.search}$"
package impure

import (
	"sync"
	"sync/atomic"

	"github.com/satin-peer/satin"
	"impure/other"
)

func init() {
	satin.Register("impure.search", search)
	satin.Register("impure.clean", clean)
}

var (
	best    = 1 << 30
	table   = [4]int{1, 2, 3, 4}
	cache   = map[int]int{}
	state   struct{ hits int }
	ptr     = new(int)
	count   atomic.Int64
	raw     int64
	memo    sync.Map
	results = make(chan int, 1)
	primes  []int
	once    sync.Once
)

func search(f *satin.Frame, n int) int {
	best = n                 // want `job search writes package-level variable best: a job must be a pure function of its argument`
	best, n = n, best        // want `job search writes package-level variable best`
	table[0]++               // want `job search writes package-level variable table`
	cache[n] = 1             // want `job search writes package-level variable cache`
	delete(cache, n)         // want `job search writes package-level variable cache`
	state.hits += n          // want `job search writes package-level variable state`
	*ptr = n                 // want `job search writes package-level variable ptr`
	count.Add(1)             // want `job search writes package-level variable count`
	atomic.AddInt64(&raw, 1) // want `job search writes package-level variable raw`
	memo.Store(n, 1)         // want `job search writes package-level variable memo`
	results <- n             // want `job search writes package-level variable results`
	other.Limit = n          // want `job search writes package-level variable Limit`
	for best = range n {     // want `job search writes package-level variable best`
	}
	func() { best++ }() // want `job search writes package-level variable best`
	return step(n)
}

func step(n int) int {
	best = min(best, n) // want `job search, through step, writes package-level variable best`
	return n
}

// clean reads tables, and writes what is its own.
func clean(f *satin.Frame, n int) int {
	once.Do(fill)
	once.Do(func() { primes = []int{2, 3, 5} })
	best := n
	best++
	local := map[int]int{}
	local[1] = table[n%4] + cache[n] + other.Limit
	var sum atomic.Int64
	sum.Add(count.Load())
	x := satin.Spawn(f, clean, n)
	return x.Get() + best + len(primes)
}

func fill() { primes = []int{2, 3, 5} }

// Configure is not part of a job.
func Configure(n int) { best = n }
