package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What new app writes passes its test, becomes a command that gives the right answer, and a module that gives the same,
// with the flags that it has.
func TestNewApp(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a command")
	}
	const fast = "-ldflags=-s -w" // linking with all symbols takes twice as long
	t.Setenv("GOCACHE", goCache(t))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	newGolomb(t)
	goes := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = "golomb"
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	if out := goes("gofmt", "-l", "."); out != "" {
		t.Errorf("gofmt would change %s", out)
	}
	goes("go", "vet", "./jobs") // that of the command vets all that it imports first
	goes("go", "test", "-vet=off", fast, "./...")
	// it is given a flag; a version that is not that of the sources is told, and what to do
	app := filepath.Join("golomb", "jobs", "app.go")
	text, err := os.ReadFile(app)
	if err == nil {
		text = bytes.Replace(text, []byte("Setup: func(*flag.FlagSet) func(args []string) (*apps.Problem, error) {\n"),
			[]byte("Setup: func(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {\n"+
				"\t\tmore := fs.Int(\"more\", 0, \"so many `things` more\")\n"), 1)
		text = bytes.Replace(text, []byte("problem(n), nil"), []byte("problem(n + *more), nil"), 1)
		err = os.WriteFile(app, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	stale := exec.Command("go", "test", "-vet=off", fast, "-run", "Version", "./jobs")
	stale.Dir = "golomb"
	if out, err := stale.CombinedOutput(); err == nil || !strings.Contains(string(out), "run go generate") {
		t.Errorf("a stale version: %v\n%s", err, out)
	}
	goes("go", "generate", "./...")
	goes("go", "test", "-vet=off", fast, "-run", "Version", "./jobs")
	goes("go", "build", fast, "-o", "golomb", ".")
	if out := goes("./golomb", "build", "./jobs", "-o", "golomb.wasm"); !strings.Contains(out, "count the orders of N") {
		t.Errorf("%q", out)
	}
	for args, want := range map[string]string{"golomb 7 --more 3 --local": "1334961\n",
		"golomb.wasm 10": "1334961\n", "golomb.wasm 7 --more 3 --sequential --json": `"derangements": 1334961`} {
		if out := goes("./golomb", append([]string{"run"}, strings.Fields(args)...)...); !strings.Contains(out, want) {
			t.Errorf("%s: %q, want %q", args, out, want)
		}
	}
}

// newGolomb writes an application in a directory of the test, and gives where the sources of its program are.
func newGolomb(t *testing.T) (source string) {
	t.Helper()
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	f := newFake()
	if code := f.run("new", "app", "golomb", "--satin", source); code != 0 {
		t.Fatalf("code %d: %s", code, f.err.String())
	}
	return source
}

// What no application can be made of is refused in a line, and leaves nothing.
func TestNewAppRefused(t *testing.T) {
	source := newGolomb(t)
	for args, want := range map[string]string{
		"new app golomb --satin " + source: "file exists", "new app Golomb --satin " + source: "small letters",
		"new app fmt --satin " + source: "nothing in Go", "new app vendor --satin " + source: "nothing in Go",
		"new app other": "--satin", "new app other --satin .": "--satin", "new app": "want exactly 1 (NAME)",
		"new thing": "want one of app",
	} {
		f := newFake()
		if code := f.run(strings.Fields(args)...); code != 2 || !strings.Contains(f.err.String(), want) {
			t.Errorf("%s: code %d, %q, want %q", args, code, f.err.String(), want)
		}
	}
	if _, err := os.Stat("other"); err == nil {
		t.Error("what was refused left a directory")
	}
}

// What satin-peer requires is indirect for an application, whatever is said beside it in its go.mod.
func TestGoModFor(t *testing.T) {
	own := "module x\n\nrequire (\n\ta/b v1.0.0\n\tc/d v3.1.7 // it is good\n)\n\nrequire (\n\te/f v0.1.0 // indirect\n)\n"
	got := string(goModFor("golomb", "/src", own))
	_, requires, _ := strings.Cut(got, "\nrequire (\n")
	want := "\ta/b v1.0.0 // indirect\n\tc/d v3.1.7 // indirect\n)\n\nrequire (\n\te/f v0.1.0 // indirect\n)\n"
	if requires != want {
		t.Errorf("%q, want %q", requires, want)
	}
}
