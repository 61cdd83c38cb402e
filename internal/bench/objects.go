package main

import (
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/peer/emulate"
)

const (
	offersARound = 20
	abortsARound = 5
	largeBytes   = 100 << 20
)

// largeLinks are those between the clusters to which a large constant goes, fast ones: how often it crosses does not
// depend on how long that takes, and this machine has to move the copies inside the clusters, too.
var largeLinks = wan.Conditions{Bandwidth: 25e6, Latency: 10 * time.Millisecond}

// sharing measures how soon 8 processes on this machine hear of an offer, and of an abort behind a long leaf.
func sharing(w *workshop, rounds int) ([]table, error) {
	files, err := w.build("wide", "off", 1)
	if err != nil {
		return nil, err
	}
	var all, missed, aborts []float64
	copies := &crossed{}
	for round := range max(1, rounds/recoveryRoundShare) {
		progress("objects: round %d", round+1)
		if err := shareOnce(w, files[0], round, &all, &missed, &aborts); err != nil {
			return nil, err
		}
		progress("objects: round %d, a large constant", round+1)
		if err := copies.round(w, files[0]); err != nil {
			return nil, err
		}
	}
	progress("objects: a look at a lattice")
	looks, err := valueCosts(rounds)
	if err != nil {
		return nil, err
	}
	progress("")
	return []table{{title: "What jobs share, and speculation, in 8 processes", notes: []string{
		fmt.Sprintf("%d processes with one worker each on loopback, in one cluster. A job offers a new value to a lattice %d times a round; "+
			"jobs in the other processes look for it all the time. A second figure is how many offers one of them saw only after the next.",
			model.Peers, offersARound),
		"Abort: a job of the owner is stolen, its own job is stolen by a third, and the first is in a leaf that looks at nothing for 400 ms when the owner aborts it.",
		fmt.Sprintf("Constant: %d MiB, shared by a job in one of %d emulated clusters of %d processes, and read by "+
			"jobs in all processes. The links between clusters have %.0f MB/s and %v one way. Copies are all bytes "+
			"of frames that crossed a link, over the size.", largeBytes>>20, model.Clusters, model.PerCluster,
			largeLinks.Bandwidth/1e6, largeLinks.Latency),
		"Value: `go test . -bench LatticeValue`, a look at a lattice in a loop of one worker, with the loop.",
	}, figures: []figure{
		{name: "offer to the last of 7 others", form: "%.2f ms", values: all, atMost: 20},
		{name: "  99th percentile", form: "%.2f ms", values: percentile(all, 0.99)},
		{name: "  seen too late to tell, a round", form: "%.0f", values: missed},
		{name: "abort over two hops, behind a long leaf", form: "%.2f ms", values: aborts, atMost: 5},
		{name: "copies of the constant over a link, the most", form: "%.3f", values: copies.link, atMost: 1.1},
		{name: "  into a cluster, over all links, the most", form: "%.3f", values: copies.into, atMost: 1.1},
		{name: "  until the last process had it", form: "%.1f s", values: copies.last},
		{name: "Value of a lattice", form: "%.2f ns", values: looks, atMost: 2},
	}}}, nil
}

// valueCosts is what a look at a lattice costs, in ns, so often.
func valueCosts(rounds int) (costs []float64, err error) {
	out, err := exec.Command("go", "test", "-C", "../..", "-vet=off", "-run", "^$", "-bench", "^BenchmarkLatticeValue$",
		"-count", fmt.Sprint(rounds), ".").Output()
	if err != nil {
		return nil, fmt.Errorf("go test -bench LatticeValue: %w\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		var name string
		var times, ns float64
		if n, _ := fmt.Sscanf(line, "%s %f %f ns/op", &name, &times, &ns); n == 3 {
			costs = append(costs, ns)
		}
	}
	if len(costs) != rounds {
		return nil, fmt.Errorf("go test -bench LatticeValue gave %d figures of %d:\n%s", len(costs), rounds, out)
	}
	return costs, nil
}

// crossed are the copies of a large constant that crossed links, the most of any, and the seconds it took, by round.
type crossed struct{ link, into, last []float64 }

// round has a new swarm share a constant.
func (c *crossed) round(w *workshop, binary string) error {
	s, err := newWideSwarm(w, binary, "adaptive", scenarioFile(largeLinks))
	defer func() {
		for _, p := range s.programs() {
			p.Close()
		}
	}()
	if err != nil {
		return err
	}
	a, err := s.peers[0].Ask(2*patience, "large", largeBytes)
	if err != nil {
		return err
	}
	ns, err := a.Float("last")
	if err != nil || a["processes"] != fmt.Sprint(model.Peers) && a["processes"] != fmt.Sprint(model.Peers-1) {
		return fmt.Errorf("a constant was read by %s processes of %d: %w", a["processes"], model.Peers, err)
	}
	links, err := emulate.Open(s.network, "1", nil)
	if err != nil {
		return err
	}
	defer links.Close()
	link, into := 0.0, 0.0
	for to := 1; to <= model.Clusters; to++ {
		sum := 0.0
		for from := 1; from <= model.Clusters; from++ {
			bytes, _ := links.Carried(fmt.Sprint(from), fmt.Sprint(to))
			sum += float64(bytes) / largeBytes
			link = max(link, float64(bytes)/largeBytes)
		}
		into = max(into, sum)
	}
	c.link, c.into, c.last = append(c.link, link), append(c.into, into), append(c.last, ns/1e9)
	return nil
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
