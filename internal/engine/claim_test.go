package engine_test

import (
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

var claimEntered, claimLeave = make(chan struct{}), make(chan struct{})

func init() {
	satin.Register("claimtest.leaf", claimLeaf)
	satin.Register("claimtest.long", claimLong)
	satin.Register("claimtest.root", claimRoot)
}

func claimLeaf(_ *satin.Frame, n int) int { return n }

// claimLong is a leaf that takes until the test lets it end.
func claimLong(_ *satin.Frame, n int) int {
	claimEntered <- struct{}{}
	<-claimLeave
	return n
}

func claimRoot(f *satin.Frame, n int) int {
	sum, older := 0, [3]satin.Future[int, int]{}
	for i := range older {
		older[i] = satin.Spawn(f, claimLeaf, n)
	}
	sum += satin.Spawn(f, claimLong, n).Get()
	for i := len(older) - 1; i >= 0; i-- {
		sum += older[i].Get()
	}
	return sum
}

// A worker that takes a coarse job back from its stealable ones leaves the others to thieves: it may not come
// by again for long.
func TestClaimOfACoarseJobLeavesTheOthers(t *testing.T) {
	p := testPool(t, 1)
	if job := p.Take(); job != nil { // jobs count as coarse from now on
		t.Fatal("a job in an empty pool")
	}
	result := make(chan int)
	go func() { result <- run(t, p, claimRoot, 1) }()
	<-claimEntered
	for i := range 3 {
		job := p.Take()
		if job == nil {
			t.Errorf("job %d cannot be had while the newest runs", i+1)
			break
		}
		if _, err := job.End(engine.Outcome{Result: 10}); err != nil {
			t.Error(err)
		}
	}
	claimLeave <- struct{}{}
	if sum := <-result; sum != 31 && !t.Failed() {
		t.Errorf("the sum is %d, want 31", sum)
	}
}
