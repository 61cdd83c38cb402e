package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"

	"github.com/satin-peer/satin/internal/engine"
)

// thief measures how long a goroutine outside the workers waits for a job while all workers are busy with fib
// at every level. It asks at random moments, about PAUSE microseconds apart, as a network goroutine would for
// a request that came in. What it gets it completes at once. A Take that gave nothing is repeated at once,
// and its time counts.
func thief(words []string) (ask.Answer, error) {
	args, err := numbers(words, 3)
	if err != nil {
		return nil, err
	}
	workers, pause, takes := args[0], time.Duration(args[1])*time.Microsecond, args[2]
	p, err := engine.NewPool(engine.Config{Workers: workers})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	stop := keepBusy(p, workers)
	defer stop()
	waits := make([]time.Duration, 0, takes)
	for range takes {
		time.Sleep(pause/2 + rand.N(pause))
		asked := time.Now()
		t := p.Take()
		for t == nil {
			t = p.Take()
		}
		waits = append(waits, time.Since(asked))
		if err := complete(t, fibQuick); err != nil {
			return nil, err
		}
	}
	return ask.Quantiles(waits), nil
}

// complete delivers the result of a job that runs fib.
func complete(t *engine.Taken, fib func(n int) int) error {
	n, ok := t.Job().Arg.(int)
	if !ok || t.Job().Func != "bench.fib" {
		t.PutBack(false)
		return nil
	}
	_, err := t.End(engine.Outcome{Result: fib(n)})
	return err
}

// fibQuick is fib in n steps: it keeps the thief's own work out of the picture.
func fibQuick(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}

// keepBusy has p's workers run fib at every level until the function that it returns is called. There is always a run
// more than workers, so that no worker is idle between two runs.
func keepBusy(p *engine.Pool, workers int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	for range workers + 1 {
		go func() {
			for ctx.Err() == nil {
				_, _ = p.Run(ctx, "bench.forest", Forest{Trees: 400, Size: 24}) // ends by ctx
			}
			ended <- struct{}{}
		}()
	}
	for p.Stats().Busy < workers {
		time.Sleep(time.Millisecond)
	}
	return func() {
		cancel()
		for range workers + 1 {
			<-ended
		}
	}
}
