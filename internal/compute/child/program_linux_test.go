package child_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/porttest"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// The executable is this test's own file, with these words first.
const beForeign = "foreign"

// foreign does what a program does that nobody has written for this, or against it.
func foreign(args []string) int {
	failed := func(err error) int {
		fmt.Println(err)
		return 0
	}
	switch args[0] {
	case "upper":
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return failed(err)
		}
		fmt.Print(strings.ToUpper(string(b)), args[1:], os.Environ())
	case "fork":
		began := 0
		for range 200 {
			if _, err := syscall.ForkExec("/proc/self/exe", []string{"x"}, nil); err == nil {
				began++
			}
			if pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0); errno == 0 {
				if began++; pid == 0 {
					os.Exit(0)
				}
			}
		}
		fmt.Print(began)
	case "write":
		return failed(os.WriteFile(filepath.Join(args[1], "new"), []byte("x"), 0o666))
	case "remove":
		return failed(os.Remove(filepath.Join(args[1], "old")))
	case "read":
		_, err := os.ReadFile(filepath.Join(args[1], "old"))
		return failed(err)
	case "connect":
		_, err := net.Dial("tcp", args[1])
		return failed(err)
	case "kill":
		return failed(unix.Kill(unix.Getppid(), unix.SIGKILL))
	case "share":
		_, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		return failed(err)
	case "pour":
		most, _ := strconv.Atoi(args[1])
		for b := make([]byte, 1<<20); most > 0; most -= len(b) {
			if _, err := os.Stdout.Write(b[:min(most, len(b))]); err != nil {
				return 1
			}
		}
	case "eat":
		all := map[int][]byte{}
		for {
			all[len(all)] = bytes.Repeat([]byte{1}, 16<<20)
		}
	case "fail":
		fmt.Fprintln(os.Stderr, "first\nlast words")
		return 3
	case "deaf":
		fmt.Print(signal.Ignored(os.Interrupt), signal.Ignored(syscall.SIGHUP)) // Go looks at no other
	case "spin":
		time.Sleep(time.Hour)
	case "work":
		times, _ := strconv.Atoi(args[1])
		for cputime.Used() < time.Duration(times)*programWork {
		}
	}
	return 0
}

