package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"
)

// dirs are those of a user who lives in a temporary directory.
func dirs(t *testing.T) Dirs {
	t.Helper()
	home := t.TempDir()
	return Dirs{Config: filepath.Join(home, "config"), State: filepath.Join(home, "state"), Home: home}
}

// write puts a configuration file where it is looked for.
func write(t *testing.T, d Dirs, text string) string {
	t.Helper()
	path := filepath.Join(d.Config, fileName)
	if err := os.MkdirAll(d.Config, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothing checks that a user who has said nothing gets the defaults.
func TestNothing(t *testing.T) {
	d := dirs(t)
	l, err := Load(Sources{Dirs: d, Environ: []string{"HOME=/x", "PATH=/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults(d)
	want.RuntimeDir = filepath.Join(d.State, "control")
	if !reflect.DeepEqual(l.Settings, want) || l.Found || len(l.Strays) > 0 ||
		l.File != filepath.Join(d.Config, fileName) {
		t.Errorf("got %+v", l)
	}
	for _, v := range l.Values() {
		if v.Origin != "default" {
			t.Errorf("%s comes from %s", v.Key, v.Origin)
		}
	}
}

// samples are two values of each setting: in TOML, and as a text.
func samples() map[string][2]string {
	return map[string][2]string{
		"state_dir": {`"/a/state"`, "/b/state"}, "runtime_dir": {`"/a/run"`, "/b/run"}, "swarm": {`"a"`, "b"},
		"trust": {`"open"`, "open"},
		"join":  {`["a"]`, "b"}, "listen": {`["/a"]`, "/b"}, "mdns": {"false", "false"}, "dht": {"false", "false"},
		"nat": {"false", "false"}, "relay": {"true", "true"},
		"max_connections": {"5", "6"}, "cluster": {`"a"`, "b"}, "policy": {`"rs"`, "chs"}, "workers": {"3", "4"},
		"priority":  {`"normal"`, "normal"},
		"log_level": {`"warn"`, "error"}, "log_format": {`"json"`, "json"}, "leave_after": {`"3s"`, "4s"},
		"emulate": {`"/tmp/wan"`, "/tmp/other"},
		"name":    {`"desk"`, "lab"}, "dashboard": {`"[::1]:8080"`, "off"}, "leave_patience": {`"3s"`, "4s"}, "checkpoint": {"false", "false"},
		"run_disk": {"64", "128"}, "run_memory": {"64", "128"}, "longest_life": {`"3h0m0s"`, "48h0m0s"},
		"checkpoint_interval": {`"3s"`, "4s"}, "memory": {"512", "1024"}, "modules": {`"off"`, "published"},
		"module_cache": {"64", "128"}, "workers_here": {"1", "0"}, "away_after": {`"1m0s"`, "2m0s"},
		"on_battery": {"true", "true"}, "hours": {`["22:00-06:00"]`, "mon-fri/18:00-08:00"}, "yield_to": {`["game"]`, "blender"},
		"trusted":   {`["12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"]`, strings.Repeat("Q", 46)},
		"cpu_share": {"50", "60"}, "upload": {"100", "200"}, "download": {"300", "400"}, "on_metered": {"true", "false"},
		"hottest": {"80", "90"}, "objects_memory": {"64", "128"},
		"provision": {`["/bin/more"]`, "/bin/less"}, "provision_most": {"3", "4"},
		"executables": {`["bc=/usr/bin/bc"]`, "bc=/bin/bc@" + strings.Repeat("0a", 32)},
	}
}

// TestOrder checks that flags win over the environment, that over the file, and the file over defaults, for
// each key alone, and that it is known afterwards which it was.
func TestOrder(t *testing.T) {
	for _, k := range keys() {
		sample, ok := samples()[k.name]
		if !ok {
			t.Errorf("no sample of %s", k.name)
			continue
		}
		d := dirs(t)
		path := write(t, d, "\n"+k.name+" = "+sample[0]+"\n")
		env := []string{k.env() + "=" + sample[1]}
		for _, c := range []struct {
			from           Sources
			origin, sample string
		}{
			{Sources{Dirs: d}, path + ":2", sample[0]},
			{Sources{Dirs: d, Environ: env}, k.env(), sample[1]},
			{Sources{Dirs: d, Environ: env, Flags: map[string][]string{k.name: {sample[1]}}}, "--" + k.flag(),
				sample[1]},
		} {
			l, err := Load(c.from)
			if err != nil {
				t.Errorf("%s from %s: %v", k.name, c.origin, err)
				continue
			}
			i := slices.IndexFunc(l.Values(), func(v Value) bool { return v.Key == k.name })
			v := l.Values()[i]
			if v.Origin != c.origin || strings.Trim(v.Text, `"[]`) != strings.Trim(c.sample, `"[]`) {
				t.Errorf("%s: got %+v, want %s from %s", k.name, v, c.sample, c.origin)
			}
			for _, other := range l.Values() {
				if other.Key != k.name && other.Origin != "default" {
					t.Errorf("%s also set %s", k.name, other.Key)
				}
			}
		}
	}
}

// TestBadFile checks each way in which the file can be wrong: the line is named, and what is allowed.
func TestBadFile(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"wrokers = 4\n", `:1: got "wrokers", want a setting; did you mean workers?`},
		{"\n# remark\nWorkers = 4\n", `:3: got "Workers", want a setting; did you mean workers?`},
		{"colour = \"red\"\n", `:1: got "colour", want a setting: one of state_dir, runtime_dir, swarm,`},
		{"workers = 2\n[log]\nlevel = \"info\"\n", `:2: got "log", want a setting: one of`},
		{"log.level = \"info\"\n", `:1: got "log", want a setting`},
		{"workers = 2\nmax-connections = 9\n",
			`:2: got "max-connections", want a setting; did you mean max_connections?`},
		{"workers = \"many\"\n", `:1: workers: got "many", want a whole number from 0 to 1024`},
		{"workers = 1025\n", `:1: workers: got "1025", want`},
		{"workers = -1\n", `:1: workers: got "-1", want`},
		{"workers = 1.5\n", `:1: workers: got "1.5", want`},
		{"workers = [1]\n", `:1: workers: got "[1]", want`},
		{"workers = 99999999999999999999\n", ":1:"},
		{"workers = 1\nworkers = 2\n", ":2:"},
		{"mdns = 1\n", `:1: mdns: got "1", want true or false`},
		{"trust = \"all\"\n", `:1: trust: got "all", want one of "invite", "open"`},
		{"trust = true\n", `:1: trust: got "true", want one of`},
		{"join = \"x\"\n\n\nlisten = [1]\n", `:4: listen: got "[1]", want multiaddrs`},
		{"listen = [\"/ip4/0.0.0.0/tcp/1\", \"4001\"]\n",
			`:1: listen: got "[/ip4/0.0.0.0/tcp/1 4001]", want multiaddrs`},
		{"cluster = 5\n", `:1: cluster: got "5", want a name of at most 64 bytes without blanks; in quotes`},
		{"emulate = 5\n", `:1: emulate: got "5", want an absolute path; in quotes`},
		{"join = [\"\"]\n", ":1: join: got "},
		{"join = [" + strings.Repeat(`"a",`, maxList+1) + "]\n", ":1: join: got "},
		{"swarm = \"two words\"\n", `:1: swarm: got "two words", want a name`},
		{"cluster = \"\\u0007\"\n", `:1: cluster: got "\a", want a name`},
		{"cluster = \"" + strings.Repeat("x", 65) + "\"\n", ":1: cluster: got "},
		{"state_dir = \"here\"\n", `:1: state_dir: got "here", want an absolute path`},
		{"dashboard = \"0.0.0.0:80\"\n", `:1: dashboard: got "0.0.0.0:80", want "auto", "off", or a loopback address`},
		{"dashboard = \"localhost:80\"\n", `:1: dashboard: got "localhost:80", want`},
		{"leave_after = 10\n", `:1: leave_after: got "10", want a duration from 0s to 10m0s`},
		{"leave_after = \"1h\"\n", `:1: leave_after: got "1h", want`},
		{"checkpoint_interval = \"10ms\"\n", `:1: checkpoint_interval: got "10ms", want a duration from 1s to 24h0m0s`},
		{"leave_patience = \"1h\"\n", `:1: leave_patience: got "1h", want`},
		{"leave_after = \"-1s\"\n", `:1: leave_after: got "-1s", want`},
		{"executables = [\"cat=/bin/cat\", \"cat=/bin/true\"]\n", "each name once"},
		{"workers = \n", ":1:"},
		{"workers 4\n", ":1:"},
		{"\n\nswarm = \"a\n", ":3:"},
		{"\xff\xfe\n", ":1:"},
		{strings.Repeat("#", maxFile+1), "more than"},
	} {
		d := dirs(t)
		path := write(t, d, c.text)
		_, err := Load(Sources{Dirs: d})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%.50q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// TestBadElsewhere checks wrong values in the environment and in flags.
func TestBadElsewhere(t *testing.T) {
	d := dirs(t)
	for _, c := range []struct {
		from Sources
		want string
	}{
		{Sources{Environ: []string{"SATIN_WORKERS=x"}}, `SATIN_WORKERS: got "x", want a whole number from 0 to 1024`},
		{Sources{Environ: []string{"SATIN_MDNS=yes"}}, `SATIN_MDNS: got "yes", want true or false`},
		{Sources{Flags: map[string][]string{"workers": {"4 4"}}}, `--workers: got "4 4", want`},
		{Sources{Flags: map[string][]string{"leave_after": {"soon"}}}, `--leave-after: got "soon", want a duration`},
		{Sources{Flags: map[string][]string{"log_level": {"loud"}}}, `--log-level: got "loud", want one of "debug"`},
		{Sources{Flags: map[string][]string{"cluster": {"\x1b[31m"}}}, `--cluster: got "\x1b[31m", want a name`},
		{Sources{File: filepath.Join(d.Home, "none")}, "--config: got "},
		{Sources{File: d.Home}, "a file that can be read: it is not a file"},
		{Sources{Environ: []string{"SATIN_CONFIG=" + d.Home}}, "SATIN_CONFIG: got "},
	} {
		c.from.Dirs = d
		_, err := Load(c.from)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: got %v", c.from, err)
		}
	}
	if _, err := Load(Sources{Dirs: Dirs{State: "x"}}); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without a home: %v", err)
	}
}

// TestNoHome checks that nothing is looked for, or put, in the root directory for want of a home.
func TestNoHome(t *testing.T) {
	t.Cleanup(xdg.Reload) // when the variables are as they were
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	xdg.Reload()
	if d := FindDirs(); d != (Dirs{}) {
		t.Errorf("without a home: %+v", d)
	}
	if _, err := Load(Sources{Dirs: FindDirs()}); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without a home: %v", err)
	}
	if _, err := FilePath(Sources{Dirs: FindDirs()}); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("a file to write without a home: %v", err)
	}
	state := t.TempDir()
	if l, err := Load(Sources{Dirs: FindDirs(), Flags: map[string][]string{"state_dir": {state}}}); err != nil ||
		l.StateDir != state || l.Found {
		t.Errorf("with a state directory: %+v, %v", l, err)
	}
	t.Setenv("XDG_STATE_HOME", state)
	xdg.Reload()
	if d := FindDirs(); d != (Dirs{State: filepath.Join(state, program)}) {
		t.Errorf("with a variable: %+v", d)
	}
}

// TestStrays checks that variables which name no setting are told of, and only those.
func TestStrays(t *testing.T) {
	l, err := Load(Sources{Dirs: dirs(t), Environ: []string{"SATIN_WORKER=4", "SATIN_SOMETHING_ELSE=1",
		"SATIN_WORKERS=2", "SATIN_POLICY=", "XSATIN_A=1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"SATIN_SOMETHING_ELSE in the environment is no setting",
		"SATIN_WORKER in the environment is no setting; did you mean SATIN_WORKERS?",
	}
	if !slices.Equal(l.Strays, want) || l.Workers != 2 {
		t.Errorf("got %q and %d workers", l.Strays, l.Workers)
	}
}

// TestPaths checks what relative paths mean: below the working directory in a flag, below the home with ~ in
// the file.
func TestPaths(t *testing.T) {
	d := dirs(t)
	write(t, d, "state_dir = \"~/mine\"\nruntime_dir = \"\"\n")
	l, err := Load(Sources{Dirs: d})
	if err != nil || l.StateDir != filepath.Join(d.Home, "mine") ||
		l.RuntimeDir != filepath.Join(d.Home, "mine", "control") {
		t.Errorf("got %+v, %v", l, err)
	}
	t.Chdir(d.Home)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	l, err = Load(Sources{Dirs: d, Flags: map[string][]string{"state_dir": {"here"}, "runtime_dir": {"/run/x"}}})
	if err != nil || l.StateDir != filepath.Join(wd, "here") || l.RuntimeDir != "/run/x" {
		t.Errorf("got %+v, %v", l, err)
	}
}

// TestLists checks how addresses are given in a variable and by flags.
func TestLists(t *testing.T) {
	l, err := Load(Sources{Dirs: dirs(t), Environ: []string{"SATIN_JOIN=a, b c"},
		Flags: map[string][]string{"listen": {"/x", "/y"}}})
	if err != nil || !slices.Equal(l.Join, []string{"a", "b", "c"}) || !slices.Equal(l.Listen, []string{"/x", "/y"}) {
		t.Errorf("got %+v, %v", l, err)
	}
}

// TestCommented checks that the commented file changes nothing as it is, that with its keys set it still
// gives the defaults, that all keys are in it, and that it is never written over another.
func TestCommented(t *testing.T) {
	d := dirs(t)
	path := filepath.Join(d.Config, "deeper", "file.toml")
	if err := WriteCommented(path, d); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Load(Sources{Dirs: d})
	if err != nil {
		t.Fatal(err)
	}
	var set strings.Builder
	for line := range strings.Lines(string(text)) {
		if len(line) > lineWidth+40 {
			t.Errorf("a long line: %s", line)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
		if keyNamed(name) != nil {
			line = strings.TrimPrefix(line, "# ")
		}
		set.WriteString(line)
	}
	for _, content := range []string{string(text), set.String()} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Load(Sources{Dirs: d, File: path})
		if err != nil {
			t.Fatal(err)
		}
		if l.Join, l.Listen = nil, nil; !reflect.DeepEqual(l.Settings, plain.Settings) {
			t.Errorf("got %+v, want %+v", l.Settings, plain.Settings)
		}
		for _, v := range l.Values() {
			if set := v.Origin != "default"; set != (content != string(text)) && v.Key != "runtime_dir" &&
				v.Key != "emulate" {
				t.Errorf("%s comes from %s", v.Key, v.Origin)
			}
		}
	}
	if err := WriteCommented(path, d); !errors.Is(err, ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != set.String() {
		t.Error("the file that was there has changed")
	}
	if err := WriteCommented(filepath.Join(path, "x"), d); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("below a file: %v", err)
	}
}

// TestFlags checks that flags carry what was given, and nothing that was not.
func TestFlags(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse([]string{"--join", "a", "--relay", "--join=b,c", "--workers", "4",
		"--mdns=false"}); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"join": {"a", "b,c"}, "relay": {"true"}, "workers": {"4"}, "mdns": {"false"}}
	if got := Given(flags); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	l, err := Load(Sources{Dirs: dirs(t), Flags: Given(flags)})
	if err != nil || l.Workers != 4 || l.MDNS || !l.Relay || l.LeaveAfter != 10*time.Second {
		t.Errorf("got %+v, %v", l, err)
	}
	some := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(some, "workers", "state_dir")
	count := 0
	some.VisitAll(func(*pflag.Flag) { count++ })
	if count != 2 || some.Lookup("state-dir") == nil {
		t.Errorf("%d flags:\n%s", count, some.FlagUsages())
	}
}

// Guards that the help names what a flag takes: a list, and a text of which only some are right, by a word of its own;
// and that it explains the flag by a whole sentence.
func TestHelp(t *testing.T) {
	for _, k := range keys() {
		if !strings.HasSuffix(k.about[0], ".") || strings.Contains(k.about[0], ". ") {
			t.Errorf("--%s is explained by %q, want one sentence", k.flag(), k.about[0])
		}
		if k.word == "" && (k.kind == listKind || k.kind == textKind && !strings.HasPrefix(k.want, "a name ")) {
			t.Errorf("--%s takes %s: give it a word", k.flag(), k.want)
		}
	}
}

// TestDistance checks the nearest names.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"workers", "wrokers", 2},
		{"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := suggest(strings.Repeat("workers", 1000), keyNames()); !strings.HasPrefix(got, ": one of") {
		t.Errorf("a long name: %s", got)
	}
}

// FuzzFile reads anything as a configuration file: it is refused in one line that names the file, or what is
// in force afterwards is read again as it was.
func FuzzFile(f *testing.F) {
	f.Add([]byte(Commented(Dirs{State: "/s"})))
	f.Add([]byte("workers = 4\njoin = [\"a\", 'b']\nstate_dir = \"~/x\"\nleave_after = \"3s\"\n"))
	f.Add([]byte("[a]\nb = 1\n[[c]]\n"))
	f.Add([]byte("swarm = \"\"\"\nx\"\"\"\n"))
	d := Dirs{Config: "/c", State: "/s", Home: "/h"}
	f.Fuzz(func(t *testing.T, text []byte) {
		l := &Loaded{Settings: Defaults(d), File: "file", origins: map[string]string{}}
		if err := l.decode(text, d.Home); err != nil {
			if !strings.HasPrefix(err.Error(), "file:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		var again strings.Builder
		for _, v := range l.Values() {
			again.WriteString(v.Key + " = " + v.Text + "\n")
		}
		back := &Loaded{Settings: Defaults(d), File: "file", origins: map[string]string{}}
		if err := back.decode([]byte(again.String()), d.Home); err != nil {
			t.Fatalf("%v in\n%s", err, again.String())
		}
		for i, v := range back.Values() {
			if was := l.Values()[i]; v.Text != was.Text {
				t.Errorf("%s is %s, was %s", v.Key, v.Text, was.Text)
			}
		}
	})
}
