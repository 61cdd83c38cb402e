package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/control"
)

const (
	queensModule  = "../examples/queens-c/queens.wasm"
	conformModule = "../guest/conform/conform.wasm"
)

// Guards that a module runs where nothing can be kept, as for a user whose home is not there.
func TestModuleWithoutCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(file, "below"))
	f := newFake()
	if code := f.run("run", queensModule, "6"); code != 0 || f.out.String() != "6 queens: 4 solutions\n" {
		t.Errorf("code %d, %q, %q", code, f.out.String(), f.err.String())
	}
}

// A module is run like an application: its arguments, flags, answer and help are its own.
func TestRunModule(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "garbage.wasm")
	if err := os.WriteFile(garbage, []byte("\x00asm\x01\x00\x00\x00\x01\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"run " + queensModule + " 9", 0, "9 queens: 352 solutions\n", "9 queens: "},
		{"run " + queensModule + " 9 --threshold 4 --workers 3", 0, "9 queens: 352 solutions\n", "3 workers"},
		{"run --json " + queensModule + " 6", 0, `"solutions": 4`, ""},
		{"run " + queensModule + " 8 --sequential", 0, "8 queens: 92 solutions\n", "sequential"},
		{"run " + queensModule + " --help", 0, "queens.wasm N", ""},
		{"run " + queensModule, 2, "", "want exactly 1 (N)"},
		{"run " + queensModule + " 21", 2, "", `N: got "21", want a whole number from 1 to 20`},
		{"run " + queensModule + " 8 --threshold x", 2, "", `--threshold: got "x", want a whole number`},
		{"run " + queensModule + " 8 --width 3", 2, "", `flag: got "--width"`},
		{"run " + queensModule + " 8 --detach", 1, "", "no daemon to leave the run with"},
		{"run ./none.wasm 8", 2, "", "no such file"},
		{"run " + conformModule + " file 0 --file input=" + input, 0, "294\n", ""},
		{"run " + conformModule + " file 0 --file input=" + input + ",other=" + garbage + " --sequential", 0, "294\n", ""},
		{"run " + conformModule + " file 0 --file other=" + input, 2, "", `--file: got "other=`},
		{"run " + conformModule + " file 0 --file " + input, 2, "", "want NAME=PATH, each name once"},
		{"run " + conformModule + " file 0 --file input=" + input + " --file input=" + input, 2, "", "each name once"},
		{"run " + conformModule + " file 0 --file input=./none", 2, "", "no such file"},
		{"apps " + queensModule, 0, "queens.wasm N", ""},
		{"run " + garbage + " 8", 2, "", "want a module that can be run"},
	} {
		f := newFake()
		code := f.run(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(f.out.String(), c.out) || !strings.Contains(f.err.String(), c.err) {
			t.Errorf("%s: code %d, %q, %q; want %d, %q, %q", c.args, code, f.out.String(), f.err.String(), c.code,
				c.out,
				c.err)
		}
	}
}

// A refusing stands for a module that refuses what it is given.
type refusing struct{}

func (refusing) Setup(args, _ []string, _ []module.File) (module.Root, error) {
	return module.Root{}, &module.InputError{What: "N", Want: fmt.Sprint("none of ", args)}
}
func (refusing) Render(module.Call, []byte) (string, map[string]any, error) { return "", nil, nil }
func (refusing) Check(module.Call, []byte) error                            { return nil }

// The number of a module's arguments is what its usage says; where that has choices, the module knows, and which of
// them a word stands for, too.
func TestModuleArguments(t *testing.T) {
	for _, c := range []struct{ usage, args, want string }{
		{"", "", "N: want none of []"}, {"", "7", `arguments: got "7", want none`},
		{"N", "7", `N: got "7", want none of [7]`}, {"N", "7 8", `arguments: got "7 8", want exactly 1 (N)`},
		{"N M...", "7 8 9", `N: got "7", want none of [7 8 9]`}, {"[N]", "", "N: want none of []"},
		{"FILE | N R I", "x", "N: want none of [x]"}, {"FILE | N R I", "1 2 3", "N: want none of [1 2 3]"},
	} {
		m := &runModule{Description: module.Description{Args: c.usage}, asked: refusing{}}
		if _, err := moduleProblem(m, strings.Fields(c.args), nil, nil); err == nil || err.Error() != c.want {
			t.Errorf("%q with %q: %v, want %s", c.usage, c.args, err, c.want)
		}
	}
}

// A silent one stands for a module that cannot show its answer.
type silent struct{ refusing }

func (silent) Setup([]string, []string, []module.File) (module.Root, error) {
	return module.Root{}, nil
}
func (silent) Render(module.Call, []byte) (string, map[string]any, error) {
	return "", nil, errors.New("it is too long")
}

// Guards that a command fails whose answer a module cannot show: the line that says why is no answer.
func TestModuleShowsNothing(t *testing.T) {
	p, err := moduleProblem(&runModule{asked: silent{}}, nil, nil, nil)
	if err == nil {
		_, err = examine(p, func() (any, sample, error) { return []byte{}, sample{}, nil })
	}
	if err == nil || !strings.Contains(err.Error(), "it is too long") {
		t.Error(err)
	}
}

// What a module says while it runs is its own affair; what breaks its rules ends the run with one line.
func TestRunHostileModule(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake()
	if code := f.run("run", "../guest/conform/hostile.wasm", "traps", "1"); code != 1 {
		t.Errorf("code %d", code)
	}
	if !strings.Contains(f.err.String(), "out of bounds memory access") {
		t.Errorf("%q", f.err.String())
	}
}

// What no module can be made of is refused, in the words of the go command if it knows why. (TestNewApp builds one.)
func TestBuildModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the go command")
	}
	t.Setenv("GOCACHE", goCache(t))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out := filepath.Join(t.TempDir(), "nqueens.wasm")
	for args, want := range map[string]string{
		"build": "want exactly 1 (DIRECTORY)", "build ../cmd/satin-peer -o " + out: "is a command",
		"build ./nowhere -o " + out: "want a directory", "build ../apps/nqueens -o x.exe": "ends in .wasm",
		"build ../docs -o " + out:  "go list failed",
		"build ../steal -o " + out: "undefined: app.App\nsatin-peer: go build failed\n",
	} {
		f := newFake()
		if code := f.run(strings.Fields(args)...); code == 0 || !strings.Contains(f.err.String(), want) {
			t.Errorf("%s: code %d, %q, want %q", args, code, f.err.String(), want)
		}
	}
}