func init() {
	if len(os.Args) > 2 && os.Args[1] == beForeign {
		os.Exit(foreign(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "daemon" {
		fmt.Println(beDaemon(os.Args[2]))
		os.Exit(1)
	}
	satin.Register("child_test.foreign", haveForeign)
	if len(os.Args) > 1 && os.Args[1] == "elsewhere" { // a child on another thread than the first, which is this one
		go func() {
			runtime.LockOSThread()
			os.Exit(child.Main(os.Stdin, os.Stdout))
		}()
		select {}
	}
}

// Call is what a job has run.
type Call struct {
	Name  string
	Input []byte
	Args  []string
}

func haveForeign(f *satin.Frame, c Call) string {
	out, err := satin.Exec(f, c.Name, c.Input, append([]string{beForeign}, c.Args...)...)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(out)
}

// ownProgram is this file as a program.
func ownProgram(t *testing.T) (exe string, own child.Program) {
	t.Helper()
	if _, whole := child.Protection(); !whole {
		t.Skip("this kernel cannot keep an executable from files")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := child.HashProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	return exe, child.Program{Name: "tool", Path: exe, Hash: hash}
}

// withPrograms starts an engine that may run this file as "tool", and another as "other"; if it is idle, behind all
// else.
func withPrograms(t *testing.T, other child.Program, idle bool) *child.Engine {
	t.Helper()
	exe, own := ownProgram(t)
	cfg := porttest.Config()
	cfg.Workers, cfg.Idle = 2, idle
	e, err := child.Start(child.Config{Command: []string{exe, "compute"}, Compute: cfg, Memory: 512 << 20,
		Programs: []child.Program{own, other}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func call(t *testing.T, c Call) *steal.Job {
	t.Helper()
	b, err := wire.Value().Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return &steal.Job{Function: "child_test.foreign", Arg: b}
}

// An executable gets its input and its arguments, and nothing else: whatever it tries is refused or bounded, and its
// job is told in one line.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := withPrograms(t, child.Program{}, false)
	for i, c := range []struct {
		name string
		args []string
		want string
	}{
		{"tool", []string{"upper", "a b", "c"}, "INPUT[a b c] [LC_ALL=C TZ=UTC]"},
		{"tool", []string{"fork"}, "0"},
		{"tool", []string{"write", dir}, "open " + dir + "/new: operation not permitted\n"},
		{"tool", []string{"remove", dir}, "remove " + dir + "/old: operation not permitted\n"},
		{"tool", []string{"read", dir}, "open " + dir + "/old: permission denied\n"},
		{"tool", []string{"connect", l.Addr().String()},
			"dial tcp " + l.Addr().String() + ": socket: operation not permitted\n"},
		{"tool", []string{"kill"}, "operation not permitted\n"},
		{"tool", []string{"share"}, "operation not permitted\n"},
		{"tool", []string{"deaf"}, "true true"},
		{"tool", []string{"pour", fmt.Sprint(1 << 30)}, `error: executable "tool": it wrote more than 16777216 bytes`},
		{"tool", []string{"pour", fmt.Sprint(16<<20 + 1)}, `error: executable "tool": it wrote more than 16777216 bytes`},
		{"tool", []string{"eat"}, "out of memory"},
		{"tool", []string{"fail"}, `error: executable "tool": exit status 3: last words`},
		{"tool", []string{strings.Repeat("x", 70000)},
			`error: executable "tool": 2 arguments and 5 bytes of input are more than 65536 bytes and 16777216`},
		{"hammer", []string{"upper"}, `error: executable "hammer" is none of this run: its application names those that ` +
			`its jobs need`},
	} {
		ev := endOf(t, e, call(t, Call{c.name, []byte("input"), c.args}), steal.SegmentID(i+1))
		if got := result[string](t, ev); got != c.want && !(c.args[0] == "eat" && strings.Contains(got, c.want)) {
			t.Errorf("%s %.40q: %.200q, want %q", c.name, c.args, got, c.want)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are there now", len(files))
	}
}

// tool finds the process that runs as a program named so with these words; 0 if there is none.
func tool(words ...string) int {
	want := strings.Join(append([]string{"tool", beForeign}, words...), "\x00") + "\x00"
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		if b, _ := os.ReadFile(name); string(b) == want {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			return pid
		}
	}
	return 0
}

// eventually asks now and then: to look at all processes is work, and an idle one may wait for a core for seconds.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(8 * time.Minute); !so(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("never: %s", what)
		}
	}
}

// spin has a program run that does not end, and gives its process.
func spin(t *testing.T, e *child.Engine, id steal.SegmentID, mark string) (pid int) {
	t.Helper()
	e.Do(&port.Order{Kind: port.Run, Segment: id, Job: call(t, Call{Name: "tool", Args: []string{"spin", mark}})})
	eventually(t, "it begins", func() bool {
		e.Poll()
		pid = tool("spin", mark)
		return pid != 0
	})
	return pid
}

// One that never ends does so when its job is not wanted any more, and when its engine is closed.
func TestProgramEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	mark := fmt.Sprint(os.Getpid())
	e := withPrograms(t, child.Program{}, false)
	e.Do(&port.Order{Kind: port.Cores, Max: 2})
	spin(t, e, 1, mark+"a")
	spin(t, e, 2, mark+"b")
	e.Do(&port.Order{Kind: port.Abort, Segment: 1})
	eventually(t, "the one that was aborted ends", func() bool {
		e.Poll()
		return tool("spin", mark+"a") == 0
	})
	if tool("spin", mark+"b") == 0 {
		t.Error("the other has ended, too")
	}
	e.Close()
	if tool("spin", mark+"b") != 0 {
		t.Error("it outlives its engine")
	}
}

// Executables of idle workers have the lowest priority too, and weigh as little as their session can.
func TestProgramsStepBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	for policy, idle := range map[uint32]bool{unix.SCHED_IDLE: true, unix.SCHED_NORMAL: false} {
		e := withPrograms(t, child.Program{}, idle)
		e.Do(&port.Order{Kind: port.Cores, Max: 1})
		pid := spin(t, e, 1, fmt.Sprint(os.Getpid(), idle))
		attr, err := unix.SchedGetAttr(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		if attr.Policy != policy {
			t.Errorf("idle %v: its policy is %d, want %d", idle, attr.Policy, policy)
		}
		session := fmt.Sprintf("/proc/%d/autogroup", pid)
		if _, err := os.Stat(session); idle && err == nil {
			eventually(t, "its session steps back", func() bool {
				b, _ := os.ReadFile(session)
				return strings.HasSuffix(string(b), " nice 19\n")
			})
		}
		e.Close()
	}
}

// beDaemon is a process that has a job have a program run which does not end, and waits.
func beDaemon(mark string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	hash, err := child.HashProgram(exe)
	if err != nil {
		return err
	}
	cfg := porttest.Config()
	e, err := child.Start(child.Config{Command: []string{exe, "elsewhere"}, Compute: cfg, Memory: 512 << 20,
		Programs: []child.Program{{Name: "tool", Path: exe, Hash: hash}}})
	if err != nil {
		return err
	}
	arg, err := wire.Value().Encode(Call{Name: "tool", Args: []string{"spin", mark}})
	if err != nil {
		return err
	}
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &steal.Job{Function: "child_test.foreign", Arg: arg}})
	go func() {
		for range e.Bell() {
			e.Poll()
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin) // if nobody kills it
	return err
}

// When a daemon is killed its processes end: the one that computes, and the program that a job has run.
func TestAllEndWithTheDaemon(t *testing.T) {
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	exe, _ := ownProgram(t)
	mark := fmt.Sprint(os.Getpid(), "daemon")
	daemon := exec.Command(exe, "daemon", mark)
	if _, err := daemon.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program begins", func() bool { return tool("spin", mark) != 0 })
	var list []string
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", daemon.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, _ := os.ReadFile(file) // or its thread is gone
		list = append(list, strings.Fields(string(b))...)
	}
	if len(list) != 2 {
		t.Errorf("it has the processes %v, want one that computes and the program", list)
	}
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait()
	for _, pid := range list {
		eventually(t, "process "+pid+" ends", func() bool {
			b, _ := os.ReadFile("/proc/" + pid + "/cmdline") // empty, too, if nobody has waited for it yet
			return len(b) == 0
		})
	}
}

