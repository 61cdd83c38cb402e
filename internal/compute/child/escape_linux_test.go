package child_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.Register("child_test.escape", escape)
	satin.Register("child_test.itself", itself)
	for _, r := range reaching {
		escapades = append(escapades, escapade{r.what + " its parent",
			func(string) error { return r.try(unix.Getppid()) }})
	}
}

// An escapade is what a job that has left its sandbox might try, and what says whether it came through.
type escapade struct {
	what string
	try  func(dir string) error
}

var escapades = []escapade{
	{"a TCP socket", socket(unix.AF_INET, unix.SOCK_STREAM)},
	{"a UDP socket", socket(unix.AF_INET, unix.SOCK_DGRAM)},
	{"a Unix socket", socket(unix.AF_UNIX, unix.SOCK_STREAM)},
	{"a socket of the kernel's", socket(unix.AF_NETLINK, unix.SOCK_RAW)},
	{"another program", func(string) error {
		at, err := unix.BytePtrFromString("/proc/self/exe")
		if err != nil {
			return nil
		}
		_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(at)), 0, 0)
		return given(errno)
	}},
	{"another process", func(string) error {
		_, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return given(errno)
	}},
	{"a signal to the parent", func(string) error { return unix.Kill(unix.Getppid(), 0) }},
	{"the parent's memory", func(string) error { return unix.PtraceAttach(unix.Getppid()) }},
	{"io_uring", func(string) error {
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		return given(errno)
	}},
	{"a namespace", func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
	{"a file to read", func(string) error {
		_, err := os.ReadFile("/etc/passwd")
		return err
	}},
	{"a file to write", func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o666) }},
	{"a file to write to again", func(dir string) error {
		f, err := os.OpenFile(filepath.Join(dir, "old"), os.O_RDWR, 0)
		if err == nil {
			_ = f.Close()
		}
		return err
	}},
	{"a file to remove", func(dir string) error { return os.Remove(filepath.Join(dir, "old")) }},
	{"a file to empty", func(dir string) error { return unix.Truncate(filepath.Join(dir, "old"), 0) }},
	{"a TCP connection", func(string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{"a file to rename", func(dir string) error {
		return os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "other"))
	}},
	{"memory that no limit counts", memory(unix.MAP_SHARED)},
	{"a stack that no limit counts", memory(unix.MAP_PRIVATE | unix.MAP_GROWSDOWN)},
	{"a file in memory", func(string) error {
		fd, err := unix.MemfdCreate("x", 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	}},
	{"a life beyond the parent's", func(string) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
	{"a mode to change", func(dir string) error { return os.Chmod(filepath.Join(dir, "old"), 0o777) }},
}

// reaching are what a process may do to others of the same user. None of it changes anything here.
var reaching = []struct {
	what string
	try  func(pid int) error
}{
	{"to signal", func(pid int) error { return unix.Tgkill(pid, pid, 0) }},
	{"to have a pipe signal", func(pid int) error {
		_, err := unix.FcntlInt(1, unix.F_SETOWN, pid)
		return err
	}},
	{"to limit", func(pid int) error { return unix.Prlimit(pid, unix.RLIMIT_CORE, nil, new(unix.Rlimit)) }},
	{"to move", func(pid int) error {
		var all unix.CPUSet
		if err := unix.SchedGetaffinity(pid, &all); err != nil {
			return err
		}
		return unix.SchedSetaffinity(pid, &all)
	}},
	{"to put back", func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 0) }},
	{"to put back all of its user with", func(int) error { return unix.Setpriority(unix.PRIO_USER, 0, 0) }},
	{"to schedule", func(pid int) error {
		a, err := unix.SchedGetAttr(pid, 0)
		if err != nil {
			return err
		}
		return unix.SchedSetAttr(pid, a, 0)
	}},
	{"to slow down the disks of", func(pid int) error {
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, 1, uintptr(pid), 0)
		return given(errno)
	}},
}

// itself says what a process may not do to itself of what it needs: Go's runtime signals its threads, and workers have
// priorities.
func itself(*satin.Frame, int) string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := unix.Tgkill(unix.Getpid(), unix.Gettid(), 0)
	for _, r := range reaching {
		switch r.what {
		case "to limit", "to put back", "to schedule":
			err = errors.Join(err, r.try(0))
		}
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func socket(family, kind int) func(string) error {
	return func(string) error {
		fd, err := unix.Socket(family, kind, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
}

func memory(kind int) func(string) error {
	return func(string) error {
		b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, kind|unix.MAP_ANON)
		if err == nil {
			err = unix.Munmap(b)
		}
		return err
	}
}

func given(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// An attempt is one of them, in a folder that the process might write to.
type attempt struct {
	Try int
	Dir string
}

// escape gives what came of an attempt.
func escape(_ *satin.Frame, a attempt) string {
	if err := escapades[a.Try].try(a.Dir); err != nil {
		return err.Error()
	}
	return ""
}

// tried has a job try something, and says whether the kernel has refused it.
func tried(t *testing.T, e *child.Engine, which int, dir string) (refused bool, got string) {
	t.Helper()
	b, err := wire.Value().Encode(attempt{which, dir})
	if err != nil {
		t.Fatal(err)
	}
	got = result[string](t, end(t, e, &steal.Job{Function: "child_test.escape", Arg: b}))
	return strings.Contains(got, "not permitted") || strings.Contains(got, "permission denied"), got
}

// Whatever a job tries that has left its sandbox, the kernel refuses it: no socket, no program, no file.
func TestEscapes(t *testing.T) {
	_, whole := child.Protection()
	if !whole {
		t.Skip("this kernel cannot refuse all of it")
	}
	dir := t.TempDir() // where it keeps its compiled module, which is the one place that Landlock leaves it
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := readFile(t, "examples/queens-c/queens.wasm")
	e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin, Cache: dir}, nil)
	if files, err := filepath.Glob(filepath.Join(dir, "wazero*")); err != nil || len(files) > 0 {
		t.Fatal(files, err)
	}
	for i, c := range escapades {
		if refused, said := tried(t, e, i, dir); !refused {
			t.Errorf("%s: %q", c.what, said)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "wazero*")); err != nil || len(files) == 0 {
		t.Error("it could not keep its compiled module, so this test saw nothing", err)
	}
	if bad := result[string](t, run(t, e, "child_test.itself", 0)); bad != "" {
		t.Errorf("it may not do what it has to: %s", bad)
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
}
