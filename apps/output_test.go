package apps

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Looking whether a file can be written leaves no file and changes none.
func TestCheckOutputLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.png")
	if err := CheckOutput(path); err != nil {
		t.Error(err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckOutput(path); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); string(text) != "before" || err != nil {
		t.Errorf("an existing file now reads %q, %v", text, err)
	}
}

// A run does not begin if its result could not be written in the end: a directory, a file in none, or no name at all.
func TestCheckOutputRefusesWhatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	const want = ", want a file that can be written"
	wantInputError(t, CheckOutput(dir), dir+`: got "a directory"`+want)
	wantInputError(t, CheckOutput(""), `file name: got "nothing"`+want)
	nowhere := filepath.Join(dir, "missing", "out.png")
	wantInputError(t, CheckOutput(nowhere), nowhere+`: got "no such file or directory"`+want)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "out.png")
	wantInputError(t, CheckOutput(below), below+`: got "not a directory"`+want)
	long := filepath.Join(dir, strings.Repeat("x", 300))
	wantInputError(t, CheckOutput(long), long+`: got "file name too long"`+want)
}

// An output is none of the run's other files, by whatever name, and whether the file is there or not.
func TestCheckOutputKeepsTheRunsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := errors.Join(os.WriteFile("in", []byte("before"), 0o600), os.Mkdir("sub", 0o700), os.Link("in", "hard"),
		os.Symlink("in", "soft"), os.Symlink(dir, "back")); err != nil {
		t.Skip(err)
	}
	const want = `: got "a file that the run reads or writes", want another file to write to`
	for _, path := range []string{"in", "./in", "sub/../in", filepath.Join(dir, "in"), "hard", "soft", "back/in"} {
		wantInputError(t, CheckOutput(path, "x", "in"), path+want)
	}
	for _, path := range []string{"new", "./new", filepath.Join(dir, "new"), "back/new"} {
		wantInputError(t, CheckOutput(path, "new"), path+want)
	}
	for _, path := range []string{"out", "sub/in", "sub/new"} {
		if err := CheckOutput(path, "in", "new", ""); err != nil {
			t.Error(err)
		}
	}
}

// A result replaces the file of an earlier one whole; one that breaks off leaves that file as it was, and nothing
// beside it.
func TestWriteFileReplacesAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	say := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, werr := io.WriteString(w, text)
			return errors.Join(werr, err)
		}
	}
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := WriteFile(path, say("first", nil)); err != nil || read() != "first" {
		t.Errorf("%v, reads %q", err, read())
	}
	if err := WriteFile(path, say("second", nil)); err != nil || read() != "second" {
		t.Errorf("%v, reads %q", err, read())
	}
	broken := errors.New("out of ink")
	if err := WriteFile(path, say("thi", broken)); !errors.Is(err, broken) || read() != "second" {
		t.Errorf("%v, reads %q", err, read())
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}