// A file that is not any more what its owner has allowed is not run, and it is this machine that is at fault: the job
// is for others.
func TestProgramChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	file := filepath.Join(t.TempDir(), "other")
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, own, 0o700); err != nil {
		t.Fatal(err)
	}
	hash, err := child.HashProgram(file)
	if err != nil {
		t.Fatal(err)
	}
	e := withPrograms(t, child.Program{Name: "other", Path: file, Hash: hash}, false)
	upper := call(t, Call{"other", []byte("x"), []string{"upper"}})
	if got := result[string](t, end(t, e, upper)); !strings.HasPrefix(got, "X") {
		t.Error(got)
	}
	if err := os.WriteFile(file, append(own, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	ev := endOf(t, e, upper, 2)
	const want = `the process that computes died: executable "other": its file is not what was allowed any more`
	if ev.Kind != port.Died || ev.Good || ev.Text != want {
		t.Errorf("%v, %v, %q", ev.Kind, ev.Good, ev.Text)
	}
	for _, bad := range []string{"/", file + "x", "program_linux_test.go"} {
		if _, err := child.HashProgram(bad); err == nil {
			t.Errorf("%s may be run", bad)
		}
	}
}

// Without a daemon jobs of a pool have the same executables, in the same sandbox, and one ends with its run.
func TestProgramsOfAPool(t *testing.T) {
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	exe, own := ownProgram(t)
	p, err := satin.NewPool(satin.Config{Workers: 1,
		Exec: child.Executor([]string{exe, "compute"}, 512<<20, []child.Program{own})})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{"X[a] [LC_ALL=C TZ=UTC]", "upper", "a"},
		{"open /new: operation not permitted\n", "write", "/"}} {
		got, err := satin.Run(t.Context(), p, haveForeign, Call{"tool", []byte("x"), c[1:]})
		if err != nil || got != c[0] {
			t.Errorf("%s: %q, %v", c, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mark := fmt.Sprint(os.Getpid(), "pool")
	ended := make(chan error, 1)
	go func() {
		_, err := satin.Run(ctx, p, haveForeign, Call{Name: "tool", Args: []string{"spin", mark}})
		ended <- err
	}()
	eventually(t, "it begins", func() bool { return tool("spin", mark) != 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, "it ends with its run", func() bool { return tool("spin", mark) == 0 })
	p.Close() // not after a failure: it would wait for the program
}

// BenchmarkProgram has a small executable run again and again, as a job has it: what one call takes on top of what
// the executable does (make bench-take). SATIN_BENCH_COMMAND is the command that becomes it; by default this test,
// which starts sooner than satin-peer. cpu-ms is the processor time of all processes.
func BenchmarkProgram(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip(err)
	}
	hash, err := child.HashProgram(path)
	if err != nil {
		b.Fatal(err)
	}
	command := strings.Fields(os.Getenv("SATIN_BENCH_COMMAND"))
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		command = []string{self, "compute"}
	}
	run := child.Executor(command, 0, []child.Program{{Name: "true", Path: path, Hash: hash}})
	before := cpuTime()
	for b.Loop() {
		if _, err := run("true", nil, nil, func() bool { return false }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuTime()-before).Seconds()*1e3/float64(b.N), "cpu-ms/op")
}

// cpuTime is that of this process and of those that it has waited for.
func cpuTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			panic(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
