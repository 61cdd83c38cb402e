// Package apptest tries applications on problems: the jobs against the sequential twin on several numbers of workers,
// and bad input against the messages it should get.
package apptest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/engine"
)

// workers are the sizes of pools that everything is tried on: the owner alone, with one thief, and with more workers
// than this machine may have cores.
var workers = [...]int{1, 2, 4}

// Setup gives app a command line, "12 --threshold 4", as the command would. Words are separated by blanks.
func Setup(app apps.App, line string) (*apps.Problem, error) {
	flags := flag.NewFlagSet(app.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	problem := app.Setup(flags)
	args, err := parse(flags, strings.Fields(line))
	if err != nil {
		return nil, err
	}
	return problem(args)
}

// parse reads flags before, between and after positional arguments.
func parse(flags *flag.FlagSet, words []string) (args []string, err error) {
	for {
		if err := flags.Parse(words); err != nil {
			return nil, err
		}
		words = flags.Args()
		if len(words) == 0 {
			return args, nil
		}
		args, words = append(args, words[0]), words[1:]
	}
}

// Solve solves the problem of a command line with the sequential twin, without a pool, and on pools of 1, 2
// and 4 workers. All results must be deeply equal and pass the application's own check. It returns the
// result.
func Solve(t *testing.T, app apps.App, line string) any {
	t.Helper()
	p, err := Setup(app, line)
	if err != nil {
		t.Fatalf("%s %s: %v", app.Name, line, err)
	}
	want := p.Sequential()
	if err := p.Wrong(want); err != nil {
		t.Errorf("%s %s: the twin's result: %v", app.Name, line, err)
	}
	same := func(pool *satin.Pool, where string) {
		t.Helper()
		got, err := pool.RunNamed(context.Background(), p.Root, p.Arg)
		if err != nil {
			t.Fatalf("%s %s: %s: %v", app.Name, line, where, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s: %s: got %v, the twin says %v", app.Name, line, where, got, want)
		}
	}
	same(nil, "without a pool")
	for _, n := range workers {
		onPool(t, n, same)
	}
	shown(t, app, line, p.Answer(want))
	return want
}

// Pools gives no pool, and one of each size, by what is said of it.
func Pools(t *testing.T) map[string]*satin.Pool {
	t.Helper()
	pools := map[string]*satin.Pool{"no pool": nil}
	for _, n := range workers {
		p, err := satin.NewPool(satin.Config{Workers: n})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		pools[fmt.Sprint(n, " workers")] = p
	}
	return pools
}

// onPool calls run with a pool of n workers.
func onPool(t *testing.T, n int, run func(pool *satin.Pool, where string)) {
	t.Helper()
	pool, err := satin.NewPool(satin.Config{Workers: n})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	run(pool, map[bool]string{true: "one worker", false: "several workers"}[n == 1])
}

// shown fails unless an answer can be shown to people and to programs.
func shown(t *testing.T, app apps.App, line string, a apps.Answer) {
	t.Helper()
	if a.Text == "" || strings.HasSuffix(a.Text, "\n") {
		t.Errorf("%s %s: the answer's text is %q", app.Name, line, a.Text)
	}
	if text, err := json.Marshal(a.Fields); err != nil || len(a.Fields) == 0 {
		t.Errorf("%s %s: the answer's fields are %s, %v", app.Name, line, text, err)
	}
}

// Refuse fails unless each command line, a key of the table, is refused with exactly the message that stands
// beside it.
func Refuse(t *testing.T, app apps.App, table map[string]string) {
	t.Helper()
	for line, want := range table {
		_, err := Setup(app, line)
		var input *apps.InputError
		switch {
		case err == nil:
			t.Errorf("%s %s: accepted, want the message: %s", app.Name, line, want)
		case !errors.As(err, &input):
			t.Errorf("%s %s: %v is no InputError", app.Name, line, err)
		case err.Error() != want:
			t.Errorf("%s %s:\ngot  %s\nwant %s", app.Name, line, err, want)
		}
	}
}

// Described fails unless the application says what a newcomer needs, and its examples can be set up, but for those
// that name a file of the user's.
func Described(t *testing.T, app apps.App, ownFiles ...string) {
	t.Helper()
	if app.Name == "" || app.Summary == "" || app.Long == "" || len(app.Examples) == 0 {
		t.Errorf("%s has no name, summary, description or example", app.Name)
	}
	t.Run("examples", func(t *testing.T) {
		t.Chdir(t.TempDir()) // some write files
		for _, line := range app.Examples {
			if slices.Contains(ownFiles, line) {
				continue
			}
			p, err := Setup(app, line)
			if err != nil {
				t.Errorf("example %q: %v", line, err)
				continue
			}
			fn, ok := engine.Lookup(p.Root)
			if !ok || fn.Arg != reflect.TypeOf(p.Arg) {
				t.Errorf("example %q: root job %s of a %T is not registered", line, p.Root, p.Arg)
			}
		}
	})
}
