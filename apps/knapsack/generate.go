package knapsack

import "fmt"

// A class is one way to make instances, of those in Pisinger, "Where are the hard knapsack problems?",
// Computers & Operations Research 32 (2005), sections 3 and 4, as his program genhard.c computes them. R is
// the range of coefficients.
type class struct {
	name string
	item func(r *stream, R int64) (profit, weight int64)
}

// classes are numbered as in genhard.c, which names a file of the third one knapPI_3_....
var classes = map[int]class{
	1: {"uncorrelated", func(r *stream, R int64) (int64, int64) { // both even in [1,R]
		weight := r.upTo(R)
		return r.upTo(R), weight
	}},
	2: {"weak", func(r *stream, R int64) (int64, int64) { // profit even in [w-R/10, w+R/10], at least 1
		weight := r.upTo(R)
		return max(1, r.below(2*(R/10)+1)+weight-R/10), weight
	}},
	3: {"strong", func(r *stream, R int64) (int64, int64) { // profit w + R/10
		weight := r.upTo(R)
		return weight + R/10, weight
	}},
	4: {"inverse", func(r *stream, R int64) (int64, int64) { // weight p + R/10
		profit := r.upTo(R)
		return profit, profit + R/10
	}},
	// profit even in [w+R/10-R/1000, w+R/10+R/1000] (R/500 in the paper)
	5: {"almost", func(r *stream, R int64) (int64, int64) {
		weight := r.upTo(R)
		return weight + R/10 + r.below(2*R/1000+1) - R/1000, weight
	}},
	6: {"subset-sum", func(r *stream, R int64) (int64, int64) { // profit w
		weight := r.upTo(R)
		return weight, weight
	}},
	9: {"similar", func(r *stream, R int64) (int64, int64) { // weight even in [100R, 100R+R/10), profit even in [1,R]
		profit := r.upTo(R)
		return profit, r.below(R/10) + 100*R
	}},
}

// Limits of generated instances.
const (
	series        = 100 // instances of one class, size and range: number i has i/101 of all weight as its capacity
	maxGenerated  = 10_000
	smallestRange = 10 // so that R/10 is something
	largestRange  = 1_000_000
)

// generate makes number i of a series, from 1.
func generate(number, n int, R int64, i int) *Instance {
	r := &stream{state: uint64(i)<<16 + 0x330e}
	profit, weight := make([]int64, n), make([]int64, n)
	var sum, heaviest int64
	for j := range n {
		profit[j], weight[j] = classes[number].item(r, R)
		sum += weight[j]
		heaviest = max(heaviest, weight[j])
	}
	capacity := max(int64(i)*sum/(series+1), heaviest)
	return newInstance(fmt.Sprintf("knapPI_%d_%d_%d_%d", number, n, R, i), capacity, profit, weight)
}

// stream is the random stream of genhard.c: lrand48 of POSIX.
type stream struct{ state uint64 }

// below is a number from 0 to n-1.
func (r *stream) below(n int64) int64 {
	const bits = 48
	r.state = (r.state*0x5deece66d + 0xb) & (1<<bits - 1)
	return int64(r.state>>(bits-31)) % n
}

// upTo is a number from 1 to n.
func (r *stream) upTo(n int64) int64 { return 1 + r.below(n) }
