// Package integrate computes integrals by adaptive bisection: an interval whose integral is not yet known
// well enough is halved, until the sum of all errors is below a bound. It is the adaptive integration of the
// papers (CRS, section 3.1), with very small jobs, short messages, and a tree that no one knows beforehand.
package integrate

import (
	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("integrate.integrate", integrate, satin.Rounded(),
		satin.Small(apps.Instance[Interval](setup, "--epsilon", "1e-4", "chirp")))
}

// integrate spawns one half of an interval and does the other itself.
func integrate(f *satin.Frame, in Interval) Integral {
	if in.Leaf > 0 && in.Depth >= in.Leaf {
		return sequential(in)
	}
	left, right, both, accepted := in.halve()
	if accepted {
		return both
	}
	x := satin.Spawn(f, integrate, right)
	y := integrate(f, left)
	return y.plus(x.Get())
}
