package control

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// dirEnv makes the test binary a daemon that holds the directory it names, until it is killed.
const dirEnv = "SATIN_CONTROL_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirEnv); dir != "" {
		s, err := Open(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		if err := s.Serve(&fake{status: Status{PID: os.Getpid()}}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	m.Run()
}

// TestDaemons meets a live daemon in another process, which is refused with its process ID, and the dead one
// it is then, whose place is taken.
func TestDaemons(t *testing.T) {
	dir := newDir(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(exe)
	other.Env = append(os.Environ(), dirEnv+"="+dir)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other daemon says %q, %v", line, err)
	}
	var running *RunningError
	if _, err := Open(dir, slog.New(slog.DiscardHandler)); !errors.As(err, &running) ||
		running.PID != other.Process.Pid {
		t.Errorf("got %v, want that process %d has it", err, other.Process.Pid)
	}
	c, err := Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Status(t.Context()); err != nil || s.PID != other.Process.Pid {
		t.Errorf("the live daemon was disturbed: %+v, %v", s, err)
	}
	old := c.token
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if _, err := os.Stat(SocketPath(dir)); err != nil {
		t.Errorf("the dead daemon left no socket: %v", err)
	}
	if _, err := Connect(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("connecting to a dead daemon: %v", err)
	}
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrNotRunning) && !errors.Is(err, ErrUnavailable) {
		t.Errorf("asking a dead daemon: %v", err)
	}
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("the place of a dead daemon: %v", err)
	}
	if s.socket.token == old {
		t.Error("the token of the dead daemon is still good")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Guards that Windows could have written and read who has the directory: it lets nobody touch what is locked, which is
// the first byte, but by the handle that has locked it.
func TestHolderIsBehindTheLock(t *testing.T) {
	dir := newDir(t)
	path := filepath.Join(dir, lockName)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text, err := os.ReadFile(path)
	if err != nil || text[0] != 'x' || holder(path) != os.Getpid() {
		t.Errorf("%q, %v: process %d has it, want %d", text, err, holder(path), os.Getpid())
	}
	if err := os.WriteFile(path, append([]byte("1"), text[1:]...), 0o600); err != nil || holder(path) != os.Getpid() {
		t.Errorf("with another first byte process %d has it, %v", holder(path), err)
	}
	if err := os.WriteFile(path, []byte("1234\n"), 0o600); err != nil || holder(path) != 0 {
		t.Errorf("of a daemon of before: process %d has it, %v", holder(path), err)
	}
}

// Guards that a daemon that is gone is told from one that does not answer on Windows, too, whose codes are its own.
func TestGoneOnWindows(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.Errno(10061))}
	if err := error(refused); !nobodyListens(err) {
		t.Errorf("%v: somebody listens", err)
	}
	for _, code := range []syscall.Errno{10053, 10054} {
		err := (&Client{}).broken(t.Context(), &net.OpError{Op: "read", Err: os.NewSyscallError("wsarecv", code)})
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v: the daemon has not ended", err)
		}
	}
}

// TestModes checks that nobody else can read or connect.
func TestModes(t *testing.T) {
	_, _, dir := serve(t, &fake{})
	for path, want := range map[string]fs.FileMode{dir: 0o700, SocketPath(dir): 0o600, TokenPath(dir): 0o600,
		filepath.Join(dir, lockName): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %04o", path, info.Mode(), err, want)
		}
	}
}

// TestBadDirectories checks that what cannot be a control directory is refused with the fix, and left as it is.
func TestBadDirectories(t *testing.T) {
	home := filepath.Dir(newDir(t))
	open := filepath.Join(home, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{open, "chmod 700"},
		{file, "making the control directory"},
		{filepath.Join(file, "below"), "making the control directory"},
		{filepath.Join(home, strings.Repeat("long", 30)), "set runtime_dir to a shorter one"},
	} {
		if _, err := Open(c.dir, slog.New(slog.DiscardHandler)); err == nil ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: got %v", c.dir, err)
		}
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("somebody's directory was changed: %v, %v", info.Mode(), err)
	}
}

// TestAgain opens, closes and opens again: nothing is left but the lock's file.
func TestAgain(t *testing.T) {
	dir := newDir(t)
	for range 2 {
		s, err := Open(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var running *RunningError
		if _, err := Open(dir, slog.New(slog.DiscardHandler)); !errors.As(err, &running) || running.PID != os.Getpid() {
			t.Errorf("a second one: %v", err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 || left[0].Name() != lockName {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// Guards that a daemon whose directory was removed, and which ends when another one has begun in its place, does not
// take that one's socket and token away: nothing but a signal would reach it.
func TestAnotherInItsPlace(t *testing.T) {
	dir := newDir(t)
	open := func() *Server {
		s, err := Open(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := open()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	second := open()
	if err := first.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if c, err := Connect(dir); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStrangeToken meets a token file that is none of ours.
func TestStrangeToken(t *testing.T) {
	_, _, dir := serve(t, &fake{})
	if err := os.WriteFile(TokenPath(dir), []byte("of another start\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Wait(t.Context(), "ab", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("waiting: got %v", err)
	}
}

// TestLeftSocket checks that a socket file which nobody listens on is no daemon, with a token beside it or without.
func TestLeftSocket(t *testing.T) {
	dir := newDir(t)
	if _, err := Connect(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("no directory: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: SocketPath(dir), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("no token: %v", err)
	}
	if err := os.WriteFile(TokenPath(dir), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a token: %v", err)
	}
}
