package all

import (
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

// Each application names a small instance of the function of its root job, one for each if there are several, which can
// be timed again and again: peers measure by it how fast they are.
func TestSmallInstances(t *testing.T) {
	roots := map[string][]string{"barneshut": {"simulate"}, "fib": {"fib"}, "gene": {"compare"}, "grammar": {"learn"},
		"integrate": {"integrate"}, "knapsack": {"solve"}, "nqueens": {"count"}, "othello": {"solve", "perft"},
		"raytracer": {"render"}, "sat": {"solve"}, "tsp": {"solve"}, "uts": {"count"}}
	pool, err := engine.NewPool(engine.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, app := range Apps() {
		if len(roots[app.Name]) == 0 {
			t.Errorf("%s has no small instance, or is not in this test", app.Name)
		}
		for _, fn := range roots[app.Name] {
			name := app.Name + "." + fn
			f, ok := engine.Lookup(name)
			if !ok || f.Small == nil {
				t.Errorf("%s has no small instance", name)
				continue
			}
			for range 2 {
				took, err := pool.Time(t.Context(), name, f.Small)
				if err != nil || took <= 0 {
					t.Errorf("%s: %v, %v", name, took, err)
				}
				t.Log(name, took)
			}
		}
	}
}
