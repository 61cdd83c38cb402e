package compute

import (
	"errors"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// A moody value has code of its own for its encoding, which may panic, as that of an empty one does when it is read.
type moody byte

func (m moody) MarshalBinary() ([]byte, error) {
	if m == 13 {
		panic("thirteen")
	}
	return []byte{byte(m)}, nil
}

func (m *moody) UnmarshalBinary(b []byte) error {
	*m = moody(b[0])
	return nil
}

func beMoody(_ *satin.Frame, m moody) (moody, error) {
	if m == 7 {
		return m, (*moodyError)(nil)
	}
	return m, nil
}

// moodyError is mostly a nil pointer.
type moodyError struct{ text string }

func (e *moodyError) Error() string   { return e.text }
func (e *moodyError) Is(o error) bool { return o.Error() == e.text }

// A concealed handle is not found where it is.
type concealed struct{ c satin.Constant[int] }

func (c concealed) MarshalBinary() ([]byte, error)  { return c.c.MarshalBinary() }
func (c *concealed) UnmarshalBinary(b []byte) error { return c.c.UnmarshalBinary(b) }

type outermost struct{ In satin.Constant[int] }

// A waiting write is encoded in a job that has become another one's to end.
type waiting struct{ wait func() }

var (
	begun  chan bool
	passed chan any // what has passed through it
)

func (w waiting) MarshalBinary() ([]byte, error) {
	for close(begun); ; {
		w.wait()
	}
}

func (*waiting) UnmarshalBinary([]byte) error { return nil }

func settled(n int, _ waiting) int { return n }

func writeWaiting(f *satin.Frame, n int) int {
	defer func() {
		v := recover()
		passed <- v
		panic(v)
	}()
	wait := func() { satin.Spawn(f, double, 1).Get() }
	return satin.Share(f, settled, n).Write(f, waiting{wait}).Read(f)
}

func init() {
	satin.RegisterErr("compute.beMoody", beMoody, satin.Exact(), satin.Unlike(func(m moody) string {
		if m == 2 {
			panic("two")
		}
		return ""
	}))
	satin.RegisterObject("compute.settled", settled)
	satin.Register("compute.writeWaiting", writeWaiting)
}

// What an application's own code for an encoding, or of an error, panics with is told, as a failure of the job whose
// value it is, and ends nothing else.
func TestMoodyValues(t *testing.T) {
	fn, _ := engine.Lookup("compute.beMoody")
	for m, want := range map[moody]string{1: "", 7: "<nil>",
		13: "panicked: its result cannot travel: encoding: it panicked: thirteen"} {
		var p *engine.Pool
		v, err := p.Run(t.Context(), fn.Name, m)
		b, returned := new(sharing).encodeOutcome("me", job.ID{}, fn.Name, engine.Outcome{Result: v, Err: err})
		got, failed, panicked, bad := DecodeOutcome(job.RunID{}, b, fn)
		if bad != nil || returned != (panicked == nil) {
			t.Fatalf("%d: %v, returned %v", m, bad, returned)
		}
		if panicked != nil {
			failed = panicked
		} else if got != m {
			t.Errorf("%d arrives as %v", m, got)
		}
		if (failed == nil) != (want == "") || failed != nil && !strings.HasSuffix(failed.Error(), want) {
			t.Errorf("%d: %v, want %q", m, failed, want)
		}
	}
	if _, err := ArgumentOf(fn.Name, []byte{0x40}); !errors.Is(err, wire.ErrEncoding) ||
		!strings.Contains(err.Error(), "it panicked: ") {
		t.Errorf("an argument: %v", err)
	}
	for m, want := range map[moody]string{1: "", 2: "it cannot be told: two"} {
		arg, err := wire.Value().Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Comparing(fn.Name, arg)
		if alike := Alike(fn.Name, arg, ""); err != nil || c.Not != want || alike != (want == "") {
			t.Errorf("results for %d cannot be compared: %q, alike %v, %v", m, c.Not, alike, err)
		}
	}
}

// A handle that cannot be told of is a reason for what names it to stay.
func TestHandlesThatCannotLeave(t *testing.T) {
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	one := satin.NewConstant(1)
	if _, err := e.sharing.names(engine.Job{Func: "compute.hold", Arg: one}); err != nil {
		t.Error(err)
	}
	for what, v := range map[string]any{"concealed": concealed{one}, // both of which Register refuses
		"in a constant": satin.NewConstant(outermost{one})} {
		_, stays := e.sharing.names(engine.Job{Func: "compute.hold", Arg: v})
		if _, bad := e.sharing.tellOf(v); bad == nil || stays == nil {
			t.Errorf("%s: a job: %v, a result: %v", what, stays, bad)
		}
	}
}

// An abort unwinds a job whatever it is at: it is no failure of what is encoded meanwhile.
func TestAbortsPassEncodings(t *testing.T) {
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	arg, err := wire.Value().Encode(1)
	if err != nil {
		t.Fatal(err)
	}
	begun, passed = make(chan bool), make(chan any, 1)
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &steal.Job{Function: "compute.writeWaiting", Arg: arg}})
	<-begun
	e.Do(&port.Order{Kind: port.Abort, Segment: 1})
	if v, unwinds := (<-passed).(wire.Unwinding); !unwinds {
		t.Errorf("the job goes on with %v", v)
	}
}
