package compute

import (
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/port"
)

func init() {
	satin.RegisterLattice[string]("compute.hinted", hinted, nil, satin.Hints())
	satin.Register("compute.hint", hint)
	satin.Register("compute.hear", hear)
}

func hinted(a, b int) int { return max(a, b) }

func hint(f *satin.Frame, n int) satin.Lattice[string, int] {
	l := satin.ShareLattice(f, hinted, "hints", 1)
	l.Offer(f, n)
	return l
}

func hear(f *satin.Frame, l satin.Lattice[string, int]) int { return l.Value(f) }

// What is only a hint does not go with a job that leaves.
func TestHintsStay(t *testing.T) {
	a, b := newPlace(t), newPlace(t)
	arg, names := a.leave(submit(t, a.pool, "compute.hint", 7))
	if len(names.Needs) != 1 || names.Needs[0].Floor != nil {
		t.Errorf("the job names %+v", names.Needs)
	}
	b.bring(a.await(port.Made))
	b.run("compute.hear", arg)
	if got, err := b.result("compute.hear"); got != 1 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
