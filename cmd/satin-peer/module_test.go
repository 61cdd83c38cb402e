package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const queensModule = "../../examples/queens-c/queens.wasm"

// A module is run like an application: its arguments, flags, answer and help are its own.
func TestRunModule(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "garbage.wasm")
	if err := os.WriteFile(garbage, []byte("\x00asm\x01\x00\x00\x00\x01\xff"), 0o600); err != nil {
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
		{"run " + queensModule + " 8 --detach", 2, "", "--detach cannot go with a module"},
		{"run ./none.wasm 8", 2, "", "no such file"},
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

// What a module says while it runs is its own affair; what breaks its rules ends the run with one line.
func TestRunHostileModule(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake()
	if code := f.run("run", "../../guest/conform/hostile.wasm", "traps", "1"); code != 1 {
		t.Errorf("code %d", code)
	}
	if !strings.Contains(f.err.String(), "out of bounds memory access") {
		t.Errorf("%q", f.err.String())
	}
}
