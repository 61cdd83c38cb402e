package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/settings"
)

// Guards that what an owner changes in the file of a daemon that runs is in force, and that a mistake changes nothing.
func TestSettingsAreFollowed(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	code := make(chan int)
	go func() { code <- f.run("start") }()
	f.connected(t).Close()
	look := func() { // the file is seen, is still so, and has been dealt with
		for range 3 {
			f.ticks <- time.Time{}
		}
	}
	change := func(args ...string) string {
		user := newFake()
		user.dirs = f.dirs
		if got := user.run(args...); got != 0 {
			t.Fatalf("%q: exit code %d, %s", args, got, &user.err)
		}
		look()
		return user.err.String()
	}
	if said := change("config", "set", "workers_here", "0"); !strings.Contains(said, "within two seconds") {
		t.Errorf("said %q", said)
	}
	if said := change("config", "set", "cluster", "home"); !strings.Contains(said, "started again") {
		t.Errorf("said %q", said)
	}
	file := filepath.Join(f.dirs.Config, "config.toml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(good, "workers_here = many\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	look()
	if err := os.WriteFile(file, nil, 0o644); err != nil { // as an editor does on its way
		t.Fatal(err)
	}
	f.ticks <- time.Time{}
	if err := os.WriteFile(file, good, 0o644); err != nil {
		t.Fatal(err)
	}
	change("config", "set", "workers_here", "1")
	f.caught <- os.Interrupt
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var here []int
	for _, p := range m.prefers {
		here = append(here, p.Here)
	}
	// it may look at a file twice that changes meanwhile
	if told := slices.Compact(slices.Clone(here)); !slices.Equal(told, []int{0, 1}) {
		t.Errorf("the daemon was told of %v cores", here)
	}
	if log := f.err.String(); strings.Count(log, "the settings stay as they were") != 1 ||
		!strings.Contains(log, "settings=cluster") {
		t.Errorf("the log says\n%s", log)
	}
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
	if len(list) != 13 || found["workers"].From != "SATIN_WORKERS" || found["workers"].Values[0] != "3" ||
		found["hours"].Values[0] != "22:00-06:00" || found["hours"].From != "" ||
		found["on_battery"].Kind != "yes_or_no" {
		t.Errorf("the page has %+v", list)
	}
}
