package compute

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
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

// TestPassedOnErrorsTravel: what a job says of a child's error arrives, however many jobs pass it on, and is the same
// wherever these and the child ran; of several children that failed it is the first that is told of.
func TestPassedOnErrorsTravel(t *testing.T) {
	fn := engine.Func{Name: "f", Result: reflect.TypeFor[int](), MayFail: true}
	for _, peer := range []string{"", "elsewhere"} {
		child := &job.Error{ID: job.ID{Path: job.Path{3}}, Func: "g", Peer: peer, Err: errors.New("bad")}
		other := &job.Error{ID: job.ID{Path: job.Path{4}}, Func: "g", Peer: peer, Err: errors.New("worse")}
		passed := error(child)
		for _, on := range []string{"far", "further"} {
			passed = fmt.Errorf("line 7 (%w): %w", errKnown, passed)
			b, _ := new(sharing).encodeOutcome(on, job.ID{}, fn.Name, engine.Outcome{Result: 1, Err: passed})
			_, err, _, bad := DecodeOutcome(job.RunID{}, b, fn)
			if bad != nil || !errors.Is(err, errKnown) {
				t.Fatal(err, bad)
			}
			passed = err
		}
		je := passed.(*job.Error)
		if got := je.Err.Error(); got != "line 7 (known): line 7 (known): bad" || je.Func != "g" ||
			je.ID.Path.String() != "3" {
			t.Errorf("%v arrives as %v, %q", child, je, got)
		}
		b, _ := new(sharing).encodeOutcome("far", job.ID{}, fn.Name,
			engine.Outcome{Result: 1, Err: errors.Join(child, other)})
		if _, err, _, _ := DecodeOutcome(job.RunID{}, b, fn); err == nil || err.(*job.Error).Err.Error() != "bad" {
			t.Errorf("of two: %v", err)
		}
	}
}

// TestEmptyTexts: an error that says nothing is an error where its job ran elsewhere, too, and a panic with an empty
// text is a panic.
func TestEmptyTexts(t *testing.T) {
	fn := engine.Func{Name: "f", Result: reflect.TypeFor[int](), MayFail: true}
	mute := &job.Error{Func: "f", Err: errors.New("")}
	for _, here := range []*job.Error{mute, {Func: "f", Panic: "", Stack: []byte("main.go")}} {
		for _, o := range []engine.Outcome{{Result: 1, Err: here}, {Failure: here}} {
			b, _ := new(sharing).encodeOutcome("", job.ID{}, fn.Name, o)
			_, err, panicked, bad := DecodeOutcome(job.RunID{}, b, fn)
			if panicked != nil {
				err = panicked
			}
			if bad != nil || err == nil || err.Error() != here.Error() {
				t.Errorf("here %q, elsewhere %q, %v", here, err, bad)
			}
		}
	}
}

// TestLargeOutcomes: what is too large for a message is read as ever, and its hash is that of its reference, so
// that whoever computes it agrees with whoever was told of it. With an error it is an error that it is too large, since
// errors are compared without where they happened.
func TestLargeOutcomes(t *testing.T) {
	large := bytes.Repeat([]byte("large"), port.MaxOutcome/5+1)
	fn := engine.Func{Name: "f", Result: reflect.TypeFor[[]byte](), MayFail: true}
	b, returned := new(sharing).encodeOutcome("here", job.ID{}, fn.Name, engine.Outcome{Result: large})
	v, err, panicked, bad := DecodeOutcome(job.RunID{}, b, fn)
	if !returned || err != nil || panicked != nil || bad != nil || !bytes.Equal(v.([]byte), large) {
		t.Fatalf("%v, %v, %v, %v", returned, err, panicked, bad)
	}
	reference, _, err := port.Refer(b)
	if err != nil || Digest(reference) != Digest(b) {
		t.Errorf("an outcome and its reference differ: %v", err)
	}
	if b, returned = new(sharing).encodeOutcome("here", job.ID{}, fn.Name, engine.Outcome{Result: large,
		Err: errKnown}); returned || len(b) > port.MaxOutcome {
		t.Errorf("an error with %d bytes returns", len(b))
	}
}
