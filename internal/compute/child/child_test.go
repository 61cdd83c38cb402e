package child_test

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/porttest"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.Register("child_test.deep", deep)
	satin.Register("child_test.fat", fat)
	satin.Register("child_test.reach", reach)
	satin.Register("child_test.say", say)
}

// TestMain is a child, if it is told so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compute" {
		os.Exit(child.Main(os.Stdin, os.Stdout))
	}
	if len(os.Args) > 3 && os.Args[1] == "as-if" {
		os.Exit(child.MainAsIf(os.Stdin, os.Stdout, os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// deep is a recursion that no stack is deep enough for.
func deep(f *satin.Frame, n int) int {
	if n == 0 {
		return 0
	}
	return deep(f, n-1) + 1
}

// fat takes memory until there is none.
func fat(f *satin.Frame, n int) int {
	var all [][]byte
	for range n {
		all = append(all, make([]byte, 16<<20))
	}
	return len(all)
}

// reach says what a job can reach: 1 a file, 2 a listener at a port, 4 something in its environment.
func reach(_ *satin.Frame, port int) (n int) {
	if _, err := os.ReadFile("/etc/passwd"); err == nil {
		n |= 1
	}
	if c, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}); err == nil {
		_ = c.Close()
		n |= 2
	}
	if os.Getenv("CHILD_TEST_SECRET") != "" {
		n |= 4
	}
	return n
}

// say says something to whoever reads it.
func say(_ *satin.Frame, n int) int {
	fmt.Println("a job is here with", n)
	return 0
}

func start(t testing.TB, memory int64) *child.Engine {
	t.Helper()
	return started(t, child.Config{Compute: porttest.Config(), Memory: memory})
}

// started is an engine in a process of this program.
func started(t testing.TB, cfg child.Config) *child.Engine {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Command = []string{exe, "compute"}
	e, err := child.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// An engine in a process of its own does what one in this process does.
func TestPort(t *testing.T) {
	porttest.Run(t, func(t *testing.T) port.Live { return start(t, 0) })
}

// run has one job run and gives the first of its end, as an outcome, and the engine's.
func run(t testing.TB, e *child.Engine, fn string, arg int) port.Event {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	return end(t, e, &steal.Job{Function: fn, Arg: b})
}

// result is what a job gave.
func result[T any](t testing.TB, ev port.Event) (value T) {
	t.Helper()
	var o compute.Outcome
	if err := wire.Value().Decode(ev.Outcome, &o); err != nil {
		t.Fatal(ev.Text, err)
	}
	if err := wire.Value().Decode(o.Value, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// outOfMemory is what Go's runtime says in a process that has come to its limit, wherever that met it.
var outOfMemory = regexp.MustCompile("memory|segmentation violation|pthread_create failed")

// Whatever kills a child, its parent lives and is told why.
func TestDeath(t *testing.T) {
	if testing.Short() {
		t.Skip("make race runs the short tests, and its detector needs more memory than the limits here leave")
	}
	for _, c := range []struct {
		fn     string
		arg    int
		memory int64
		why    *regexp.Regexp
	}{
		{"child_test.deep", 1_000_000_000, 512 << 20, regexp.MustCompile("stack overflow")},
		{"child_test.fat", 1 << 20, 512 << 20, outOfMemory},
	} {
		e := start(t, c.memory)
		if ev := run(t, e, c.fn, c.arg); ev.Kind != port.Died || !c.why.MatchString(ev.Text) {
			t.Errorf("%s: event %v, %q, want %s", c.fn, ev.Kind, ev.Text, c.why)
		}
		if more, _ := e.Poll(); len(more) != 0 {
			t.Errorf("%s: after the death comes %+v", c.fn, more)
		}
		e.Close()
	}
}

// A child that ends before it has read its task has died, as at any other time.
func TestDeathAtTheStart(t *testing.T) {
	cfg := porttest.Config()
	cfg.Self = strings.Repeat("p", 200<<10) // more than a pipe holds
	e, err := child.Start(child.Config{Command: []string{"/bin/sh", "-c", "echo why >&2; exit 3"}, Compute: cfg})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if ev := run(t, e, "child_test.say", 7); ev.Kind != port.Died || !strings.Contains(ev.Text, "exit status 3: why") {
		t.Errorf("event %v, %q", ev.Kind, ev.Text)
	}
}

// A job has neither the files nor the network nor the environment of the process that started its own.
func TestConfined(t *testing.T) {
	t.Setenv("CHILD_TEST_SECRET", "key")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := start(t, 0)
	defer e.Close()
	got := result[int](t, run(t, e, "child_test.reach", l.Addr().(*net.TCPAddr).Port))
	text, whole := child.Protection()
	t.Log(text)
	if got&4 != 0 || whole && got != 0 {
		t.Errorf("a job reaches %b, with %s", got, text)
	}
}

// What a job prints is heard on the other side.
func TestLog(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	e, err := child.Start(child.Config{Command: []string{exe, "compute"}, Compute: porttest.Config(),
		Log: func(line string) { heard <- line }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run(t, e, "child_test.say", 7)
	if line := <-heard; line != "a job is here with 7" {
		t.Errorf("%q", line)
	}
}

// A program that is not there cannot be started, and says so.
func TestNoProgram(t *testing.T) {
	if _, err := child.Start(child.Config{Command: []string{"/nonexistent/program"}}); err == nil {
		t.Error("it was started")
	}
}
