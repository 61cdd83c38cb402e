package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing/fstest"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/peer/emulate"
)

// A wideSwarm is the processes of package wide under one policy; the first owns the runs.
type wideSwarm struct {
	policy  string
	network string // the directory of the emulated one
	peers   []*ask.Program
}

// runCells runs every cell under all policies, round after round.
func runCells(w *workshop, binary string, cells []*wideCell, rounds int, notes *wideRuns) (err error) {
	swarms := make([]*wideSwarm, len(widePolicies))
	defer func() {
		for _, s := range swarms {
			for _, p := range s.programs() {
				p.Close()
			}
		}
	}()
	for i, policy := range widePolicies {
		progress("wide: starting the processes for %s", policy)
		if swarms[i], err = newWideSwarm(w, binary, policy, scenarioFile(model.Between(cells[0].trip))); err != nil {
			return err
		}
	}
	for round := range rounds {
		for _, c := range cells {
			progress("wide: %s over %v, round %d of %d", c.app, c.trip, round+1, rounds)
			if err := c.run(swarms, round, notes); err != nil {
				return fmt.Errorf("%s over %v: %w", c.app, c.trip, err)
			}
		}
	}
	return nil
}

// scenarioFile describes the network for the emulator.
func scenarioFile(between wan.Conditions) string {
	return fmt.Sprintf("clusters%s\nset all %g %g\n", strings.Repeat(fmt.Sprintf(" %d", model.PerCluster),
		model.Clusters), between.Bandwidth, between.Latency.Seconds())
}

// newWideSwarm starts the processes and waits until all know each other.
func newWideSwarm(w *workshop, binary, policy, scenario string) (*wideSwarm, error) {
	dir, err := os.MkdirTemp(w.dir, "wide-")
	if err != nil {
		return nil, err
	}
	name, network := filepath.Base(dir), filepath.Join(dir, "network")
	files := fstest.MapFS{"table1": {Data: []byte(scenario)}}
	if err := emulate.Create(network, files, "table1", nil, 1); err != nil {
		return nil, err
	}
	s := &wideSwarm{policy: policy, network: network}
	s.peers, err = startPeers(name, binary, dir, func(i int) any { return 1 + i/model.PerCluster }, policy, network,
		0, 0)
	if err == nil {
		err = s.gather()
	}
	return s, err
}

func (s *wideSwarm) programs() []*ask.Program {
	if s == nil {
		return nil
	}
	return s.peers
}

// gather waits until every peer knows every other and no run is in progress.
func (s *wideSwarm) gather() error {
	return gather(s.peers, ask.Answer{"members": fmt.Sprint(model.Peers), "clusters": fmt.Sprint(model.Clusters),
		"runs": "0"})
}

// run has all swarms run the round's tree at the same time.
func (c *wideCell) run(swarms []*wideSwarm, round int, notes *wideRuns) error {
	tree, err := model.NewTree(c.app, round+1)
	if err != nil {
		return err
	}
	sum, leaves, err := model.Sequential(tree)
	if err != nil {
		return err
	}
	began, busy := time.Now(), busyTime()
	ran, err := atOnce(len(swarms), func(i int) (wideRun, error) { return swarms[i].run(tree, sum, leaves) })
	if err != nil {
		return err
	}
	span := time.Since(began)
	own := time.Duration(0)
	for i, s := range swarms {
		r := &ran[i]
		c.real[s.policy] = append(c.real[s.policy], efficiencyOf(r.took))
		c.steals[1][s.policy] = append(c.steals[1][s.policy], r.steals)
		notes.late = append(notes.late, r.late)
		notes.whole = append(notes.whole, (r.whole - r.took).Seconds())
		notes.cpu = append(notes.cpu, float64(r.cpu)/float64(r.whole))
		own += r.cpu
	}
	if busy > 0 {
		share := float64(busyTime()-busy-own) / float64(span) / float64(runtime.NumCPU())
		notes.others = append(notes.others, math.Max(0, share))
	}
	return nil
}

// A wideRun is what is known of one run.
type wideRun struct {
	took  time.Duration // by the root job
	whole time.Duration // from the submission to the answer
	cpu   time.Duration // of all processes
	late  float64       // seconds by which the last peer began to take part after the first
	// steals are those that brought a job from another cluster, of all peers.
	steals float64
}

func (s *wideSwarm) run(tree model.Tree, sum, leaves uint64) (r wideRun, err error) {
	if err := s.gather(); err != nil {
		return r, err
	}
	before := cpuOf(s.peers)
	a, err := s.peers[0].Ask(patience, "run", int(tree), "salvage", "off")
	if err != nil {
		return r, err
	}
	if err := isRight(a, sum, leaves); err != nil {
		return r, fmt.Errorf("%s: %w", s.policy, err)
	}
	r.cpu = cpuOf(s.peers) - before
	for key, to := range map[string]*time.Duration{"took": &r.took, "whole": &r.whole} {
		ns, err := a.Float(key)
		if err != nil {
			return r, err
		}
		*to = time.Duration(ns)
	}
	for _, p := range s.peers {
		part, err := p.Ask(patience, "part")
		if err != nil {
			return r, err
		}
		elapsed, err := part.Float("elapsed")
		won, fault := part.Float("wonWide")
		if err := errors.Join(err, fault); err != nil {
			return r, err
		}
		r.steals += won
		r.late = math.Max(r.late, r.whole.Seconds()-elapsed)
	}
	return r, nil
}
