package compute

import (
	"errors"
	"runtime"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// judge says what the application can tell of a single outcome of a job, from anywhere: see satin.Essence and
// satin.Certificate. Failures are compared as they are. The error says what is wrong with it.
func judge(j *steal.Job, outcome []byte, e *port.Event) error {
	f, arg, err := read(j.Function, j.Arg)
	if err != nil {
		return err
	}
	result, failed, panicked, bad := DecodeOutcome(job.RunID{}, outcome, f)
	switch {
	case bad != nil:
		return bad
	case !f.Judged() || failed != nil || panicked != nil:
		e.Good, e.Outcome = true, outcome
		return nil
	}
	essence, proven, err := f.Judge(arg, result)
	if errors.Is(err, engine.ErrNothing) {
		e.Shared.Changed = true
		return nil
	}
	if err != nil {
		return err
	}
	e.Good, e.Shared.Changed, e.Outcome = true, proven, outcome
	if proven {
		return nil
	}
	names, _ := port.NamedBy(outcome)
	var o Outcome
	if o.Value, err = wire.Outcomes().Encode(essence); err == nil {
		if e.Outcome, err = wire.Outcomes().Encode(&o); err == nil {
			e.Outcome, err = port.NameIn(e.Outcome, names)
		}
	}
	e.Good = err == nil
	return err
}

// Judged says whether judge has something to say of outcomes of a function.
func Judged(function string) bool {
	f, ok := engine.Lookup(function)
	return ok && f.Judged()
}

// Alike says whether outcomes of equal jobs that nothing is wrong with are the same, as far as they are compared: here,
// and where machines round as it says. Those of some jobs may honestly differ though those of their function do not, as
// where they read what others tell; for whom an argument is too large to be looked at, they may.
func Alike(function string, arg []byte, rounding string) bool {
	f, ok := engine.Lookup(function)
	ok = ok && (f.Alike == engine.Exact || f.Essence != nil || f.Alike == engine.Rounded && rounding == Rounding())
	if !ok || f.Unlike == nil {
		return ok
	}
	if len(arg) > MaxChecked {
		return false
	}
	_, v, err := read(function, arg)
	return err != nil || f.Differs(v) == ""
}

// Silent says that a function says of none of its jobs whether their outcomes may honestly differ.
func Silent(function string) bool {
	f, ok := engine.Lookup(function)
	return ok && f.Unlike == nil
}

// Comparison says whether outcomes of a run's jobs can be compared.
type Comparison struct {
	Not     string // why they cannot; empty if they can
	Rounded bool   // between machines that round alike
}

// Comparing says it of the run with such a root. The error is that of RootOf.
func Comparing(function string, arg []byte) (c Comparison, err error) {
	f, v, err := read(function, arg)
	if err != nil {
		return c, err
	}
	if c.Not = f.Differs(v); c.Not == "" && f.Alike == engine.Unknown && f.Essence == nil {
		c.Not = f.Name + " is registered without a way to compare them"
	}
	c.Rounded = f.Alike == engine.Rounded
	return c, nil
}

// Rounding says how this machine rounds: its processor's kind, and whether the compiler has fused multiplications
// with additions, which then round once.
func Rounding() string {
	if x := same(1 + 0x1p-30); x*x-(1+0x1p-29) != 0 {
		return runtime.GOARCH + "+fma"
	}
	return runtime.GOARCH
}

//go:noinline
func same(x float64) float64 { return x }
