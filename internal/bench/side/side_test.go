package main

import (
	"os"
	"testing"

	"github.com/satin-peer/satin/internal/compute/child"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == computes {
		os.Exit(child.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// Work can be started and ended, in a process of jobs and here.
func TestBusy(t *testing.T) {
	s := &side{}
	for _, word := range []string{"apart", "here", "off"} {
		if _, err := s.busy([]string{word}); err != nil || (s.resting == nil) != (word == "off") {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := s.busy([]string{"very"}); err == nil {
		t.Error("very busy is no question")
	}
}

// Every kind of connection carries steals.
func TestTrips(t *testing.T) {
	victim, thief := &side{peers: map[string]*peerSide{}}, &side{peers: map[string]*peerSide{}}
	for _, kind := range []string{"bare", "tcp", "quic"} {
		at, err := victim.serve([]string{kind})
		if err != nil {
			t.Fatal(err)
		}
		kinds := []string{kind}
		if kind != "bare" {
			kinds = append(kinds, "plain-"+kind)
		}
		for _, k := range kinds {
			for _, pause := range []string{"0", "10"} {
				if a, err := thief.trips([]string{k, at["address"], "20", pause}); err != nil || a["count"] != "20" {
					t.Errorf("%s: %v, %v", k, a, err)
				}
			}
		}
	}
	for _, words := range [][]string{nil, {"none"}, {"tcp", "x"}} {
		if _, err := victim.serve(words); err == nil {
			t.Errorf("%q is no question", words)
		}
	}
}
