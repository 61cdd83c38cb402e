// Package build makes WebAssembly modules of applications in Go: of the same packages that commands are made of.
//
// It runs the go command, which must be installed, and changes nothing but the output file.
package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// main is the program around an application: a package that only this build has.
const mainSource = `package main

import (
	app %q

	"github.com/satin-peer/satin/guest"
)

func init() { guest.Serve(app.App) }

func main() {}
`

// mainDir is where that package seems to be, in the module of the application.
const mainDir = "satin-module-main"

// An Error is what the go command said, or what it lacks, in one line and the rest.
type Error struct {
	What   string
	Output string // of the go command
}

func (e *Error) Error() string {
	if e.Output == "" {
		return e.What
	}
	return e.What + ":\n" + strings.TrimSpace(e.Output)
}

// Go builds a module from the package in dir, which has a variable App of the type apps.App, and writes it to out.
func Go(ctx context.Context, dir, out string) error {
	path, name, root, err := find(ctx, dir)
	if err != nil {
		return err
	}
	if name == "main" {
		return &Error{What: dir + " is a command: a module is made of a package with a variable App, an apps.App"}
	}
	temp, err := os.MkdirTemp("", "satin-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // what is left of it does no harm
	source, overlay := filepath.Join(temp, "main.go"), filepath.Join(temp, "overlay.json")
	replace, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, mainDir, "main.go"): source},
	})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(source, fmt.Appendf(nil, mainSource, path), 0o600),
		os.WriteFile(overlay, replace, 0o600)); err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	_, err = run(ctx, root, "build", "-overlay", overlay, "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w",
		"-o", out,
		"./"+mainDir)
	return err
}

// find asks for a package's import path and name, and the directory of its module.
func find(ctx context.Context, dir string) (path, name, root string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", "", "", &Error{What: fmt.Sprintf("%s: want a directory with a Go package", dir)}
	}
	b, err := run(ctx, dir, "list", "-f", "{{.ImportPath}}\n{{.Name}}\n{{with .Module}}{{.Dir}}{{end}}", ".")
	if err != nil {
		return "", "", "", err
	}
	lines := strings.Split(strings.TrimSpace(b), "\n")
	if len(lines) != 3 {
		return "", "", "", &Error{What: fmt.Sprintf("%s: want a package in a Go module", dir)}
	}
	return lines[0], lines[1], lines[2], nil
}

// run runs the go command for WebAssembly and gives what it prints.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var out, diagnosis bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &diagnosis
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", &Error{What: "there is no go command: install Go 1.26 or later, https://go.dev/dl"}
	case err != nil:
		return "", &Error{What: "go " + args[0] + " failed", Output: diagnosis.String()}
	}
	return out.String(), nil
}
