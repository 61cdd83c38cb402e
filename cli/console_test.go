package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	computing "github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/peer/settings"
)

func init() {
	satin.Register("test.count", count)
	satin.Register("test.boom", boom)
	satin.RegisterErr("test.refuse", refuse)
	satin.Register("test.spin", spin)
	satin.Register("test.block", block)
}

// count counts the leaves of a binary tree of a depth.
func count(f *satin.Frame, depth int) int {
	if depth == 0 {
		return 1
	}
	left := satin.Spawn(f, count, depth-1)
	right := count(f, depth-1)
	return left.Get() + right
}

// boom panics in a child of the root.
func boom(f *satin.Frame, depth int) int {
	if depth == 0 {
		panic("two\nlines")
	}
	return satin.Spawn(f, boom, depth-1).Get()
}

func refuse(_ *satin.Frame, n int) (int, error) { return 0, fmt.Errorf("%d is too many", n) }

// begun tells the test that a job runs: in the process of the test by a value, in a process of its own by a line.
var begun = make(chan struct{}, 1)

func begin() {
	select {
	case begun <- struct{}{}:
	default:
	}
	if os.Getenv(childEnv) != "" {
		fmt.Fprintln(os.Stderr, beginLine)
	}
}

const beginLine = "the job runs"

// spin spawns until it is aborted.
func spin(f *satin.Frame, _ int) int {
	begin()
	for {
		satin.Spawn(f, count, 3).Get()
	}
}

// gate is what block waits for.
var gate = make(chan struct{})

// block is a long leaf that does not look whether it was aborted.
func block(*satin.Frame, int) int {
	begin()
	<-gate
	return 0
}

// testApps are applications that show what the real ones do on some days.
func testApps() []apps.App {
	simple := func(name string, p apps.Problem) apps.App {
		if p.Arg == nil {
			p.Arg = 2
		}
		if p.Check == nil {
			p.Check = func(any) error { return nil }
		}
		p.Title = "test " + name
		p.Answer = func(r any) apps.Answer {
			return apps.Answer{Text: fmt.Sprint(r), Fields: map[string]any{"value": r}}
		}
		return apps.App{
			Name:    name,
			Summary: "Test " + name,
			Long:    "Tests what happens.",
			Setup: func(*flag.FlagSet) func([]string) (*apps.Problem, error) {
				return func(args []string) (*apps.Problem, error) {
					if err := apps.ArgCount(args, 0, ""); err != nil {
						return nil, err
					}
					return &p, nil
				}
			},
		}
	}
	sequentially := func(f func()) func() any { return func() any { f(); return 0 } }
	return []apps.App{
		simple("block", apps.Problem{Root: "test.block", Sequential: sequentially(func() { begin(); <-gate })}),
		simple("boom", apps.Problem{Root: "test.boom", Sequential: sequentially(func() { panic("twin\nbroke") })}),
		countApp(),
		simple("nocheck", apps.Problem{Root: "test.count", Check: func(any) error { panic("no check") }}),
		simple("refuse", apps.Problem{Root: "test.refuse"}),
		simple("spin", apps.Problem{Root: "test.spin"}),
		simple("unsaved", apps.Problem{Root: "test.count",
			Save: func(any) error { return errors.New("writing x: disk full") }}),
		simple("wrong", apps.Problem{Root: "test.count", Check: func(any) error { return errors.New("4 is not 5") }}),
	}
}

func countApp() apps.App {
	return apps.App{
		Name:     "count",
		Summary:  "Leaves of a tree",
		Args:     "DEPTH",
		Long:     "Counts the leaves of a binary tree by visiting them.",
		Examples: []string{"10", "12 --add 3"},
		Setup: func(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
			add := fs.Int("add", 0, "the `NUMBER` to add to the answer")
			scale := fs.Float64("scale", 1, "factor of the answer in JSON")
			wait := fs.Duration("wait", 0, "time to wait")
			out := fs.String("out", "", "`FILE` to write")
			twice := fs.Bool("twice", false, "count twice")
			return func(args []string) (*apps.Problem, error) {
				if err := apps.ArgCount(args, 1, "DEPTH"); err != nil {
					return nil, err
				}
				depth, err := apps.Int("DEPTH", args[0], 1, 20)
				if err != nil {
					return nil, err
				}
				if *out != "" {
					if err := apps.CheckOutput(*out); err != nil {
						return nil, err
					}
				}
				if *wait < 0 {
					return nil, errors.New("--wait is negative")
				}
				given := 0
				fs.Visit(func(*flag.Flag) { given++ })
				p := &apps.Problem{
					Title: fmt.Sprintf("a tree of depth %d", depth),
					Root:  "test.count",
					Arg:   depth,
					Sequential: func() any {
						return 1 << depth
					},
					Check: func(result any) error {
						if result != 1<<depth {
							return fmt.Errorf("%d leaves, want %d", result, 1<<depth)
						}
						return nil
					},
					Answer: func(result any) apps.Answer {
						n := result.(int) + *add
						if *twice {
							n *= 2
						}
						return apps.Answer{
							Text:   fmt.Sprintf("%d leaves, %d flags", n, given),
							Fields: map[string]any{"leaves": float64(n) * *scale},
						}
					},
				}
				if *out != "" {
					p.Save = func(result any) error {
						return apps.WriteFile(*out, func(w io.Writer) error {
							_, err := fmt.Fprintln(w, result)
							return err
						})
					}
				}
				return p, nil
			}
		},
	}
}

// nowhere has neither settings nor a daemon.
var nowhere = settings.Dirs{Config: "/nowhere/config", State: "/nowhere/state", Home: "/nowhere"}

// A fake is a console in memory.
type fake struct {
	console
	out, err  bytes.Buffer
	columns   int
	caught    chan os.Signal
	released  int
	ticks     chan time.Time
	intervals []time.Duration
}

func newFake() *fake {
	f := &fake{caught: make(chan os.Signal, 1), ticks: make(chan time.Time)}
	f.console = console{
		in:      strings.NewReader("satin-peer join satin-invite-1:fromstdin\nnot this\n"),
		out:     &f.out,
		err:     &f.err,
		screen:  &f.err,
		width:   func() int { return f.columns },
		signals: func() (<-chan os.Signal, func()) { return f.caught, func() { f.released++ } },
		every: func(d time.Duration) (<-chan time.Time, func()) {
			f.intervals = append(f.intervals, d)
			return f.ticks, func() {}
		},
		dirs:     nowhere,
		patience: time.Hour,
	}
	return f
}

func (f *fake) run(args ...string) int { return run(args, testApps(), f.console) }

// childEnv makes the test binary be the command, with the test's applications.
const childEnv = "SATIN_PEER_TEST_CHILD"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == computeCommand {
		os.Exit(computing.Main(os.Stdin, os.Stdout))
	}
	if patience := os.Getenv(childEnv); patience != "" {
		c := newConsole()
		c.dirs, c.environ = nowhere, nil // also where somebody has a daemon
		var err error
		if c.patience, err = time.ParseDuration(patience); err != nil {
			panic(err)
		}
		os.Exit(run(os.Args[1:], testApps(), c))
	}
	if other := os.Getenv(replacedEnv); other != "" {
		os.Exit(afterUpgrade(other))
	}
	time.Local = time.UTC // times of day in what is compared

	if err := flag.Set("test.parallel", "8"); err != nil { // they wait, mostly
		panic(err)
	}
	m.Run()
}
