package control

import (
	"errors"
	"net/http"
)

// A kind is how one sort of error passes the socket.
type kind struct {
	err    error
	name   string
	status int
}

var kinds = []kind{
	{ErrBadInput, "bad_input", http.StatusBadRequest},
	{ErrNotFound, "not_found", http.StatusNotFound},
	{ErrRefused, "refused", http.StatusConflict},
	{ErrUnavailable, "unavailable", http.StatusServiceUnavailable},
}

// failureKind is any other error.
var failureKind = kind{nil, "failed", http.StatusInternalServerError}

func kindOf(err error) kind {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k
		}
	}
	return failureKind
}

func kindNamed(name string) kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return failureKind
}
