package main

import (
	"context"
	"fmt"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/ask"
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

// busy starts or ends work on all workers of a pool, one for each core, at the priority of a peer. There is
// always a run more than workers, so that none is idle between two runs.
func (s *side) busy(words []string) (ask.Answer, error) {
	if len(words) != 1 || words[0] != "on" && words[0] != "off" {
		return nil, fmt.Errorf("want on or off")
	}
	if s.resting != nil {
		s.resting()
		s.resting = nil
	}
	if words[0] == "off" {
		return ask.Answer{}, nil
	}
	p, err := satin.NewPool(satin.Config{Idle: true}) // as a peer runs its jobs unless it is told otherwise
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
	s.resting = func() {
		cancel()
		for range p.Workers() + 1 {
			<-ended
		}
		p.Close()
	}
	return ask.Answer{}, nil
}
