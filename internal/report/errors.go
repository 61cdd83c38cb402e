package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Why a peer does not do what a command or the page asks of it. They pass the commands' socket, and become the
// statuses of replies to the page.
var (
	ErrBadInput = errors.New("bad input")
	ErrNotFound = errors.New("not found")
	ErrRefused  = errors.New("refused")
	// it may work later: a peer did not answer in time, the daemon is leaving
	ErrUnavailable = errors.New("unavailable")
)

// A Kind is how one sort of error is told to whoever has asked.
type Kind struct {
	Err    error // nil: any other one
	Name   string
	Status int // of HTTP
}

var kinds = []Kind{{ErrBadInput, "bad_input", 400}, {ErrNotFound, "not_found", 404}, {ErrRefused, "refused", 409},
	{ErrUnavailable, "unavailable", 503}, {nil, "failed", 500}}

// KindOf is the kind of an error.
func KindOf(err error) Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Err == nil || errors.Is(err, k.Err) })
	return kinds[i]
}

// KindNamed is the kind of a name, that of any other error if there is none of it.
func KindNamed(name string) Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Err == nil || k.Name == name })
	return kinds[i]
}

// Unread is the error of a request that could not be read as the struct that v points to. Where it has a field that is
// unknown it says which are not.
func Unread(err error, v any) error {
	var odd *json.UnmarshalTypeError
	switch {
	case err == io.EOF:
		return errors.New("it is empty: want a JSON object, {} where there is nothing to say")
	case errors.As(err, &odd):
		return fmt.Errorf("%s: got %s, want %s", cmp.Or(odd.Field, "all of it"), odd.Value, odd.Type.Kind())
	case !strings.HasPrefix(err.Error(), "json: unknown field "):
		return err
	}
	names := []string{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return fmt.Errorf("%w; known are: %s", err, cmp.Or(strings.Join(names, ", "), "none"))
}
