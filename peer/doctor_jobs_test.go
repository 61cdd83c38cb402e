package peer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/peer/control"
)

// Whoever asks the doctor learns what limit of memory is in force, also if none was set.
func TestMemoryIsSaid(t *testing.T) {
	for memory, want := range map[int64]string{768 << 20: " 768 MiB", 0: "memory"} {
		d := &doctor{cfg: &Config{Compute: []string{"satin-peer"}}, crew: &crew{}}
		d.crew.jobMemory.Store(memory)
		if f := d.examineJobs(); !strings.Contains(f.Text, want) {
			t.Errorf("%d bytes: %q", memory, f.Text)
		}
	}
	for want, got := range map[string]string{
		"those of one run may have 2 MiB of memory": memoryText(2<<20, true),
		"nothing limits their memory":               memoryText(0, false),
		"those of one run are to make do with 2 MiB of memory, which this system does not enforce": memoryText(2<<20, false),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A sandbox that keeps out a part only is a warning, with what it says of itself.
func TestJobsFinding(t *testing.T) {
	for whole, want := range map[bool]control.Severity{true: control.Good, false: control.Warning} {
		f := jobsFinding("a box", whole, "little memory")
		if f.Level != want || f.Text != "jobs run in a box; little memory" || (f.Fix == "") != whole {
			t.Errorf("whole %v: %+v", whole, f)
		}
	}
}

// Doctor names an executable that is not what its owner has allowed.
func TestChangedExecutable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "blast")
	if err := os.WriteFile(file, []byte("one"), 0o700); err != nil {
		t.Fatal(err)
	}
	hash, err := child.HashProgram(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &doctor{crew: &crew{apps: &catalog{}}}
	examined := func(level control.Severity, text string) {
		t.Helper()
		if f := d.examineExecutables(); f.Level != level || !strings.Contains(f.Text, text) {
			t.Errorf("%+v, want %v and %q", f, level, text)
		}
	}
	examined(control.Good, "no program")
	d.crew.apps.programs = []child.Program{{Name: "blast", Path: file, Hash: hash}}
	examined(control.Good, "programs of this machine that jobs may have run: 1, such as "+file)
	if err := os.WriteFile(file, []byte("two"), 0o700); err != nil {
		t.Fatal(err)
	}
	examined(control.Problem, file+" is not the file any more")
}
