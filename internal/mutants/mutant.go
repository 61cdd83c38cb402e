package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// mutant is one deliberate mistake.
type mutant struct {
	name  string // room/what
	wrong string // what it gets wrong, in a few words
	file  string // from the top of the repository; "": see filled
	old   string // occurs exactly once in the file
	new   string
	pkg   string   // the package whose tests should notice
	run   string   // regular expression of tests, as for go test -run
	args  []string // more arguments for the test binary

	schedules int           // pkg is the simulator's command, to run so many schedules; there is no test to run
	deadline  time.Duration // how long they may take; a mutant that makes them hang is killed by it. 0: usualDeadline
}

const (
	usualDeadline = 3 * time.Minute
	byDeadline    = "deadline"
	byPanic       = "a panic"
)

// apply makes the mutated text of the file.
func (m *mutant) apply(root string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(b, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s has %d places that read %q, want one", m.file, n, m.old)
	}
	return bytes.Replace(b, []byte(m.old), []byte(m.new), 1), nil
}

var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// kill runs the tests, or the schedules, on the mutant and returns the name of the first one that failed, or
// "" if none did. An error means that the mutant could not be made or compiled, or that no test failed and the right
// program ends in the same way: it is not done by the deadline either, or the tests cannot be run.
func (m *mutant) kill(ctx context.Context, root string) (killer string, err error) {
	text, err := m.apply(root)
	if err != nil {
		return "", err
	}
	killer, err = m.try(ctx, root, text)
	if killer != byDeadline && killer != byPanic || err != nil {
		return killer, err
	}
	text, err = os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	switch right, err := m.try(ctx, root, text); {
	case err != nil:
		return "", err
	case right != "":
		return "", fmt.Errorf("the right program fails, too, by %s", right)
	}
	return killer, nil
}

// try is kill for some text of the file.
func (m *mutant) try(ctx context.Context, root string, text []byte) (killer string, err error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	binary, err := m.build(ctx, root, dir, text)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.deadline, usualDeadline))
	defer cancel()
	if m.schedules > 0 {
		return m.killBySchedule(ctx, binary)
	}
	args := append([]string{"-test.run=" + m.run, "-test.failfast"}, m.args...)
	if m.pkg == hostile {
		args = append(args, "-patience=30s") // else the deadline ends what waits for what never comes
	}
	test := exec.CommandContext(ctx, binary, args...)
	test.Dir = filepath.Join(root, m.pkg)
	// rapid keeps no file of what it finds, which would be tried again on the right program, and shrinks nothing.
	test.Env = append(os.Environ(), "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	out, err := test.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && !bytes.Contains(out, []byte("no tests to run")):
		return "", nil
	case err == nil:
		return "", fmt.Errorf("no test matches %q", m.run)
	case ctx.Err() != nil:
		return byDeadline, nil
	case !errors.As(err, &exit):
		return "", err
	}
	if f := failedTest.FindSubmatch(out); f != nil {
		return string(f[1]), nil
	}
	return byPanic, nil
}

// build compiles the tests, or the simulator, with the mutated text in place of the file's.
func (m *mutant) build(ctx context.Context, root, dir string, text []byte) (binary string, err error) {
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	mutated, overlay, binary := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "mutant.test")
	b, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(mutated, text, 0o600), os.WriteFile(overlay, b, 0o600)); err != nil {
		return "", err
	}
	command := []string{"test", "-c", "-vet=off"}
	if m.schedules > 0 {
		command = []string{"build"}
	}
	// Without what only debuggers read it is linked in half the time.
	command = append(command, "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+m.pkg)
	c := exec.CommandContext(ctx, "go", command...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("does not compile: %s", strings.TrimSpace(string(out)))
	}
	return binary, nil
}
