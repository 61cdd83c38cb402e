package main

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/bench/wide/model"
)

const (
	offersARound = 20
	abortsARound = 5
)

// sharing measures how soon 8 processes on this machine hear of an offer, and of an abort behind a long leaf.
func sharing(w *workshop, rounds int) ([]table, error) {
	files, err := w.build("wide", "off", 1)
	if err != nil {
		return nil, err
	}
	var all, missed, aborts []float64
	for round := range max(1, rounds/recoveryRoundShare) {
		progress("objects: round %d", round+1)
		if err := shareOnce(w, files[0], round, &all, &missed, &aborts); err != nil {
			return nil, err
		}
	}
	progress("")
	return []table{{title: "What jobs share, and speculation, in 8 processes", notes: []string{
		fmt.Sprintf("%d processes with one worker each on loopback, in one cluster. A job offers a new value to a lattice %d times a round; "+
			"jobs in the other processes look for it all the time. A second figure is how many offers one of them saw only after the next.",
			model.Peers, offersARound),
		"Abort: a job of the owner is stolen, its own job is stolen by a third, and the first is in a leaf that looks at nothing for 400 ms when the owner aborts it.",
		"Not measured here: a constant of 100 MB to four emulated clusters; tsp, sat and knapsack beside the programs before lattices; 10 hosts of which some are killed.",
	}, figures: []figure{
		{name: "offer to the last of 7 others", form: "%.2f ms", values: all, atMost: 20},
		{name: "  99th percentile", form: "%.2f ms", values: percentile(all, 0.99)},
		{name: "  seen too late to tell, a round", form: "%.0f", values: missed},
		{name: "abort over two hops, behind a long leaf", form: "%.2f ms", values: aborts, atMost: 5},
	}}}, nil
}

// shareOnce is one round, in a new swarm.
func shareOnce(w *workshop, binary string, round int, all, missed, aborts *[]float64) error {
	s, err := startSleepers(w, binary, round, 0)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return err
	}
	if err := s.gather(); err != nil {
		return err
	}
	a, err := s.peers[0].Ask(2*patience, "offers", model.Peers-1, offersARound)
	if err != nil {
		return err
	}
	late := 0.0
	for i := range offersARound {
		ns, err := a.Float(fmt.Sprint("offer", i))
		if err != nil {
			return err
		}
		if ns == 0 {
			late++
			continue
		}
		*all = append(*all, ns/float64(time.Millisecond))
	}
	*missed = append(*missed, late)
	for range abortsARound {
		a, err := s.peers[0].Ask(2*patience, "abort")
		if err != nil {
			return err
		}
		ns, err := a.Float("after")
		if err != nil {
			return err
		}
		*aborts = append(*aborts, ns/float64(time.Millisecond))
	}
	return nil
}
