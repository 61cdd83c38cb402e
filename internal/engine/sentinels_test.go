package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

var errOdd, errEven, errUnknown = errors.New("odd"), errors.New("even"), errors.New("unknown")

type listError []int

func (listError) Error() string { return "a list" }

func init() {
	satin.RegisterError("test.odd", errOdd)
	satin.RegisterError("test.even", errEven)
}

// TestErrorsKeepTheirIdentity: errors.Is finds in an error that travelled what it finds in the original, and
// its text is the original's.
func TestErrorsKeepTheirIdentity(t *testing.T) {
	both := fmt.Errorf("%w and %w", errOdd, errEven)
	for _, err := range []error{errOdd, fmt.Errorf("deep: %w", errEven), both, errUnknown,
		&satin.JobError{Err: fmt.Errorf("in a job: %w", errOdd)}, &satin.JobError{Panic: errEven}} {
		got := engine.ErrorOf(err.Error(), engine.ErrorNames(err))
		if got.Error() != err.Error() {
			t.Errorf("%q became %q", err, got)
		}
		for _, sentinel := range []error{errOdd, errEven} {
			if errors.Is(got, sentinel) != errors.Is(err, sentinel) {
				t.Errorf("%q: whether it is %q depends on where the job ran", err, sentinel)
			}
		}
	}
	if got := engine.ErrorOf("x", []string{"test.gone", "test.odd"}); !errors.Is(got, errOdd) {
		t.Error("a name that nobody knows hides another one")
	}
	many := make([]string, 1000)
	if got := engine.ErrorOf("x", append(many, "test.odd")); errors.Is(got, errOdd) {
		t.Error("a thousand names were read")
	}
	if names := engine.ErrorNames(nil); names != nil {
		t.Error(names)
	}
}

// What cannot be told apart when it has travelled is refused when it is registered: no error, no name, or one
// used twice.
func TestRegisterErrorRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"test.nil", nil, "is nil"},
		{"", errUnknown, "name is empty"},
		{"test.odd", errUnknown, "registered already"},
		{"test.again", errOdd, "registered already as \"test.odd\""},
		{"test.list", listError{}, "cannot be compared"},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, c.want) {
					t.Errorf("RegisterError(%q, %v): %s; want %q", c.name, c.err, text, c.want)
				}
			}()
			satin.RegisterError(c.name, c.err)
		}()
	}
}
