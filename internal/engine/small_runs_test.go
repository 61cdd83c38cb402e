package engine_test

import (
	"sync"
	"testing"
)

// TestManySmallRuns starts runs from several goroutines while workers fall asleep in between: each must end.
func TestManySmallRuns(t *testing.T) {
	p := testPool(t, 2)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for n := range 1500 {
				if r := run(t, p, fib, 3+n%8); r < 0 {
					t.Error(r)
				}
			}
		})
	}
	wg.Wait()
}
