package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

const (
	alarmTask      = "nqueens 19" // longer than anything here takes
	deathsARound   = 5
	goodbyesARound = 5
	mastersARound  = 2
	alarmPatience  = 30 * time.Second
)

// alarms measures how soon a swarm of eight real processes reacts to the loss of one.
func alarms(w *workshop, rounds int) ([]table, error) {
	rounds = max(1, rounds/recoveryRoundShare)
	t := table{title: "How soon the others know", notes: []string{
		fmt.Sprintf("%d rounds. Eight processes of the command with one worker each, all on this machine's cores, in the midst of %s. Every figure is "+
			"seen from outside, by asking daemons for their status again and again.", rounds, alarmTask),
		"Queued again: a worker with stolen jobs is killed (SIGKILL), until some peer says that it has queued jobs again. Restarted: whoever holds the " +
			"root job is killed, until another says that it holds it; the first time that is the owner, then its deputy. Goodbye: SIGTERM, until the " +
			"owner does not list the peer any more.",
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rounds)*10*time.Minute)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	a := &alarm{}
	for round := range rounds {
		progress("recovery: alarms, round %d of %d", round+1, rounds)
		for _, part := range []func(context.Context, *swarm.Swarm) error{a.deaths, a.goodbyes, a.masters} {
			if err := inSwarm(ctx, binary, w, part); err != nil {
				return nil, err
			}
		}
	}
	progress("")
	t.figures = []figure{
		{name: "kill to jobs queued again", form: "%.2f s", values: a.queued},
		{name: fmt.Sprintf("  99th percentile of %d", len(a.queued)), form: "%.2f s",
			values: percentile(a.queued, 0.99), atMost: 5},
		{name: "master killed to root restarted", form: "%.2f s", values: a.restarted},
		{name: fmt.Sprintf("  the longest of %d", len(a.restarted)), form: "%.2f s",
			values: percentile(a.restarted, 1), atMost: 15},
		{name: "SIGTERM to goodbye", form: "%.0f ms", values: a.parted, atMost: 100},
		{name: "  until the process has ended", form: "%.0f ms", values: a.ended},
	}
	if a.missed > 0 {
		t.notes = append(t.notes, fmt.Sprintf(
			"%d kills took nothing with them that anybody had to queue again within %v.", a.missed, alarmPatience))
	}
	return []table{t}, nil
}

// percentile gives the value that so many are at most, as a list of one.
func percentile(list []float64, share float64) []float64 {
	if len(list) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(list))
	return []float64{sorted[min(int(share*float64(len(list))), len(list)-1)]}
}

// An alarm has the figures.
type alarm struct {
	queued, restarted []float64 // s
	parted, ended     []float64 // ms
	missed            int
}

// inSwarm does something to a new swarm in the midst of a run of its first process.
func inSwarm(ctx context.Context, binary string, w *workshop,
	do func(context.Context, *swarm.Swarm) error) (err error) {
	s := &swarm.Swarm{Binary: binary, Dir: w.dir}
	defer func() { err = errors.Join(err, s.Close()) }()
	settings := make([][]string, 8)
	for i := range settings {
		settings[i] = []string{fmt.Sprintf("SATIN_CLUSTER=half%d", i%2)}
	}
	if err := s.Form(ctx, settings); err != nil {
		return err
	}
	if err := met(ctx, s); err != nil {
		return err
	}
	if _, err := s.Run(ctx, s.Peers[0], "nqueens", "19", "--detach"); err != nil {
		return err
	}
	return do(ctx, s)
}

// holding waits until a process works on stolen jobs.
func holding(ctx context.Context, p *swarm.Process) error {
	return await(ctx, "a worker steals", func() (bool, error) {
		st, err := p.Client().Status(ctx)
		return st.Work.Taken > 0 && st.Busy > 0, err
	})
}

// runOf is the run as a process sees it; nil if it does not.
func runOf(ctx context.Context, p *swarm.Process) (*control.RunInfo, error) {
	list, err := p.Client().Runs(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// deaths kills worker after worker.
func (a *alarm) deaths(ctx context.Context, s *swarm.Swarm) error {
	for i := range deathsARound {
		victim := s.Peers[1+i]
		others := slices.DeleteFunc(slices.Clone(s.Peers),
			func(p *swarm.Process) bool { return p == victim || !p.Alive() })
		restarted := func() (sum uint64, err error) {
			for _, p := range others {
				r, err := runOf(ctx, p)
				if err != nil {
					return 0, err
				}
				if r != nil && r.Stats != nil {
					sum += r.Stats.RestartedJobs
				}
			}
			return sum, nil
		}
		if err := holding(ctx, victim); err != nil {
			return err
		}
		before, err := restarted()
		if err != nil {
			return err
		}
		began := time.Now()
		if err := victim.Kill(); err != nil {
			return err
		}
		soon, cancel := context.WithTimeout(ctx, alarmPatience)
		err = await(soon, "the jobs are queued again", func() (bool, error) {
			now, err := restarted()
			return now > before, err
		})
		late := soon.Err() != nil
		cancel()
		switch {
		case late && ctx.Err() == nil:
			a.missed++
		case err != nil:
			return err
		default:
			a.queued = append(a.queued, time.Since(began).Seconds())
		}
	}
	return nil
}

// goodbyes has worker after worker leave.
func (a *alarm) goodbyes(ctx context.Context, s *swarm.Swarm) error {
	for i := range goodbyesARound {
		p := s.Peers[1+i]
		if err := holding(ctx, p); err != nil {
			return err
		}
		st, err := p.Client().Status(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := await(ctx, "goodbye", func() (bool, error) {
			list, err := s.Peers[0].Client().Peers(ctx)
			return !slices.ContainsFunc(list, func(other control.PeerInfo) bool { return other.Peer == st.Peer }), err
		}); err != nil {
			return err
		}
		a.parted = append(a.parted, float64(time.Since(began))/float64(time.Millisecond))
		<-p.Ended()
		a.ended = append(a.ended, float64(time.Since(began))/float64(time.Millisecond))
	}
	return nil
}

// masters kills the owner, and then whoever goes on.
func (a *alarm) masters(ctx context.Context, s *swarm.Swarm) error {
	if err := holding(ctx, s.Peers[7]); err != nil {
		return err
	}
	master := s.Peers[0]
	for range mastersARound {
		began := time.Now()
		if err := master.Kill(); err != nil {
			return err
		}
		if err := await(ctx, "the root is restarted", func() (bool, error) {
			for _, p := range s.Peers {
				if !p.Alive() {
					continue
				}
				st, err := p.Client().Status(ctx)
				if err != nil {
					return false, err
				}
				if len(st.Runs) > 0 && st.Runs[0].Master == st.Peer {
					master = p
					return true, nil
				}
			}
			return false, nil
		}); err != nil {
			return err
		}
		a.restarted = append(a.restarted, time.Since(began).Seconds())
	}
	return nil
}
