package durable_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/durable"
)

// Guards: a file is the old one or the new one; a write that fails leaves the old one and nothing beside it, and
// what a killed process left is removed and nothing else. An error names the file that was meant.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept")
	write := func(text string, failure error) error {
		return durable.Write(path, 0o640, true, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, failure)
		})
	}
	full := errors.New("the disk is full")
	for _, c := range []struct {
		text, want string
		failure    error
	}{{"first", "first", nil}, {"half", "first", full}, {"second", "second", nil}} {
		if err := write(c.text, c.failure); !errors.Is(err, c.failure) {
			t.Fatalf("writing %q: %v, want %v", c.text, err, c.failure)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want {
			t.Fatalf("after writing %q the file says %q (%v), want %q", c.text, got, err, c.want)
		}
		if names := list(t, dir); len(names) != 1 {
			t.Fatalf("after writing %q there are %q", c.text, names)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Fatalf("the mode is %v (%v), want 0640", info.Mode(), err)
	}
	err := durable.Write(filepath.Join(dir, "no", "kept"), 0o600, false, durable.Bytes(nil))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join("no", "kept")) {
		t.Fatalf("in a directory that is not there: %v", err)
	}
}

// Guards: a name that cannot be given leaves nothing beside it.
func TestNameTaken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.Write(path, 0o600, true, durable.Bytes([]byte("x"))); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if names := list(t, dir); len(names) != 1 {
		t.Fatalf("there are %q", names)
	}
}

// Guards: only what was being written goes.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"kept", durable.Unfinished + "1", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, durable.Unfinished+"folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	durable.Sweep(dir)
	durable.Sweep(filepath.Join(dir, "no"))
	if names := list(t, dir); len(names) != 3 {
		t.Fatalf("there are %q, want the folder and two files", names)
	}
}

// Guards: a file that is removed is gone, one that is not there is no failure, and what cannot be removed is one.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder", "file")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if durable.Remove(filepath.Dir(path)) == nil {
		t.Error("nothing is said of a folder that is not empty")
	}
	for range 2 {
		if err := durable.Remove(path); err != nil {
			t.Error(err)
		}
	}
	if names := list(t, filepath.Dir(path)); len(names) != 0 {
		t.Errorf("%q are left", names)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
