package knapsack

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// Limits of an instance. With them no product or sum of the search leaves 63 bits.
const (
	maxItems       = 100_000
	maxCoefficient = 1_000_000_000 // of a profit or weight
)

// Instance is a knapsack and what could be put into it. Its items are sorted by profit per weight, the best first.
type Instance struct {
	Name     string
	Capacity int64
	Profit   []int64 // 1 to maxCoefficient
	Weight   []int64 // likewise
	Number   []int   // of the item in the file, from 1

	// Sums[i] are those of the items before i, so of i items.
	ProfitSum []int64
	WeightSum []int64
}

// newInstance sorts items into an instance. Items of the same value keep their order.
func newInstance(name string, capacity int64, profit, weight []int64) *Instance {
	n := len(profit)
	in := &Instance{
		Name: name, Capacity: capacity,
		Profit: make([]int64, n), Weight: make([]int64, n), Number: make([]int, n),
		ProfitSum: make([]int64, n+1), WeightSum: make([]int64, n+1),
	}
	for i := range n {
		in.Number[i] = i + 1
	}
	slices.SortStableFunc(in.Number, func(a, b int) int {
		return cmp.Compare(profit[b-1]*weight[a-1], profit[a-1]*weight[b-1])
	})
	for i, number := range in.Number {
		in.Profit[i], in.Weight[i] = profit[number-1], weight[number-1]
		in.ProfitSum[i+1] = in.ProfitSum[i] + in.Profit[i]
		in.WeightSum[i+1] = in.WeightSum[i] + in.Weight[i]
	}
	return in
}

// size is the number of items.
func (in *Instance) size() int { return len(in.Profit) }

// Set is a set of items, as bits: item i is bit i%64 of word i/64.
type Set []uint64

func newSet(size int) Set { return make(Set, (size+63)/64) }

func (s Set) has(item int) bool { return s[item/64]>>(item%64)&1 == 1 }

// add adds the items from first to last-1.
func (s Set) add(first, last int) {
	for i := first; i < last; i++ {
		s[i/64] |= 1 << (i % 64)
	}
}

// before says whether s comes before t in the order in which the search looks at sets: at the first item in
// which they differ, the set that has it comes first.
func (s Set) before(t Set) bool {
	for i, word := range s {
		if differ := word ^ t[i]; differ != 0 {
			return word>>bits.TrailingZeros64(differ)&1 == 1
		}
	}
	return false
}

// beforeAll says whether s comes before every set that agrees with t on the items before next.
func (s Set) beforeAll(t Set, next int) bool {
	for i, word := range s[:(next+63)/64] {
		differ := word ^ t[i]
		if left := next - 64*i; left < 64 {
			differ &= 1<<left - 1
		}
		if differ != 0 {
			return word>>bits.TrailingZeros64(differ)&1 == 1
		}
	}
	return false
}

// Solution is a set of items that fits into the knapsack.
type Solution struct {
	Profit int64
	Taken  Set // items of the sorted instance
}

// better returns the solution with the higher profit, of equal ones that which the search would find first.
func better(a, b Solution) Solution {
	if b.Profit > a.Profit || b.Profit == a.Profit && b.Taken.before(a.Taken) {
		return b
	}
	return a
}

// check adds a solution up again.
func (in *Instance) check(s Solution) error {
	switch last := in.size() % 64; {
	case len(s.Taken) != len(newSet(in.size())):
		return fmt.Errorf("the solution is of another instance")
	case last != 0 && s.Taken[len(s.Taken)-1]>>last != 0:
		return fmt.Errorf("the solution has items that are not there")
	}
	var profit, weight int64
	for i := range in.Profit {
		if s.Taken.has(i) {
			profit += in.Profit[i]
			weight += in.Weight[i]
		}
	}
	switch {
	case weight > in.Capacity:
		return fmt.Errorf("the items weigh %d, more than the %d that fit", weight, in.Capacity)
	case profit != s.Profit:
		return fmt.Errorf("the items are worth %d, not %d", profit, s.Profit)
	}
	return nil
}

// numbers are the numbers of the items of a solution, as the file has them, ascending.
func (in *Instance) numbers(s Solution) []int {
	list := []int{}
	for i, number := range in.Number {
		if s.Taken.has(i) {
			list = append(list, number)
		}
	}
	slices.Sort(list)
	return list
}
