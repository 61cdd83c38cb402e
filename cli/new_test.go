package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What new app writes passes its test, becomes a command that gives the right answer, and a module that gives the same.
func TestNewApp(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a command")
	}
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", goCache(t))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	f := newFake()
	if code := f.run("new", "app", "golomb", "--satin", source); code != 0 {
		t.Fatalf("code %d: %s", code, f.err.String())
	}
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
	goes("go", "test", "-vet=off", "./...")
	// a version that is not that of the sources is told, and what to do
	jobs := filepath.Join("golomb", "jobs", "twin.go")
	twin, err := os.ReadFile(jobs)
	if err == nil {
		err = os.WriteFile(jobs, append(twin, "\n// more\n"...), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	stale := exec.Command("go", "test", "-run", "Version", "./jobs")
	stale.Dir = "golomb"
	if out, err := stale.CombinedOutput(); err == nil || !strings.Contains(string(out), "run go generate") {
		t.Errorf("a stale version: %v\n%s", err, out)
	}
	goes("go", "generate", "./...")
	goes("go", "test", "-run", "Version", "./jobs")
	goes("go", "build", "-ldflags=-s -w", "-o", "golomb", ".") // linking it with all symbols takes twice as long
	if out := goes("./golomb", "run", "golomb", "10", "--local"); !strings.HasPrefix(out, "1334961\n") {
		t.Errorf("%q", out)
	}
	goes("./golomb", "build", "./jobs", "-o", "golomb.wasm")
	if out := goes("./golomb", "run", "golomb.wasm", "10"); !strings.HasPrefix(out, "1334961\n") {
		t.Errorf("%q", out)
	}
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
