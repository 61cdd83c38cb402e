package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// The daemon that goes on in the background is told all but to go there.
func TestForeground(t *testing.T) {
	got := foreground([]string{"start", "--background", "--workers", "2", "--background=true"})
	if want := []string{"start", "--workers", "2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Guards that a daemon that had no room for its last word, since the disk is full, is not said to have ended for no
// reason: doctor and start --background find a directory that takes files and nothing into them.
func TestNoRoomForALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full, err := os.Open(path) // what is written to it fails
	if err != nil {
		t.Fatal(err)
	}
	if takes(full) == nil {
		t.Error("a file that takes nothing is as good as any")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is left behind")
	}
	l := &settings.Loaded{}
	ended := errors.New("its process has ended")
	if l.StateDir = t.TempDir(); whyNot(l, path, 0, ended) != ended.Error() {
		t.Error("something is wrong with a good directory")
	}
	if l.StateDir = filepath.Join(path, "none"); os.WriteFile(path, nil, 0o600) != nil ||
		!strings.Contains(whyNot(l, "", 0, ended), "state_dir "+l.StateDir+" cannot be used") {
		t.Errorf("it ended since %s", whyNot(l, "", 0, ended))
	}
}

// TestDaemonLog: a log goes on where it ended, a long one is put aside, and the last line is of this life.
func TestDaemonLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	path, file, err := openDaemonLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("old\n"); err != nil {
		t.Fatal(err)
	}
	if got := lastLine(path, 4); got != "" {
		t.Errorf("the last line of nothing is %q", got)
	}
	if _, err := file.WriteString("new\nsatin-peer: why\n"); err != nil {
		t.Fatal(err)
	}
	if got := lastLine(path, 4); got != "why" {
		t.Errorf("the last line is %q", got)
	}
	if err := file.Truncate(maxDaemonLog + 1); err != nil {
		t.Fatal(err)
	}
	running := file // by a daemon that is started again by mistake
	defer running.Close()
	if _, file, err = openDaemonLog(dir); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the new log: %v, %v", info, err)
	}
	if _, err := os.Stat(path + ".1"); err != nil {
		t.Error(err)
	}
	if _, err := running.WriteString("goes on\n"); err != nil || lastLine(path, 0) != "goes on" {
		t.Errorf("the daemon that runs writes to another file, or: %v", err)
	}
}

// TestBackground: a real daemon answers when start --background has returned, and a second one is refused with why.
func TestBackground(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(childEnv, "1s") // the program that is started again is this test
	f := newFake()
	start := []string{"start", "--background", "--state-dir", dir, "--mdns=false", "--nat=false", "--dht=false",
		"--listen", "/ip4/127.0.0.1/tcp/0", "--dashboard", "off"}
	if code := f.run(start...); code != 0 {
		t.Fatalf("exit code %d: %s", code, &f.err)
	}
	d, err := control.Connect(filepath.Join(dir, "control"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !strings.Contains(f.err.String(), "the daemon is ready") {
		t.Errorf("it said %q", &f.err)
	}
	f.out.Reset()
	if code := f.run("invite", "--state-dir", dir); code != 0 {
		t.Fatalf("invite: exit code %d: %s", code, &f.err)
	}
	words := strings.Fields(f.out.String())
	invitation := words[slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "satin-invite-") })]
	for i, want := range []struct {
		code int
		said string
	}{{0, "the daemon is ready"}, {exitFailed, "it was for 1 and is used up"}} {
		f.err.Reset()
		other := append(slices.Clone(start), "--join", invitation)
		other[3] = filepath.Join(t.TempDir(), "state")
		if code := f.run(other...); code != want.code || !strings.Contains(f.err.String(), want.said) {
			t.Errorf("the %d. that uses an invitation: exit code %d: %s", i+1, code, &f.err)
		}
		if want.code == 0 {
			defer f.run("leave", "--state-dir", other[3])
		}
	}
	f.err.Reset()
	if code := f.run("purge", "--yes", "--state-dir", dir); code != exitFailed ||
		!strings.Contains(f.err.String(), "a daemon is running there") {
		t.Errorf("purge beside a daemon: exit code %d, %q", code, &f.err)
	}
	f.err.Reset()
	if code := f.run(start...); code != exitFailed || !strings.Contains(f.err.String(), "is running already") &&
		!strings.Contains(f.err.String(), "a second one needs another --state-dir") {
		t.Errorf("a second one: exit code %d, %q", code, &f.err)
	}
	if code := f.run("leave", "--state-dir", dir); code != 0 {
		t.Errorf("leave: exit code %d: %s", code, &f.err)
	}
	if code := f.run("purge", "--yes", "--state-dir", dir); code != 0 {
		t.Errorf("purge: exit code %d: %s", code, &f.err)
	}
	if entries, err := os.ReadDir(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after purge there is left: %v, %v", entries, err)
	}
}

// TestDaemonIsAwaited: a command that needs a daemon looks again while one may be starting, and then says that there is
// none.
func TestDaemonIsAwaited(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	user := newFake()
	user.dirs, user.daemonTicks = f.dirs, 3
	code := make(chan int)
	go func() { code <- user.run("invite") }()
	user.ticks <- time.Time{} // it has looked once, in vain
	daemon := make(chan int)
	go func() { daemon <- f.run("start") }()
	f.connected(t).Close()
	user.ticks <- time.Time{}
	if got := <-code; got != 0 || !strings.Contains(user.out.String(), "satin-peer join ") {
		t.Errorf("exit code %d, %q, %q", got, &user.out, &user.err)
	}
	f.caught <- os.Interrupt
	<-daemon
	go func() { code <- user.run("status") }()
	for range user.daemonTicks {
		user.ticks <- time.Time{}
	}
	if got := <-code; got != exitFailed || !strings.Contains(user.err.String(), "no daemon is running") {
		t.Errorf("without one: exit code %d, %q", got, &user.err)
	}
}

// TestBrowser: a link is printed, and opened if somebody typed the command and did not ask for it only to be printed.
func TestBrowser(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	code := make(chan int)
	go func() { code <- f.run("start") }()
	f.connected(t).Close()
	for _, c := range []struct {
		shows  bool
		args   []string
		opened int
	}{
		{true, []string{"dashboard"}, 1},
		{true, []string{"dashboard", "--print"}, 0},
		{false, []string{"dashboard"}, 0},
	} {
		user := newFake()
		user.dirs, user.shows = f.dirs, c.shows
		var opened []string
		user.browse = func(link string) error {
			opened = append(opened, link)
			return os.ErrNotExist
		}
		for user.run(c.args...) != 0 { // the control socket is there first
			if !strings.Contains(user.err.String(), "no dashboard is running") {
				t.Fatal(user.err.String())
			}
			user.err.Reset()
		}
		if len(opened) != c.opened || c.opened > 0 && opened[0]+"\n" != user.out.String() {
			t.Errorf("%q: opened %q, printed %q", c.args, opened, &user.out)
		}
		if got := strings.Contains(user.err.String(), "open it in a browser"); got != (c.opened > 0) {
			t.Errorf("%q: it said %q", c.args, &user.err)
		}
	}
	f.caught <- os.Interrupt
	<-code
}
