package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

// A solution is what came of a problem.
type solution struct {
	answer  apps.Answer
	end     sample // when the run ended; the time is that of the run alone, without checking and saving
	unsaved error  // why the output file could not be written
}

// await solves p on the pool, or by its sequential twin if that is nil. Meanwhile it shows the progress and listens for
// interrupts; the error after one is an *interrupted.
func (c console) await(p *apps.Problem, pool *satin.Pool) (solution, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals, release := c.signals()
	defer release()
	shown := newDisplay(c)
	defer shown.clear()
	ticks, stop := c.every(shown.interval())
	defer stop()

	type ending struct {
		solution
		err error
	}
	ended := make(chan ending, 1)
	began := time.Now()
	go func() {
		s, err := solve(ctx, p, pool)
		ended <- ending{s, err}
	}()
	for {
		select {
		case e := <-ended:
			return e.solution, e.err
		case <-ticks:
			shown.show(measure(pool, time.Since(began)))
		case s := <-signals:
			release()
			got := measure(pool, time.Since(began)) // an aborted run has no progress any more
			cancel()
			select {
			case e := <-ended:
				if !errors.Is(e.err, context.Canceled) {
					return e.solution, e.err // it had ended
				}
			case <-time.After(c.patience):
			}
			return solution{end: got}, &interrupted{s, got}
		}
	}
}

// solve runs p, checks the result, and saves it if it is right.
func solve(ctx context.Context, p *apps.Problem, pool *satin.Pool) (s solution, err error) {
	doing := "the sequential program"
	defer func() {
		if v := recover(); v != nil {
			err = &failure{exitFailed, fmt.Errorf("%s of %s panicked: %v", doing, p.Title, v), debug.Stack()}
		}
	}()
	began := time.Now()
	var result any
	if pool == nil {
		result = p.Sequential()
	} else if result, err = pool.RunNamed(ctx, p.Root, p.Arg); err != nil {
		return s, jobFailure(err)
	}
	s.end = measure(pool, time.Since(began))
	doing = "the check of the answer"
	wrong := p.Check(result)
	doing = "the answer"
	s.answer = p.Answer(result)
	if wrong != nil {
		return s, failed("WRONG ANSWER to %s: %w; the answer was: %s", p.Title, wrong, s.answer.Text)
	}
	if p.Save != nil {
		doing = "the output"
		s.unsaved = p.Save(result)
	}
	return s, nil
}

// jobFailure makes a failure of a run's error, unless the run was cancelled.
func jobFailure(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	f := failed("%w", err)
	if job := (*satin.JobError)(nil); errors.As(err, &job) {
		f.stack = job.Stack
	}
	return f
}

// interrupted is the error of a run that the user ended.
type interrupted struct {
	signal os.Signal
	got    sample
}

func (i *interrupted) Error() string {
	verb := "interrupted"
	if i.signal == syscall.SIGTERM {
		verb = "terminated"
	}
	if i.got.Workers == 0 {
		return fmt.Sprintf("%s after %s", verb, seconds(i.got.at))
	}
	return fmt.Sprintf("%s after %s with %s of the tree done, %s jobs executed", verb, seconds(i.got.at), percent(i.got.share), grouped(i.got.Executed))
}

// exitCode is the shell's for a command that the signal ended.
func (i *interrupted) exitCode() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitFailed
}
