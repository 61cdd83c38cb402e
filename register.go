package satin

import (
	"reflect"

	"github.com/satin-peer/satin/internal/engine"
)

// Register makes fn a job function under a name that is the same in every process of a swarm, by custom
// "application.function". Call it in an init function.
//
// fn must be a top-level function: closures, method values and instances of generic functions cannot travel. Its
// argument and result must be types whose values arrive at another machine as they left: numbers, booleans, strings,
// times, and arrays, slices, maps, pointers and structs of these, but for pointers to what may be nil and keys with
// pointers or times in them. A struct must not have fields that would be lost on the way, as unexported ones, unless it
// is an encoding.BinaryMarshaler and encoding.BinaryUnmarshaler; what is one, a handle among them, is not embedded
// besides other fields. Interfaces, functions, channels, complex numbers and unsafe pointers are refused.
//
// Few values of such types do not leave: a job with such an argument is run where it was spawned, and such a result of
// one that ran elsewhere, or of the root, is its panic. They are those whose lists, maps and structs are more than 64
// levels deep in each other, a circle of pointers among them; and times before the year 0 or after 9999, or whose zone
// is not whole minutes from UTC. A time arrives without the name of its zone and its reading of the monotonic clock,
// and all NaNs as one.
//
// Options say more of fn than its types do: what an argument must be, and how a result that a stranger has computed can
// be told from a wrong one. See Option.
//
// Register panics, with a message that names the function and what is wrong, if fn breaks these rules or if the name
// or the function is registered already: a program that starts has only jobs that can leave.
func Register[A, R any](name string, fn func(*Frame, A) R, options ...Option) {
	d := engine.Describe(name, funcKey(fn), reflect.TypeFor[A](), reflect.TypeFor[R](), false)
	describe(d, options)
	d.Enter(&typed[A, R]{d, fn})
}

// RegisterErr is Register for a function that may return an error, for SpawnErr and ForkErr.
func RegisterErr[A, R any](name string, fn func(*Frame, A) (R, error), options ...Option) {
	d := engine.Describe(name, funcKey(fn), reflect.TypeFor[A](), reflect.TypeFor[R](), true)
	describe(d, options)
	d.Enter(&typedErr[A, R]{typed[A, outcome[R]]{d, func(f *Frame, a A) outcome[R] {
		res, err := fn(f, a)
		if err != nil {
			err = f.worker().Name(d, err)
		}
		return outcome[R]{res, err}
	}}})
}

// RegisterError makes err keep its identity when a job returns it, or panics with it, on another machine: of
// any other error only the text travels, and errors.Is finds in it what it would find had the job run here
// only for errors that are registered. The name, by custom "application.error", is the same in every process
// of a swarm. Call it in an init function, for the package-level errors that a job may return:
//
//	var errNoModel = errors.New("no model")
//
//	func init() { satin.RegisterError("sat.noModel", errNoModel) }
//
// It panics if err is nil or cannot be compared, or if the name or the error is registered already.
func RegisterError(name string, err error) { engine.RegisterError(name, err) }
