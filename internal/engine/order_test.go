package engine_test

import (
	"fmt"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("ordertest.child", orderChild)
	satin.RegisterErr("ordertest.childErr", orderChildErr)
	satin.Register("ordertest.parent", orderParent)
	satin.Register("ordertest.parentErr", orderParentErr)
}

// orderChild is called for the newest of three. While it runs, a thief outside finishes the two older ones.
func orderChild(f *satin.Frame, pool int) int {
	w, p := worker(f), orderPools[pool]
	w.ShareAll()
	for _, result := range []int{1, 2} {
		if _, err := p.GiveOldest(w).End(engine.Outcome{Result: result}); err != nil {
			panic(err)
		}
	}
	return 3
}

func orderChildErr(f *satin.Frame, pool int) (int, error) { return orderChild(f, pool), nil }

var orderPools [2]*engine.Pool

func orderParent(f *satin.Frame, pool int) (order int) {
	g := satin.Fork(f, orderChild)
	for range 3 {
		g.Spawn(pool)
	}
	for r := range g.Results() {
		order = order*10 + r
	}
	return order
}

func orderParentErr(f *satin.Frame, pool int) (order int) {
	g := satin.ForkErr(f, orderChildErr)
	for range 3 {
		g.Spawn(pool)
	}
	for r, err := range g.Results() {
		if err != nil {
			panic(err)
		}
		order = order*10 + r
	}
	return order
}

// TestOrderOfCompletion: "as soon as some task has finished" (programming model, 3.3). Children that came back from
// thieves while one ran in place are yielded before it, whether the loop called it or ran it ahead.
func TestOrderOfCompletion(t *testing.T) {
	for i, parent := range []func(*satin.Frame, int) int{orderParent, orderParentErr} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			orderPools[i] = testPool(t, 1)
			if order := run(t, orderPools[i], parent, i); order != 123 {
				t.Errorf("the results came in the order %d", order)
			}
		})
	}
}
