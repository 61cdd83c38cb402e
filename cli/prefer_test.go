package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satin-peer/satin/dashboard"
	computing "github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/settings"
)

// Guards that a daemon that runs takes up what an owner changes in its file, and says what it does not.
func TestSettingsAreFollowed(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	code := make(chan int)
	before := newFake()
	before.dirs = f.dirs
	before.run("config", "set", "workers", "1")
	go func() { code <- f.run("start", "--join", "-") }()
	f.connected(t).Close()
	change := func(args ...string) string {
		user := newFake()
		user.dirs = f.dirs
		if got := user.run(args...); got != 0 {
			t.Fatalf("%q: exit code %d, %s", args, got, &user.err)
		}
		for range 3 { // it is seen, is still so, and has been dealt with when the third is taken
			f.ticks <- time.Time{}
		}
		return user.err.String()
	}
	if said := change("config", "set", "workers_here", "0"); !strings.Contains(said, "within two seconds") {
		t.Errorf("said %q", said)
	}
	if said := change("config", "set", "cluster", "home"); !strings.Contains(said, "started again") {
		t.Errorf("said %q", said)
	}
	if said := change("config", "set", "workers", "2"); !strings.Contains(said, "more workers than it was started with") {
		t.Errorf("said %q", said)
	}
	f.caught <- os.Interrupt
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	if told := m.here(); !slices.Contains(told, 0) {
		t.Errorf("the daemon was told of %v cores", told)
	}
	if log := f.err.String(); !strings.Contains(log, "settings=cluster\n") ||
		!strings.Contains(log, `settings="cluster, workers"`) || strings.Contains(log, "settings=join") {
		t.Errorf("the log says\n%s", log)
	}
}

// here are the cores while somebody is at the machine, each time that the peer was told.
func (m *fakeMember) here() (told []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.prefers {
		told = append(told, p.Here)
	}
	return told
}

// Guards that a file of settings counts as it is when nobody writes to it any more, that one with a mistake, or that is
// gone, changes nothing, and that a change is not missed because the daemon was just starting. All texts differ in
// length: files written at once may have one time.
func TestSettingsThatAreBeingWritten(t *testing.T) {
	dirs := home(t)
	file := filepath.Join(dirs.Config, "config.toml")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dirs.Config, 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	load := func() (*settings.Loaded, error) { return settings.Load(settings.Sources{Dirs: dirs}) }
	synctest.Test(t, func(t *testing.T) {
		write("workers_here = 0\n")
		l, err := load()
		if err != nil {
			t.Fatal(err)
		}
		write("workers_here = 10\n")
		var said bytes.Buffer
		m := newFakeMember()
		go followSettings(t.Context(), console{every: everyTick}, m, l, load, slog.New(slog.NewTextHandler(&said, nil)))
		time.Sleep(settingsEvery / 2)
		look := func(times int, want ...int) {
			t.Helper()
			time.Sleep(time.Duration(times) * settingsEvery)
			synctest.Wait()
			if told := m.here(); !slices.Equal(told, want) {
				t.Errorf("the daemon was told of %v cores, want %v", told, want)
			}
		}
		look(3, 10)
		write("workers_here = many\n")
		look(3, 10)
		write("") // as an editor does on its way
		look(1, 10)
		write("workers_here = 2\n")
		look(1, 10)
		look(2, 10, 2)
		write("")
		look(2, 10, 2, preferences.Same)
		write("workers_here = 3 # gone\n")
		look(3, 10, 2, preferences.Same, 3)
		if err := os.RemoveAll(dirs.Config); err != nil {
			t.Fatal(err)
		}
		look(4, 10, 2, preferences.Same, 3)
		write("workers_here = 4\n")
		look(3, 10, 2, preferences.Same, 3, 4)
		if strings.Count(said.String(), "the settings stay as they were") != 2 {
			t.Errorf("the log says\n%s", &said)
		}
	})
}

// Guards the reckoning of a time of the day: it is the next one.
func TestPauseUntil(t *testing.T) {
	now := time.Date(2026, 11, 22, 17, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"18:00": 30 * time.Minute, "17:30": 24 * time.Hour, "06:15": 12*time.Hour + 45*time.Minute,
	} {
		if got, err := untilTime(text, nil, now); err != nil || got != want {
			t.Errorf("until %s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"24:00", "6", "noon", "18:00:00"} {
		if _, err := untilTime(bad, nil, now); err == nil {
			t.Errorf("%q is taken for a time", bad)
		}
	}
	if _, err := untilTime("18:00", []string{"1h"}, now); err == nil {
		t.Error("a time of the day and a duration were both taken")
	}
	m := newFakeMember()
	f := newFake().withDaemon(t, m)
	if got := f.run("pause", "--until", "23:59"); got != 0 || !strings.Contains(f.err.String(), "paused until") {
		t.Errorf("exit code %d, %s", got, &f.err)
	}
	if len(m.asked) != 1 || !strings.HasPrefix(m.asked[0], "pause ") || m.asked[0] == "pause 0s" {
		t.Errorf("asked %q", m.asked)
	}
}

// Guards that the page writes what the owner of the machine says and no other setting, and says what wins over it.
func TestPageWritesTheOwnersSettings(t *testing.T) {
	dirs := home(t)
	path := filepath.Join(dirs.Config, "config.toml")
	f := &ownerFile{dirs, path, func() (*settings.Loaded, error) {
		return settings.Load(settings.Sources{Dirs: dirs, Environ: []string{"SATIN_WORKERS=3"}})
	}}
	if err := f.Prefer("hours", []string{"22:00-06:00"}); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"trust": "open", "workers_here": "many", "": "1", "state_dir": "/tmp"} {
		if err := f.Prefer(name, []string{value}); !errors.Is(err, report.ErrBadInput) {
			t.Errorf("%s = %s: %v", name, value, err)
		}
	}
	list, err := f.Preferences()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]dashboard.Preference{}
	for _, p := range list {
		found[p.Name] = p
	}
	if found["workers"].From != "SATIN_WORKERS" || found["workers"].Values[0] != "3" ||
		found["hours"].Values[0] != "22:00-06:00" || found["hours"].From != "" ||
		found["on_battery"].Kind != "yes_or_no" {
		t.Errorf("the page has %+v", list)
	}
}

