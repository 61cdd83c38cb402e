package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/report"
)

// A solution is what came of a problem.
type solution struct {
	answer  apps.Answer
	end     sample           // when the run ended; the time is that of the run alone, without checking and saving
	unsaved error            // why the output file could not be written
	swarm   *report.RunStats // of a run in the swarm
	warning string           // what the user should know besides the answer
	by      string           // the peer that had the root job at the end, of a run in a swarm, if it was not the owner
	rival   bool             // the answer is disputed
	trust   *report.Trust    // what it rests on, of a run in the swarm
	sworn   []report.Sworn   // who has signed what, of a run in which this peer had outcomes compared

	gave map[string]float64 // processor time in seconds, by peer, of a run in the swarm
}

// A computation is a run, wherever it happens.
type computation interface {
	solve(ctx context.Context) (solution, error)
	measure() sample
	// stop is called after an interrupt, before the context of solve ends; it names a run that goes on nevertheless.
	stop() (goesOn string)
}

// attend waits for a computation. Meanwhile it shows the progress and listens for interrupts; the error after
// one is an *interrupted.
func (c console) attend(r computation) (solution, error) {
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
	go func() {
		s, err := r.solve(ctx)
		ended <- ending{s, err}
	}()
	for {
		select {
		case e := <-ended:
			return e.solution, e.err
		case <-ticks:
			shown.show(r.measure())
		case s := <-signals:
			release()
			got := r.measure() // an aborted run has no progress any more
			goesOn := r.stop()
			cancel()
			select {
			case e := <-ended:
				if !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, errCancelled) {
					return e.solution, e.err // it had ended
				}
			case <-time.After(c.patience):
			}
			return solution{end: got}, &interrupted{signal: s, got: got, goesOn: goesOn}
		}
	}
}

// A localRun is a run in this process: on a pool, or by the sequential twin if that is nil.
type localRun struct {
	problem *apps.Problem
	pool    *satin.Pool
	began   time.Time
	ctx     context.Context // ends when the run is cancelled otherwise than by an interrupt
	cancel  context.CancelCauseFunc
}

func newLocalRun(p *apps.Problem, pool *satin.Pool) *localRun {
	r := &localRun{problem: p, pool: pool, began: time.Now()}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	return r
}

// errCancelledOnPage is why a run was cancelled by somebody who watched it.
var errCancelledOnPage = errors.New("the run was cancelled in the browser")

func (r *localRun) measure() sample { return measure(r.pool, time.Since(r.began)) }

// stop leaves it to the context, which aborts the run.
func (r *localRun) stop() (goesOn string) { return "" }

// solve runs the problem, checks the result, and saves it if it is right.
func (r *localRun) solve(ctx context.Context) (solution, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()
	return examine(r.problem, func() (result any, end sample, err error) {
		began := time.Now()
		if r.pool == nil {
			result = r.problem.Sequential()
		} else if result, err = r.pool.RunNamed(ctx, r.problem.Root, r.problem.Arg); err != nil {
			if errors.Is(context.Cause(r.ctx), errCancelledOnPage) {
				return nil, end, failed("%w", errCancelledOnPage)
			}
			return nil, end, jobFailure(err)
		}
		return result, measure(r.pool, time.Since(began)), nil
	})
}

// setup is the Setup of an application, for whoever its function panics, or makes what cannot be run or shown.
func setup(app apps.App, own *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	build := app.Setup(own)
	return func(args []string) (p *apps.Problem, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the Setup of %s panicked: %v", app.Name, v)
				p, err = nil, &failure{exitFailed, err, debug.Stack()}
			}
		}()
		p, err = build(args)
		if err == nil && (p.Root == "" || p.Answer == nil) {
			err = failed("the Setup of %s made a Problem without a Root or an Answer: see go doc apps.Problem", app.Name)
		}
		return p, err
	}
}

// examine gets the result of p, checks it, and saves it if it is right. A panic on the way is a failure.
func examine(p *apps.Problem, get func() (any, sample, error)) (s solution, err error) {
	doing := "the sequential program"
	defer func() {
		if v := recover(); v != nil {
			err = &failure{exitFailed, fmt.Errorf("%s of %s panicked: %v", doing, p.Title, v), debug.Stack()}
		}
	}()
	result, end, err := get()
	if err != nil {
		return s, err
	}
	s.end = end
	doing = "the check of the answer"
	wrong := p.Wrong(result)
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

// read puts the fields of an answer into v.
func (s *solution) read(v any) error {
	text, err := json.Marshal(s.answer.Fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
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
	goesOn string // the run, if only the waiting for it has ended
	text   string // instead of what got says, if it is more than a run
}

func (i *interrupted) Error() string {
	if i.text != "" {
		return i.text
	}
	verb := "interrupted"
	switch i.signal {
	case syscall.SIGTERM:
		verb = "terminated"
	case syscall.SIGHUP:
		verb = "hung up"
	}
	if i.goesOn != "" {
		return fmt.Sprintf(
			"%s: the run goes on, %s of the tree is done; satin-peer wait %s waits again, satin-peer cancel %s ends it",
			verb, percent(i.got.share), i.goesOn, i.goesOn)
	}
	if i.got.Workers == 0 && i.got.peers == 0 {
		return fmt.Sprintf("%s after %s", verb, seconds(i.got.at))
	}
	return fmt.Sprintf("%s after %s with %s of the tree done, %s jobs executed", verb, seconds(i.got.at),
		percent(i.got.share), grouped(i.got.Executed))
}

// exitCode is the shell's for a command that the signal ended.
func (i *interrupted) exitCode() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitFailed
}
