// Package satintest tests programs for satin on what no run of theirs is sure to show.
package satintest

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// T is what tests are told: a *testing.T, or what stands for one.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// AnyJoin demands that a program's result does not depend on what its jobs happen to hear of each other, and returns
// that result. It runs the sequential program, then again so that each Value of a lattice has joined some of the offers
// that were made so far and not others, in ways drawn from so many seeds, 0 and on (satin.RunPartial); a hundred are a
// good number. The results must be deeply equal, or their essences if fn was registered with one (satin.Essence).
// A program that is wrong in the same way each time passes: compare what AnyJoin returns with the right result.
//
// A failure names the seed, with which satin.RunPartial does the same again, and what jobs read last.
func AnyJoin[A, R any](t T, seeds int, fn func(*satin.Frame, A) R, arg A) R {
	t.Helper()
	want, err := satin.Run(context.Background(), nil, fn, arg)
	if err != nil {
		t.Fatalf("the sequential program: %v", err)
		return want
	}
	essence, err := essenceOf(fn, arg, want)
	if err != nil {
		t.Fatalf("the sequential program's result is wrong: %v", err)
		return want
	}
	for seed := range uint64(seeds) {
		var reads lastReads
		got, err := satin.RunPartial(context.Background(), seed, fn, arg, reads.note)
		var its any
		if err == nil {
			its, err = essenceOf(fn, arg, got)
		}
		if err != nil || !reflect.DeepEqual(its, essence) {
			t.Fatalf("with seed %d the result is %+v, error %v; want %+v\n%s", seed, got, err, want, &reads)
			return want
		}
	}
	return want
}

// essenceOf is what is compared of a result.
func essenceOf[A, R any](fn func(*satin.Frame, A) R, arg A, result R) (any, error) {
	key := *(*unsafe.Pointer)(unsafe.Pointer(&fn)) // as satin knows functions
	if d := engine.MustLookup(key); d.Essence != nil {
		return d.Essence(arg, result)
	}
	return result, nil
}

// lastReads are some of what jobs read from lattices.
type lastReads struct {
	last []satin.PartialRead
	all  int
}

const shownReads = 8

func (l *lastReads) note(r satin.PartialRead) {
	if l.all++; len(l.last) == shownReads {
		l.last = l.last[1:]
	}
	l.last = append(l.last, r)
}

// String has a line for each read; a large value is cut.
func (l *lastReads) String() string {
	s := fmt.Sprintf("lattices were read %d times, last:", l.all)
	for _, r := range l.last {
		v := fmt.Sprintf("%+v", r.Value)
		if len(v) > shownValue {
			v = v[:shownValue] + "..."
		}
		s += fmt.Sprintf("\n  job %v, %q with %d of %d offers: %s", r.Job, r.Lattice, r.Joined, r.Offered, v)
	}
	return s
}

const shownValue = 200 // bytes
