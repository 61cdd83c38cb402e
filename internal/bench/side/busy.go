package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

func init() { satin.Register("side.fib", fib) }

// fib spawns at every level.
func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

// busy starts or ends work on all cores, at the priority of a peer's jobs unless it is told otherwise: in a process of
// its own, as a daemon's jobs are, or in this one.
func (s *side) busy(words []string) (ask.Answer, error) {
	if s.resting != nil {
		s.resting()
		s.resting = nil
	}
	if len(words) != 1 {
		return nil, fmt.Errorf("want apart, here or off")
	}
	var err error
	switch words[0] {
	case "apart":
		s.resting, err = busyApart()
	case "here":
		s.resting, err = busyHere()
	case "off":
	default:
		err = fmt.Errorf("busy is %q", words[0])
	}
	return ask.Answer{}, err
}

// busyApart has a daemon's process of jobs run one that does not end.
func busyApart() (rest func(), err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	arg, err := wire.Value().Encode(60) // years
	if err != nil {
		return nil, err
	}
	cores := runtime.NumCPU()
	e, err := child.Start(child.Config{Command: []string{exe, computes},
		Compute: compute.Config{Self: "side", Workers: cores, Idle: true}})
	if err != nil {
		return nil, err
	}
	e.Do(&port.Order{Kind: port.Cores, Max: cores})
	e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &steal.Job{Function: "side.fib", Arg: arg}})
	for deadline := time.Now().Add(10 * time.Second); ; {
		events, _ := e.Poll()
		for _, event := range events {
			if event.Kind == port.LoadChanged && event.Load.Workers == cores && event.Load.Idle == 0 {
				return e.Close, nil
			}
		}
		if time.Now().After(deadline) {
			e.Close()
			return nil, errors.New("the process of jobs does not begin to work")
		}
		time.Sleep(time.Millisecond)
	}
}

// busyHere has a pool of this process work. There is always a run more than workers, so that none is idle between two
// runs.
func busyHere() (rest func(), err error) {
	p, err := satin.NewPool(satin.Config{Idle: true})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	for range p.Workers() + 1 {
		go func() {
			for ctx.Err() == nil {
				_, _ = satin.Run(ctx, p, fib, 32) // ends by ctx
			}
			ended <- struct{}{}
		}()
	}
	for p.Stats().Busy < p.Workers() {
		time.Sleep(time.Millisecond)
	}
	return func() {
		cancel()
		for range p.Workers() + 1 {
			<-ended
		}
		p.Close()
	}, nil
}
