package engine_test

import (
	"sync"
	"testing"
)

// TestManySmallRuns starts runs from several goroutines while workers fall asleep in between: each must end, with its
// own result.
func TestManySmallRuns(t *testing.T) {
	p := testPool(t, 2)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for n := range 1500 {
				if r, want := run(t, p, fib, 3+n%8), []int{2, 3, 5, 8, 13, 21, 34, 55}[n%8]; r != want {
					t.Error(r, want)
				}
			}
		})
	}
	wg.Wait()
}
