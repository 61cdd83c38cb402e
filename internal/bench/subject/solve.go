package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/examples/golomb"
	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/clock"
)

// A subject is an application's problem, read once, and on how many workers this program solves it. Each time it does
// so on a pool of its own: what jobs share, as the best solution, stays with a pool, and the next search would begin
// with it. The sequential twin has an idle pool beside it: a pool makes the garbage collector's cycles rarer and raises
// GOMAXPROCS, and the twin is to have that too, so that it differs in nothing but the jobs.
type subject struct {
	problem *apps.Problem
	workers int // 0: the sequential twin
}

// subjects are those met so far, by their question.
var subjects = map[string]*subject{}

// solve runs an application: its sequential twin (0 workers) or its root job on so many. Each result is checked.
// Words are WORKERS, TIMES, the application and its arguments as on the command line.
func solve(words []string) (ask.Answer, error) {
	if len(words) < 3 {
		return nil, fmt.Errorf("want WORKERS, TIMES and APP")
	}
	args, err := numbers(words[:2], 2)
	if err != nil {
		return nil, err
	}
	name := strings.Join(words, " ")
	s := subjects[name]
	if s == nil {
		if s, err = newSubject(args[0], words[2], words[3:]); err != nil {
			return nil, err
		}
		subjects[name] = s
	}
	var results []any
	var failed error
	cost := clock.Best(max(args[1], 1), func() {
		result, err := s.solve()
		results, failed = append(results, result), cmp.Or(failed, err)
	})
	for _, result := range results {
		if failed == nil {
			failed = s.problem.Check(result)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return ask.Of("wall", cost.Wall.Nanoseconds(), "cpu", cost.CPU.Nanoseconds()), nil
}

func newSubject(workers int, app string, args []string) (*subject, error) {
	list := append(all.Apps(), golomb.App)
	i := slices.IndexFunc(list, func(a apps.App) bool { return a.Name == app })
	if i < 0 {
		return nil, fmt.Errorf("there is no application %q", app)
	}
	fs := flag.NewFlagSet(app, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	read := list[i].Setup(fs)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	problem, err := read(fs.Args())
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", app, strings.Join(args, " "), err)
	}
	if workers == 0 {
		if _, err := satin.NewPool(satin.Config{Workers: 1}); err != nil {
			return nil, err
		}
		runtime.LockOSThread() // as satin's workers are
	}
	return &subject{problem, workers}, nil
}

func (s *subject) solve() (any, error) {
	if s.workers == 0 {
		return s.problem.Sequential(), nil
	}
	p, err := satin.NewPool(satin.Config{Workers: s.workers})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.RunNamed(context.Background(), s.problem.Root, s.problem.Arg)
}
