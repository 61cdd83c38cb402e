package satin

import "testing"

var claimEntered, claimLeave = make(chan struct{}), make(chan struct{})

func init() {
	Register("claimtest.leaf", claimLeaf)
	Register("claimtest.long", claimLong)
	Register("claimtest.root", claimRoot)
}

func claimLeaf(_ *Frame, n int) int { return n }

// claimLong is a leaf that takes until the test lets it end.
func claimLong(_ *Frame, n int) int {
	claimEntered <- struct{}{}
	<-claimLeave
	return n
}

func claimRoot(f *Frame, n int) int {
	sum, older := 0, [3]Future[int, int]{}
	for i := range older {
		older[i] = Spawn(f, claimLeaf, n)
	}
	sum += Spawn(f, claimLong, n).Get()
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
		if _, err := job.Complete(10, nil); err != nil {
			t.Error(err)
		}
	}
	claimLeave <- struct{}{}
	if sum := <-result; sum != 31 && !t.Failed() {
		t.Errorf("the sum is %d, want 31", sum)
	}
}
