package main

import "testing"

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
