package engine

import (
	"errors"
	"fmt"
	"reflect"
)

// Errors that keep their identity on the way
//
// Of an error that a job returns, or panics with, only the text can travel. What a program asks of an error is mostly
// whether it is one of a few that it knows by name. So those have names in the table of what is registered: the
// names of all that errors.Is finds in an error go along with its text, and where it arrives an error is made that
// wraps the ones of these names again.

// maxErrorNames bounds how many names one error takes along.
const maxErrorNames = 8

// RegisterError gives an error a name. It panics if that cannot be, or if name or error are registered already.
func RegisterError(name string, err error) {
	switch {
	case err == nil:
		panic(fmt.Sprintf("satin: RegisterError(%q): the error is nil", name))
	case name == "":
		panic(fmt.Sprintf("satin: RegisterError of %q: the name is empty", err))
	case !reflect.TypeOf(err).Comparable():
		panic(fmt.Sprintf("satin: RegisterError(%q): errors of type %T cannot be compared", name, err))
	}
	registerMu.Lock()
	defer registerMu.Unlock()
	next := registered.Load().clone()
	for _, s := range next.sentinels {
		if s.name == name || s.err == err {
			panic(fmt.Sprintf("satin: RegisterError(%q): %q is registered already as %q", name, s.err, s.name))
		}
	}
	next.sentinels = append(next.sentinels, sentinel{name, err})
	registered.Store(next)
}

// A sentinel is a registered error.
type sentinel struct {
	name string
	err  error
}

// ErrorNames gives the names of the registered errors that err is or wraps, at most eight. One whose own Is or Unwrap
// panics has those that were found until then.
func ErrorNames(err error) (names []string) {
	if err == nil {
		return nil
	}
	_ = panicOf(func() {
		for _, s := range sentinels() {
			if len(names) < maxErrorNames && errors.Is(err, s.err) {
				names = append(names, s.name)
			}
		}
	})
	return names
}

// A travelled error has a text and wraps the registered errors that the original did.
type travelled struct {
	text string
	is   []error
}

func (e *travelled) Error() string   { return e.text }
func (e *travelled) Unwrap() []error { return e.is }

// ErrorOf makes an error with the given text that wraps the registered errors of these names; names that nobody
// registered here are passed over.
func ErrorOf(text string, names []string) error {
	e := &travelled{text: text}
	all := sentinels()
	for _, name := range names[:min(len(names), maxErrorNames)] {
		for _, s := range all {
			if s.name == name {
				e.is = append(e.is, s.err)
			}
		}
	}
	return e
}

func sentinels() []sentinel {
	if t := registered.Load(); t != nil {
		return t.sentinels
	}
	return nil
}
