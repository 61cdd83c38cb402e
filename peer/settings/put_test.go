package settings

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Guards a user's own file: one line of it changes, and nothing is lost.
func TestPut(t *testing.T) {
	const own = "# mine\nworkers = 3 # of four\n\n# hours = []\njoin = [\n  \"/ip4/1.2.3.4/tcp/1/p2p/x\",\n]\n"
	for _, c := range []struct {
		name, key string
		values    []string
		want      string // "": an error
	}{
		{"in place", "workers", []string{"2"}, strings.Replace(own, "workers = 3 # of four", "workers = 2", 1)},
		{"after its explanation", "hours", []string{"22:00-06:00", "sat/00:00-24:00"},
			strings.Replace(own, "# hours = []\n", "# hours = []\nhours = [\"22:00-06:00\", \"sat/00:00-24:00\"]\n", 1)},
		{"at the end", "cluster", []string{"home"}, own + "cluster = \"home\"\n"},
		{"out", "workers", nil, strings.Replace(own, "workers = 3 # of four\n", "", 1)},
		{"out though not in", "cluster", nil, own},
		{"over several lines", "join", []string{"/ip4/1.2.3.4/tcp/2/p2p/x"}, ""},
		{"no such value", "workers", []string{"-3"}, ""},
		{"two values", "workers", []string{"1", "2"}, ""},
		{"no such hours", "hours", []string{"at night"}, ""},
		{"no such key", "worker", []string{"1"}, ""},
		{"what a file may not have", "state_dir", []string{"here"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
				t.Fatal(err)
			}
			err := Put(path, Dirs{State: "/s"}, c.key, c.values)
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			switch {
			case c.want == "" && err == nil:
				t.Fatalf("it was written:\n%s", got)
			case c.want == "" && string(got) != own:
				t.Fatalf("refused (%v), and changed:\n%s", err, got)
			case c.want != "" && (err != nil || string(got) != c.want):
				t.Fatalf("%v:\n%s", err, got)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file's mode is %v, %v", info.Mode(), err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("yield_to = [\"\"\"\n# hours = []\n\"\"\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Put(path, Dirs{State: "/s"}, "hours", []string{"22:00-06:00"}); err == nil {
		t.Error("it was written into another's text")
	}
}

// A wrong value can be put right, or taken out, by the command that writes settings; others wait until it is.
func TestPutRight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	put := func(name string, values ...string) (string, error) {
		if err := os.WriteFile(path, []byte("workers = \"many\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Put(path, Dirs{State: "/s"}, name, values)
		text, _ := os.ReadFile(path)
		return string(text), err
	}
	for want, values := range map[string][]string{"workers = 2\n": {"2"}, "\n": nil} {
		if got, err := put("workers", values...); err != nil || got != want {
			t.Errorf("%q: %q, %v", values, got, err)
		}
	}
	if got, err := put("cluster", "home"); err == nil {
		t.Errorf("written beside a mistake: %q", got)
	}
}

// Of several settings that are put at once none is lost, though there was no file before.
func TestPutAtOnce(t *testing.T) {
	dirs := Dirs{State: "/s", Config: t.TempDir()}
	path := filepath.Join(dirs.Config, "new", "config.toml")
	all := map[string]string{"workers": "2", "workers_here": "1", "cluster": "home", "away_after": "90s", "hours": "22:00-06:00"}
	var done sync.WaitGroup
	for name, value := range all {
		done.Go(func() {
			if err := Put(path, dirs, name, []string{value}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	done.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if !strings.Contains(string(text), "\n"+name+" = ") {
			t.Errorf("%s is lost", name)
		}
	}
}

// Every setting can be put into a file that explains them all, and is read from it as it was given.
func TestPutEverySetting(t *testing.T) {
	dirs := Dirs{State: "/s", Config: t.TempDir()}
	path := filepath.Join(dirs.Config, "config.toml")
	for _, k := range keys() {
		s := Defaults(dirs)
		values := strings.Fields(strings.Trim(strings.ReplaceAll(k.text(&s), `", "`, " "), `[]"`))
		if len(values) == 0 {
			continue
		}
		if err := Put(path, dirs, k.name, values); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
	}
	if err := Put(path, dirs, "yield_to", []string{"blender", "two words.exe"}); err != nil {
		t.Fatal(err)
	}
	if err := Put(path, dirs, "away_after", []string{"90s"}); err != nil {
		t.Fatal(err)
	}
	l, err := Load(Sources{Dirs: dirs})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.YieldTo) != 2 || l.YieldTo[1] != "two words.exe" || l.AwayAfter != 90*time.Second {
		t.Errorf("read %q, %v", l.YieldTo, l.AwayAfter)
	}
	if p := l.Prefers(8); p.Workers != 8 || p.Here != -1 || p.OnBattery {
		t.Errorf("preferences %+v", p)
	}
}
