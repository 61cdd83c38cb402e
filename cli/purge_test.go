package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/peer/host"
)

// TestPurge: what is not satin-peer's stays, and so does a directory in which no peer ever was.
func TestPurge(t *testing.T) {
	cache := t.TempDir()
	for _, where := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(where, cache)
	}
	write := func(dir string, names ...string) {
		for _, n := range names {
			if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(dir string, args ...string) *fake {
		f := newFake()
		if code := f.run(append([]string{"purge", "--state-dir", dir}, args...)...); code != 0 {
			t.Errorf("exit code %d: %s", code, &f.err)
		}
		return f
	}
	left := func(dir string) string {
		entries, _ := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	home, mixed := t.TempDir(), t.TempDir()
	write(home, "swarm", "letter.txt")
	if f := run(home, "--yes"); left(home) != "letter.txt swarm" || !strings.Contains(f.err.String(), home) {
		t.Errorf("of a home there is left %q; it said %q", left(home), &f.err)
	}
	// The last is what a daemon was writing when it was killed.
	write(mixed, "peer.key", "swarm", dashboard.PrefsFile, "letter.txt", ".new-123")
	if run(mixed); left(mixed) != ".new-123 "+dashboard.PrefsFile+" letter.txt peer.key swarm" {
		t.Errorf("without --yes there is left %q", left(mixed))
	}
	if err := os.MkdirAll(filepath.Join(cacheDir(), "others"), 0o700); err != nil {
		t.Fatal(err)
	}
	if run(mixed, "--yes"); left(mixed) != "letter.txt" || left(filepath.Dir(cacheDir())) != "" {
		t.Errorf("there is left %q, and of modules %q", left(mixed), left(filepath.Dir(cacheDir())))
	}
	t.Chdir(mixed)
	write(mixed, ".lock")
	if f := run(filepath.Join(mixed, "nowhere"), "--yes"); !strings.Contains(f.err.String(), "nothing to remove") {
		t.Errorf("of nothing it said %q", &f.err)
	}
	if left(mixed) != ".lock letter.txt" {
		t.Errorf("where there is no configuration file there is left %q", left(mixed))
	}
}

// Guards a peer whose daemon cannot be asked, as its control socket is elsewhere: nothing is removed under it.
func TestPurgeLooksAtTheLock(t *testing.T) {
	dir := t.TempDir()
	for _, where := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(where, t.TempDir())
	}
	h, err := host.Open(t.Context(), host.Config{StateDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, stateMark)
	purge := func() (code int, said string) {
		f := newFake()
		code = f.run("purge", "--yes", "--state-dir", dir)
		return code, f.err.String()
	}
	if code, said := purge(); code != exitFailed || !strings.Contains(said, "in use") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := os.Stat(key); err != nil {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if code, said := purge(); code != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("nothing was removed")
	}
}
