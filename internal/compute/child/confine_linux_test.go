package child_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/porttest"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.Register("child_test.limit", limit)
	satin.Register("child_test.descriptors", descriptors)
	satin.Register("child_test.policy", policy)
}

// policy is the scheduling policy of the thread that runs it.
func policy(*satin.Frame, int) int {
	policy, _, errno := unix.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	if errno != 0 {
		return -1
	}
	return int(policy)
}

// descriptors takes as many open files as it gets, at most n, says which was the last and why it got no more, and gives
// them back.
func descriptors(_ *satin.Frame, n int) string {
	var taken []int
	defer func() {
		for _, fd := range taken {
			_ = unix.Close(fd)
		}
	}()
	for range n {
		fd, err := unix.Dup(0)
		if err != nil {
			return fmt.Sprintf("descriptor %d is the last: %v", slices.Max(taken), err)
		}
		taken = append(taken, fd)
	}
	return "no limit"
}

// limit is how much memory its process may have.
func limit(*satin.Frame, int) int64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &l); err != nil {
		return 0
	}
	return int64(l.Cur)
}

// What is said to be the limit of memory is the one that jobs have.
func TestMemoryLimit(t *testing.T) {
	for _, asked := range []int64{0, 768 << 20} {
		e := start(t, asked)
		ev := run(t, e, "child_test.limit", 0)
		e.Close()
		got := result[int64](t, ev)
		if want, bySystem := child.MemoryLimit(asked); got != want || !bySystem || asked > 0 && want != asked {
			t.Errorf("asked for %d bytes: it has %d, and is said to have %d", asked, got, want)
		}
	}
}

// The jobs of a child run at the lowest priority there is, unless its daemon wants the ordinary one.
func TestLowestPriority(t *testing.T) {
	t.Parallel() // where all cores are busy, what is idle waits
	for idle, want := range map[bool]int{true: unix.SCHED_IDLE, false: unix.SCHED_NORMAL} {
		cfg := porttest.Config()
		cfg.Idle = idle
		e := started(t, child.Config{Compute: cfg})
		ev := run(t, e, "child_test.policy", 0)
		e.Close()
		got := result[int](t, ev)
		if got != want {
			t.Errorf("idle %v: policy %d, want %d", idle, got, want)
		}
	}
}

// A child whose jobs are to yield is a session of its own, which weighs as little as one can beside those of others;
// else it is in its daemon's.
func TestSessionStepsBack(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/autogroup")
	if err != nil {
		t.Skip("this kernel does not weigh sessions")
	}
	for _, idle := range []bool{true, false} {
		cfg := porttest.Config()
		cfg.Idle = idle
		e := started(t, child.Config{Compute: cfg})
		run(t, e, "child_test.policy", 0)
		of := func() string {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", e.PID()))
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		for deadline := time.Now().Add(8 * time.Minute); idle && !strings.HasSuffix(of(), " nice 19\n"); {
			if time.Now().After(deadline) {
				t.Fatalf("its session is %q", of())
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !idle && of() != string(own) {
			t.Errorf("it is in %q, its daemon in %q", of(), own)
		}
		e.Close()
	}
}

// What a terminal tells all of its processes, and timeout all of its group, does not end one whose results the daemon
// is about to hand over.
func TestSignalsOfAGroup(t *testing.T) {
	e := start(t, 0)
	defer e.Close()
	for id, s := range []unix.Signal{0, unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		if err := unix.Kill(e.PID(), s); err != nil {
			t.Fatal(err)
		}
		job := &steal.Job{Function: "child_test.policy", Arg: []byte{0}}
		if ev := endOf(t, e, job, steal.SegmentID(id+1)); ev.Kind != port.Finished {
			t.Fatalf("after signal %v: event %v, %q", s, ev.Kind, ev.Text)
		}
	}
}

// A job gets so many open files and no more, and its process goes on.
func TestOpenFiles(t *testing.T) {
	b, err := wire.Value().Encode(256)
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, 0)
	defer e.Close()
	for id := range steal.SegmentID(2) {
		job := &steal.Job{Function: "child_test.descriptors", Arg: b}
		got := result[string](t, endOf(t, e, job, id+1))
		if want := "descriptor 63 is the last: too many open files"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is said of a kernel that can refuse a part only is so: as if this one could no more, jobs can what is said that
// they can, and nothing else.
func TestProtection(t *testing.T) {
	can := map[string]string{"a file to read": "read files", "a file to write": "write files",
		"a file to write to again": "write files", "a file to empty": "empty files", "another program": "run programs",
		"a TCP connection": "use TCP", "a UDP socket": "use other sockets", "a Unix socket": "use other sockets",
		"a signal to the parent": "signal processes", "a mode to change": "change the modes"}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, as := range []struct {
		landlock int
		calls    bool
		lacks    string
	}{
		{0, false, "this kernel has no Landlock and no seccomp filters"}, {0, true, "this kernel has no Landlock"},
		{1, false, "this kernel has only version 1 of Landlock and no seccomp filters"}, {1, true, ""},
		{3, false, "this kernel has only version 3 of Landlock and no seccomp filters"},
		{4, false, "this kernel has no seccomp filters"}, {4, true, ""},
	} {
		if landlock, calls := child.Kernel(); as.landlock > landlock || as.calls && !calls {
			t.Logf("this kernel has version %d of Landlock, and filters: %v", landlock, calls)
			continue
		}
		text, whole := child.ProtectionAsIf(as.landlock, as.calls)
		if whole != (as.lacks == "") || !strings.HasSuffix(text, as.lacks) {
			t.Errorf("%+v: %q, whole %v", as, text, whole)
		}
		command := []string{exe, "as-if", fmt.Sprint(as.landlock), fmt.Sprint(as.calls)}
		e, err := child.Start(child.Config{Command: command, Compute: porttest.Config()})
		if err != nil {
			t.Fatal(err)
		}
		for what, phrase := range can {
			which := slices.IndexFunc(escapades, func(x escapade) bool { return x.what == what })
			if which < 0 || strings.Contains(text, phrase) && what == "another program" { // it would be gone then
				continue
			}
			if refused, got := tried(t, e, which, dir); refused == strings.Contains(text, phrase) {
				t.Errorf("%+v: %s: %q, and it is said: %s", as, what, got, text)
			}
		}
		e.Close()
	}
}
