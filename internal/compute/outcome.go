package compute

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
)

// Outcome is what came of a job, on its way home: a value and perhaps the error that its function returned
// with it, or a panic.
type Outcome struct {
	Value []byte   `cbor:"1,keyasint,omitempty"` // encoded
	Error *Failure `cbor:"2,keyasint,omitempty"` // returned
	Panic *Failure `cbor:"3,keyasint,omitempty"` // then there is nothing else
}

// Failure is a *job.Error without what cannot travel: of an error or a panic's value the text is left, and the names
// of the registered errors in it.
type Failure struct {
	Path  job.Path `cbor:"1,keyasint,omitempty"` // of the job that failed first
	Func  string   `cbor:"2,keyasint,omitempty"`
	Peer  string   `cbor:"3,keyasint,omitempty"` // where it ran
	Error string   `cbor:"4,keyasint,omitempty"` // the text of an error that it returned,
	Panic string   `cbor:"5,keyasint,omitempty"` // or of what it panicked with
	Stack []byte   `cbor:"6,keyasint,omitempty"`
	Is    []string `cbor:"7,keyasint,omitempty"` // see satin.RegisterError
}

const (
	maxFailureName  = 256
	maxFailureText  = 16 << 10
	maxFailureStack = 32 << 10
)

// encodeOutcome encodes what the pool says came of job id, which ran on peer self. A value that cannot be encoded
// becomes the job's panic, because its spawner has to learn of it.
func (s *sharing) encodeOutcome(self string, id job.ID, fn string, o engine.Outcome) (outcome []byte, returned bool) {
	if o.Failure != nil {
		return encodePanic(self, id, fn, o.Failure), false
	}
	b, bad := s.encodeReturned(self, id, fn, o.Result, o.Err)
	if bad != nil {
		return encodePanic(self, id, fn, &job.Error{ID: id, Func: fn,
			Panic: fmt.Errorf("its result cannot travel: %w", bad)}), false
	}
	return b, true
}

// encodeReturned encodes what a job returned, and tells of what it names. The error says that the value is too large,
// sooner if it goes with an error, or names what cannot be shared.
func (s *sharing) encodeReturned(self string, id job.ID, fn string, result any, err error) ([]byte, error) {
	var o Outcome
	codec := wire.Outcomes()
	if err != nil {
		o.Error, codec = describe(self, id, fn, err), wire.Value()
	}
	names, bad := s.tellOf(result)
	if bad != nil {
		return nil, bad
	}
	if o.Value, bad = codec.Encode(result); bad != nil {
		return nil, bad
	}
	b, bad := codec.Encode(&o)
	if bad != nil {
		return nil, bad
	}
	return port.NameIn(b, names)
}

// Panicked says whether an outcome is that of a job that did not return.
func Panicked(outcome []byte) bool {
	o, err := readOutcome(outcome)
	return err == nil && o.Panic != nil
}

// Killed is the outcome of a job that ended the process that ran it, on peer self.
func Killed(self string, id job.ID, text string) []byte {
	return encodePanic(self, id, "", &job.Error{ID: id, Panic: text})
}

func encodePanic(self string, id job.ID, fn string, err error) []byte {
	b, bad := wire.Value().Encode(&Outcome{Panic: describe(self, id, fn, err)})
	if bad != nil {
		panic(bad) // texts of bounded length
	}
	return b
}

// describe makes of a job's failure what can travel. The job that failed first keeps its name, wherever it ran, and
// those that passed its error on what they have said of it.
func describe(self string, id job.ID, fn string, err error) *Failure {
	je := (*job.Error)(nil)
	if !errors.As(err, &je) {
		je = &job.Error{ID: id, Func: fn, Err: err}
	}
	f := &Failure{
		Path: je.ID.Path, Func: clip(je.Func, maxFailureName), Peer: clip(je.Peer, maxFailureName),
		Stack: je.Stack[:min(len(je.Stack), maxFailureStack)],
	}
	for _, name := range engine.ErrorNames(err) {
		f.Is = append(f.Is, clip(name, maxFailureName))
	}
	if f.Peer == "" {
		f.Peer = self
	}
	if je.Err != nil {
		f.Error = clip(around(err, je, fmt.Sprint(je.Err)), maxFailureText)
	} else {
		f.Panic = clip(around(err, je, fmt.Sprint(je.Panic)), maxFailureText)
	}
	return f
}

