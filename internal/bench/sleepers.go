package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/peer/control"
)

// sleepers is a swarm of processes of package wide, with jobs that sleep, in two clusters; the first process
// owns the runs. It is for one run.
type sleepers struct {
	dir   string
	peers []*ask.Program
	left  int // how many of the first are there to the end
}

// A sleeperRun is what is known of one run.
type sleeperRun struct {
	took time.Duration // by the root job
	cpu  time.Duration // of all processes, but for those that were killed
	// Of those that were there to the end: jobs queued again, orphans that were adopted and used again, and
	// broadcasts.
	restarted, adopted, reused, news float64
}

func startSleepers(w *workshop, binary string, number int, checkpoint float64) (*sleepers, error) {
	dir, err := os.MkdirTemp(w.dir, "sleepers-")
	if err != nil {
		return nil, err
	}
	s := &sleepers{dir: dir, left: model.Peers}
	s.peers, err = startPeers(fmt.Sprint("sleepers-", number), binary, dir,
		func(i int) any { return fmt.Sprint("half", i/half) }, "adaptive", "-", checkpoint, 0)
	return s, err
}

// startPeers starts processes that open peers in clusters, with arguments that are the same for all, and that join the
// first one. It gives those that it could start.
func startPeers(name, binary, dir string, cluster func(i int) any, args ...any) (list []*ask.Program, err error) {
	first := ""
	for i := range model.Peers {
		p, err := ask.Start(fmt.Sprintf("%s-%d", name, i), []string{binary})
		if err != nil {
			return list, err
		}
		list = append(list, p)
		a, err := p.Ask(patience, append([]any{"open", filepath.Join(dir, fmt.Sprint(i)), cluster(i)}, args...)...)
		switch {
		case err != nil:
		case first == "":
			first = a["address"]
		default:
			_, err = p.Ask(patience, "join", first)
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// cpuOf is the CPU time that processes have used.
func cpuOf(list []*ask.Program) (sum time.Duration) {
	for _, p := range list {
		sum += cputime.Of(p.Pid())
	}
	return sum
}

// gather waits until every process counts what it is to know of the others.
func gather(list []*ask.Program, want ask.Answer) error {
	until := time.Now().Add(patience)
	for _, p := range list {
		for {
			a, err := p.Ask(patience, "count")
			if err != nil {
				return err
			}
			maps.DeleteFunc(a, func(key, _ string) bool { return want[key] == "" })
			if maps.Equal(a, want) {
				break
			}
			if time.Now().After(until) {
				return fmt.Errorf("after %v a process still counts %v, and not %v", patience, a, want)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// isRight compares the answer to "run" with what the sequential program makes of the tree.
func isRight(a ask.Answer, sum, leaves uint64) error {
	if a["sum"] != fmt.Sprint(sum) || a["leaves"] != fmt.Sprint(leaves) {
		return fmt.Errorf("the result is %s of %s leaves, the sequential program's is %d of %d", a["sum"], a["leaves"],
			sum, leaves)
	}
	return nil
}

// gather waits until every peer knows every other.
func (s *sleepers) gather() error {
	return gather(s.peers, ask.Answer{"members": fmt.Sprint(model.Peers), "connected": fmt.Sprint(model.Peers - 1)})
}

func (s *sleepers) close() {
	for _, p := range s.peers {
		p.Close()
	}
	_ = os.RemoveAll(s.dir) // the workshop's goes, too
}

// crash kills the second half.
func (s *sleepers) crash() error {
	var errs []error
	for _, p := range s.peers[half:] {
		errs = append(errs, syscall.Kill(p.Pid(), syscall.SIGKILL))
	}
	s.left = half
	return errors.Join(errs...)
}

// leave has the second half leave.
func (s *sleepers) leave() error {
	errs := make([]error, len(s.peers))
	var wait sync.WaitGroup
	for i, p := range s.peers[half:] {
		wait.Go(func() { _, errs[i] = p.Ask(patience, "leave") })
	}
	wait.Wait()
	s.left = half
	return errors.Join(errs...)
}

// run runs a tree and has something befall the swarm in the midst of it.
func (s *sleepers) run(tree model.Tree, recovery string, befall func(*sleepers) error) (r sleeperRun, err error) {
	sum, leaves, err := model.Sequential(tree)
	if err != nil {
		return r, err
	}
	befallen := make(chan error, 1)
	if befall == nil {
		befallen <- nil
	} else {
		time.AfterFunc(recoveryMid, func() { befallen <- befall(s) })
	}
	before := s.cpu()
	a, err := s.peers[0].Ask(2*patience, "run", int(tree), recovery, "off")
	if err := errors.Join(err, <-befallen); err != nil {
		return r, err
	}
	r.cpu = s.cpu() - before
	if err := isRight(a, sum, leaves); err != nil {
		return r, err
	}
	took, err := a.Float("took")
	if err != nil {
		return r, err
	}
	r.took = time.Duration(took)
	for _, p := range s.peers[:s.left] {
		part, err := p.Ask(patience, "part")
		if err != nil {
			return r, err
		}
		for key, to := range map[string]*float64{"restarted": &r.restarted, "adopted": &r.adopted,
			"reused": &r.reused, "news": &r.news} {
			n, err := part.Float(key)
			if err != nil {
				return r, err
			}
			*to += n
		}
	}
	return r, nil
}

// orphaned runs a tree, kills the half that the owner is in in the midst of it, and waits until one of the
// others knows that the run has ended. Only the owner could ask for the result.
func (s *sleepers) orphaned(tree model.Tree, recovery string) (r sleeperRun, err error) {
	began := time.Now()
	go func() { _, _ = s.peers[0].Ask(2*patience, "run", int(tree), recovery, "off") }() // which ends with the process
	time.Sleep(recoveryMid)
	for _, p := range s.peers[:half] {
		if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
			return r, err
		}
	}
	witness := s.peers[half]
	for until := began.Add(patience); ; time.Sleep(20 * time.Millisecond) {
		part, err := witness.Ask(patience, "part")
		if err != nil {
			return r, err
		}
		if part["state"] == string(control.RunDone) {
			r.took = time.Since(began)
			return r, nil
		}
		if time.Now().After(until) {
			return r, fmt.Errorf("%v after the owner's half was killed the run is still %s", patience-recoveryMid,
				part["state"])
		}
	}
}

// cpu is the CPU time that those that are left have used.
func (s *sleepers) cpu() time.Duration { return cpuOf(s.peers[:s.left]) }