// goCache is where the go command keeps what it has built, before the test moves the user's cache directory.
func goCache(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Modules of the swarm: what is published is listed, run by its name with its own flags, and published from a file.
// An application that is built in is not looked for among them.
func TestModulesOfTheSwarm(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	bin, err := os.ReadFile(queensModule)
	if err != nil {
		t.Fatal(err)
	}
	added := fmt.Sprintf("add a module of %d bytes", len(bin))
	for _, c := range []struct {
		args     string
		code     int
		asked    []string
		out, err string
	}{
		{"modules", 0, []string{"modules"}, "queens  efefefefefefefef  11.0 KB  yes   12D3KooWNear  count", ""},
		{"modules --json", 0, []string{"modules"}, `"publisher": "12D3KooWNear"`, ""},
		{"publish " + queensModule + " queens", 0,
			[]string{fmt.Sprintf(`publish queens, "count the ways to place N queens", %d bytes`, len(bin))},
			"signed by 12D3KooWMe", ""},
		{"publish " + queensModule + " count", 0,
			[]string{fmt.Sprintf(`publish count, "count the ways to place N queens", %d bytes`, len(bin))},
			"count:", "satin-peer run count runs the application of that name that is built in, and " +
				"satin-peer run 12D3KooWMe/count this module"},
		{"publish garbage.txt queens", 2, nil, "", "no such file"},
		{"run queens 6 --detach", 0, []string{"module queens", added, `submit queens.wasm ["6"] as satin1.job`}, runGoing,
			"6 queens"},
		{"run queens --threshold 3 --detach 6", 0, []string{"module queens", added,
			`submit queens.wasm ["--threshold=3" "6"] as satin1.job`}, runGoing, ""},
		{"run queens 6 --local", 0, []string{"module queens"}, "6 queens: 4 solutions\n", ""},
		{"run queens 66", 2, []string{"module queens"}, "", `N: got "66"`},
		{"run queens --help", 0, []string{"module queens"}, "satin-peer run queens N", ""},
		{"run nowhere 6", 2, []string{"module nowhere", "modules", "status"}, "", "; or a module: queens\n"},
		{"apps", 0, []string{"modules"}, `queens    N       count\nqueens`, ""},
		{"apps queens", 0, []string{"module queens"}, "--threshold", ""},
		{"run count 3 --detach", 0, []string{`submit count ["3"] as test.count`}, runGoing, ""},
	} {
		m := newFakeMember()
		m.modules = []control.ModuleInfo{{Module: strings.Repeat("ef", 32), Size: 11_000, Here: true, Name: "queens",
			Publisher: "12D3KooWNear", Summary: "count\nqueens", Args: "N"}}
		if !strings.Contains(c.args, "nowhere") {
			m.module = bin
		}
		f := newFake().withDaemon(t, m)
		code := f.run(strings.Fields(c.args)...)
		if code != c.code || !slices.Equal(m.asked, c.asked) || !strings.Contains(f.out.String(), c.out) ||
			!strings.Contains(f.err.String(), c.err) {
			t.Errorf("%s: code %d, asked %q, %q, %q", c.args, code, m.asked, f.out.String(), f.err.String())
		}
	}
	// What others have published is compiled and asked in a process that shares nothing with this one.
	hash := module.HashOf(bin)
	own, err := filepath.Glob(filepath.Join(cacheDir(), "others", fmt.Sprintf("%x", hash[:]), "wazero*"))
	if err != nil || len(own) != 1 {
		t.Errorf("it was not asked in a process of its own: %q, %v", own, err)
	}
}

// Guards that whoever names an application that nobody has hears why no module is among them.
func TestNoModules(t *testing.T) {
	for whose, want := range map[string]string{"off": "; this daemon runs no modules (setting modules)",
		"members": "; no member has published a module"} {
		m := newFakeMember()
		m.status.Modules.Whose = whose
		f := newFake().withDaemon(t, m)
		if code := f.run("run", "nowhere"); code != 2 || !strings.Contains(f.err.String(), want) {
			t.Errorf("%s: code %d, %q, want %q", whose, code, f.err.String(), want)
		}
	}
}

// What a user is told of who can help, and whose modules a peer runs.
func TestTextsOfModules(t *testing.T) {
	for want, got := range map[string]string{
		"": helpText(&control.Help{}), "1 other peer can take part": helpText(&control.Help{Can: 1}),
		"4 of 6 other peers cannot help: 3 run no modules; 1 do not compute now": helpText(&control.Help{Can: 2,
			Cannot: []control.Lack{{Why: "run no modules", Peers: 3}, {Why: "do not compute now", Peers: 1}}}),
		"3 of 3 other peers cannot help: they have version 1 of life": helpText(&control.Help{
			Cannot: []control.Lack{{Why: "have version 1 of life", Peers: 3}}}),
		"none are run": modulesText(control.Modules{Whose: "off"}),
		"those in runs of members are run; 2 here, 1.5 MB; 1 run waits for its module": modulesText(control.Modules{
			Whose: "members", Here: 2, Bytes: 1_500_000, Waiting: 1}),
		"those that members have published are run; 0 here, 0.0 KB; 2 runs wait for their modules": modulesText(
			control.Modules{Whose: "published", Waiting: 2}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
