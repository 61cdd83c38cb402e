package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/peer/emulate"
	"github.com/satin-peer/satin/steal"
)

// slow joins an emulated network of two clusters, a and b. Everybody else is in the other one.
func (s *side) slow(words []string) (ask.Answer, error) {
	if len(words) != 2 {
		return nil, fmt.Errorf("want DIR and CLUSTER")
	}
	other := map[string]string{"a": "b", "b": "a"}[words[1]]
	e, err := emulate.Open(words[0], words[1], func(steal.PeerID) string { return other })
	if err != nil {
		return nil, err
	}
	s.peers["slow"], err = newPeerSide("slow", e)
	return ask.Answer{}, err
}

// behind measures steals at random moments, some 100 ms apart: a score of them, or as many as there is time
// for until a long result has come.
func (s *side) behind(words []string) (ask.Answer, error) {
	p := s.peers["slow"]
	if len(words) != 2 || p == nil {
		return nil, fmt.Errorf("want ADDRESS and SIZE, after slow")
	}
	size, err := strconv.Atoi(words[1])
	if err != nil || size < 0 {
		return nil, fmt.Errorf("SIZE is %q", words[1])
	}
	victim, err := p.victim(words[0])
	if err != nil {
		return nil, err
	}
	const score, pause = 20, 100 * time.Millisecond
	if _, err := p.spacedTrips(victim, 1, pause); err != nil { // opens the streams
		return nil, err
	}
	began := time.Now()
	var trips []time.Duration
	if size > 0 {
		p.transport.Send(&steal.Message{From: p.self, To: steal.Address{Peer: victim, Inc: 1},
			Hunger: &steal.Hunger{Seq: 1, Queued: size}})
		time.Sleep(time.Second) // until it is under way
	}
	for came := false; !came && (size > 0 || len(trips) < score); {
		some, err := p.spacedTrips(victim, 1, pause)
		if err != nil {
			return nil, err
		}
		trips = append(trips, some...)
		select {
		case <-p.results:
			came = true
		default:
		}
	}
	a := ask.Quantiles(trips)
	a["seconds"] = fmt.Sprint(time.Since(began).Seconds())
	return a, nil
}