// around is what an error says that leads to je, with text in place of je's: which job it was, and on which peer, goes
// beside it, and may not be in what peers compare. If it tells of another job, too, that is left out.
func around(err error, je *job.Error, text string) string {
	if err == error(je) {
		return text
	}
	said := strings.ReplaceAll(fmt.Sprint(err), je.Error(), text)
	if strings.Contains(said, job.ErrorPrefix) {
		return text
	}
	return said
}

// clip cuts s to n bytes and makes it valid UTF-8, which the encoding demands.
func clip(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "?") }

// jobError is what the spawner in this process gets to see.
func (f *Failure) jobError(run job.RunID) *job.Error {
	je := &job.Error{ID: job.ID{Run: run, Path: f.Path}, Func: f.Func, Peer: f.Peer, Stack: f.Stack}
	switch {
	case f.Error != "", f.Panic == "" && len(f.Stack) == 0: // an error may say nothing, and has no stack
		je.Err = engine.ErrorOf(f.Error, f.Is)
	case len(f.Is) > 0:
		je.Panic = engine.ErrorOf(f.Panic, f.Is)
	default:
		je.Panic = f.Panic
	}
	return je
}

// DecodeOutcome reads what came of a job of function fn: its result with the error it returned, if its
// function may, or its panic as a *job.Error. bad says that no correct peer would send these bytes;
// nothing else is valid then.
func DecodeOutcome(run job.RunID, b []byte, fn engine.Func) (result any, err error, panicked *job.Error,
	bad error) {
	value, err, panicked, bad := OpenOutcome(run, b, fn)
	if bad != nil || panicked != nil {
		return nil, nil, panicked, bad
	}
	if result, bad = decodeValue(value, fn.Result); bad != nil {
		return nil, nil, nil, bad
	}
	return result, err, nil, nil
}

// OpenOutcome is DecodeOutcome that leaves the result encoded: an empty list in a list takes a byte there, and 24 of
// memory. So whoever has no limit for that, as a daemon, leaves it to whoever wants to know, by ResultOf.
func OpenOutcome(run job.RunID, b []byte, fn engine.Func) (value []byte, err error, panicked *job.Error,
	bad error) {
	o, bad := readOutcome(b)
	if bad != nil {
		return nil, nil, nil, bad
	}
	switch {
	case o.Panic != nil:
		if o.Value != nil || o.Error != nil {
			return nil, nil, nil, errors.New("an outcome that is a panic and something else")
		}
		return nil, nil, o.Panic.jobError(run), nil
	case o.Error != nil:
		if !fn.MayFail {
			return nil, nil, nil, fmt.Errorf("an error from %s, which returns none", fn.Name)
		}
		err = o.Error.jobError(run)
	}
	return o.Value, err, nil, nil
}

func readOutcome(b []byte) (o Outcome, err error) {
	_, b = port.NamedBy(b)
	return o, wire.Outcomes().Decode(b, &o)
}

// ResultOf makes the result of such a value of a registered function; false if there is no such function.
func ResultOf(fn string, value []byte) (result any, known bool, err error) {
	f, ok := engine.Lookup(fn)
	if !ok {
		return nil, false, nil
	}
	result, err = decodeValue(value, f.Result)
	return result, true, err
}

// decodeValue makes a value of type t from its encoding.
func decodeValue(b []byte, t reflect.Type) (any, error) {
	v := reflect.New(t)
	if err := wire.Shared().Decode(b, v.Interface()); err != nil {
		return nil, err
	}
	return v.Elem().Interface(), nil
}