// Guards that what the owner of a machine may say is the same in the file, by command and on the page, and that other
// settings are not his: none of the three has one that another lacks.
func TestPreferencesAreTheSameEverywhere(t *testing.T) {
	f := newFake()
	f.dirs = home(t)
	if code := f.run("config", "init"); code != 0 {
		t.Fatalf("exit code %d, %s", code, &f.err)
	}
	path := filepath.Join(f.dirs.Config, "config.toml")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.run("config", "set", "--help")
	help := f.out.String()
	load := func() (*settings.Loaded, error) { return settings.Load(settings.Sources{Dirs: f.dirs}) }
	page := &ownerFile{f.dirs, path, load}
	shown, err := page.Preferences()
	if err != nil {
		t.Fatal(err)
	}
	l, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, v := range l.Values() {
		i := slices.IndexFunc(shown, func(p dashboard.Preference) bool { return p.Name == v.Key })
		f.err.Reset()
		code := f.run("config", "unset", v.Key)
		live := strings.Contains(f.err.String(), "within two seconds")
		if owners := settings.IsOwners(v.Key); code != 0 || live != owners || owners != (i >= 0) {
			t.Errorf("%s: exit code %d, it is the owner's: %v, takes effect at once: %v, is on the page: %v", v.Key, code,
				owners, live, i >= 0)
		}
		if i < 0 {
			continue
		}
		all = append(all, v.Key)
		if !strings.Contains(string(file), "\n# "+v.Key+" = ") || !strings.Contains(help, v.Key) {
			t.Errorf("config init does not write %s, or config set --help does not name it", v.Key)
		}
		if err := page.Prefer(v.Key, shown[i].Values); err != nil || shown[i].About == "" {
			t.Errorf("the page cannot say %s, %+v: %v", v.Key, shown[i], err)
		}
	}
	if !slices.Equal(all, settings.OwnerNames()) {
		t.Errorf("the page has %v, the list is %v", all, settings.OwnerNames())
	}
}

// Guards that what the daemon could not join, or listen on, is refused when it is set, with the setting's name, and
// that the file stays as it was: the daemon would not start again.
func TestPlacesAreLookedAt(t *testing.T) {
	f := newFake()
	f.dirs = home(t)
	for _, c := range []struct{ key, value, want string }{
		{"join", "foo", "join: not a peer's address"},
		{"join", "satin-invite-1:abc", "join: invitation not valid"},
		{"listen", "/ip4/127.0.0.1/tcp/70000", "listen: not a peer's address"},
		{"listen", "/ip4/127.0.0.1/tcp/7000", "written to"},
	} {
		f.err.Reset()
		code := f.run("config", "set", c.key, c.value)
		if said := f.err.String(); (code == 0) != (c.want == "written to") || !strings.Contains(said, c.want) {
			t.Errorf("%s %s: exit code %d, %q", c.key, c.value, code, said)
		}
	}
	f.out.Reset()
	if code := f.run("config"); code != 0 || !strings.Contains(f.out.String(), "\njoin = [] ") {
		t.Errorf("exit code %d\n%s", code, &f.out)
	}
}

// Guards that an executable that could keep the daemon from starting, or that it could not run, is refused when it is
// set, in one line, and that the file stays as it was.
func TestExecutablesAreLookedAt(t *testing.T) {
	if how, whole := computing.Protection(); !whole {
		t.Skip("jobs have none run in " + how)
	}
	dir := t.TempDir()
	script, plain := filepath.Join(dir, "script"), filepath.Join(dir, "plain")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700),
		os.WriteFile(plain, []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.dirs = home(t)
	for _, c := range []struct {
		value, want string
		code        int
	}{
		{"me=" + own, "written to", 0},
		{"it=" + script, "it: " + script + " is a script", 2},
		{"it=" + plain, plain + " is no executable file", 2},
		{"it=" + dir + "/none", "no such file", 2},
		{"it=" + own + "@" + strings.Repeat("0", 64), "has the SHA-256", 2},
		{"it", "want at most 16", 2},
	} {
		f.err.Reset()
		code := f.run("config", "set", "executables", c.value)
		if said := f.err.String(); code != c.code || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", c.value, code, said)
		}
	}
	text, err := os.ReadFile(filepath.Join(f.dirs.Config, "config.toml"))
	if err != nil || !strings.Contains(string(text), "\nexecutables = [\"me="+own+"\"]\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}
