package compute

import (
	"errors"
	"fmt"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

var errKnown = errors.New("known")

func init() {
	satin.RegisterError("outcometest.known", errKnown)
	satin.RegisterErr("outcometest.fails", fails)
}

func fails(_ *satin.Frame, n int) (int, error) {
	if n == 0 {
		panic(fmt.Errorf("in the job: %w", errKnown))
	}
	return n, fmt.Errorf("in the job: %w", errKnown)
}

// TestErrorsTravel: errors.Is says the same of what a job returned or panicked with, whether it ran here or
// elsewhere.
func TestErrorsTravel(t *testing.T) {
	for n := range 2 {
		var p *engine.Pool
		v, here := p.Run(t.Context(), "outcometest.fails", n)
		o := engine.Outcome{Result: v, Err: here}
		if n == 0 {
			o = engine.Outcome{Failure: here}
		}
		fn, _ := engine.Lookup("outcometest.fails")
		b, _ := new(sharing).encodeOutcome("elsewhere", job.ID{}, fn.Name, o)
		_, err, panicked, bad := DecodeOutcome(job.RunID{}, b, fn)
		if bad != nil {
			t.Fatal(bad)
		}
		there := err
		if panicked != nil {
			there = panicked
		}
		if !errors.Is(here, errKnown) || !errors.Is(there, errKnown) || (panicked != nil) != (n == 0) {
			t.Errorf("here %v (%v), elsewhere %v (%v)", here, errors.Is(here, errKnown), there,
				errors.Is(there, errKnown))
		}
	}
}
