package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/peer/emulate"
)

// An adaptSwarm is the processes of one run: those that take part at the start, the owner first, and the others.
type adaptSwarm struct {
	first   string
	cluster map[*ask.Program]int
	there   []*ask.Program
	reserve []*ask.Program
}

func (s *adaptSwarm) close() {
	for p := range s.cluster {
		p.Close()
	}
}

// run has real processes do it: how long it took, in seconds, and what was decided.
func (c *adaptCase) run(w *workshop, binary string, way adaptWay, round int) (took float64, told string,
	err error) {
	s := &adaptSwarm{cluster: map[*ask.Program]int{}}
	defer s.close()
	if err := s.open(w, binary, c, way, round); err != nil {
		return 0, "", err
	}
	tree := model.Bodies(round)
	sum, leaves, err := model.Sequential(tree)
	if err != nil {
		return 0, "", err
	}
	over, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		told, err = s.follow(c, over)
		stopped <- err
	}()
	a, err := s.there[0].Ask(2*patience, "run", int(tree), "salvage",
		fmt.Sprintf("%v:%d", way.mode, way.least))
	close(over)
	if err := errors.Join(err, <-stopped); err != nil {
		return 0, "", err
	}
	if err := isRight(a, sum, leaves); err != nil {
		return 0, "", err
	}
	ns, err := a.Float("took")
	return ns / float64(time.Second), told, err
}

// open starts the processes; those of the start know each other when it is done.
func (s *adaptSwarm) open(w *workshop, binary string, c *adaptCase, way adaptWay, round int) error {
	name := fmt.Sprintf("adapt-%s-%d-%s", c.name, round, strings.ReplaceAll(way.name, " ", ""))
	dir := filepath.Join(w.dir, name)
	network := filepath.Join(dir, "network")
	files := fstest.MapFS{"adapt": {Data: []byte(c.scenario())}}
	if err := emulate.Create(network, files, "adapt", nil, 1); err != nil {
		return err
	}
	for k, n := range c.start {
		for i := range model.PerCluster {
			p, err := ask.Start(fmt.Sprintf("%s-%d-%d", name, k, i), []string{binary})
			if err != nil {
				return err
			}
			s.cluster[p] = k
			a, err := p.Ask(patience, "open", filepath.Join(dir, fmt.Sprintf("%d-%d", k, i)), k+1, "adaptive", network,
				0, adaptEvery.Seconds())
			if err != nil {
				return err
			}
			if len(s.there) == 0 {
				s.first = a["address"]
			}
			if i >= n && !way.all {
				s.reserve = append(s.reserve, p)
				continue
			}
			if s.there = append(s.there, p); len(s.there) > 1 {
				if _, err := p.Ask(patience, "join", s.first); err != nil {
					return err
				}
			}
		}
	}
	if c.crash != nil && !way.all { // a machine beside those that crash would be no paper's scenario
		s.reserve = s.reserve[len(s.reserve)-model.PerCluster:]
	}
	return gather(s.there, ask.Answer{"members": fmt.Sprint(len(s.there))})
}

// follow does during the run what befalls it, and lets those come that are asked for.
func (s *adaptSwarm) follow(c *adaptCase, over <-chan struct{}) (told string, err error) {
	befall := time.After(c.at)
	if c.at == 0 {
		befall = nil
	}
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-over:
			return told, nil
		case <-befall:
			if err := s.befall(c); err != nil {
				return told, err
			}
		case <-look.C:
			a, err := s.there[1].Ask(patience, "part") // the owner is busy with the question for the result
			if err != nil || a["state"] != "running" {
				continue // it has not begun, or has ended
			}
			wanted, err := a.Float("wanted")
			if err != nil {
				return told, err
			}
			told = a["decided"]
			for ; len(s.there) < int(wanted) && len(s.reserve) > 0; s.reserve = s.reserve[1:] {
				if _, err := s.reserve[0].Ask(patience, "join", s.first); err != nil {
					return told, err
				}
				s.there = append(s.there, s.reserve[0])
			}
		}
	}
}

// befall is what happens in the middle.
func (s *adaptSwarm) befall(c *adaptCase) error {
	var errs []error
	left := s.there[:0:0]
	for _, p := range s.there {
		switch k := s.cluster[p]; {
		case k == slowCluster && c.slow > 0:
			_, err := p.Ask(patience, "slow", c.slow)
			errs = append(errs, err)
			left = append(left, p)
		case slices.Contains(c.crash, k):
			errs = append(errs, syscall.Kill(p.Pid(), syscall.SIGKILL))
		default:
			left = append(left, p)
		}
	}
	s.there = left
	return errors.Join(errs...)
}
