package main

import (
	"context"
	"testing"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/peer/control"
)

// A watching daemon knows of segments.
type watching struct{ control.Daemon }

func (watching) Watch(context.Context) ([]dashboard.Report, error) {
	return []dashboard.Report{{Run: "0123"}}, nil
}

// The page is given the reports of a peer in this process, also of one that may be told to leave; others have none.
func TestWatchesPeerInProcess(t *testing.T) {
	for name, c := range map[string]struct {
		daemon control.Daemon
		want   int
	}{"the peer": {watching{}, 1}, "one that may leave": {&departure{Daemon: watching{}}, 1},
		"another": {newFakeMember(), 0}} {
		if list, err := (shown{c.daemon}).Watch(t.Context()); err != nil || len(list) != c.want {
			t.Errorf("%s: %d reports, %v", name, len(list), err)
		}
	}
}
