package house_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Guards that a program of package satin alone needs nothing else: tidying its module, which looks at the tests of all
// that it imports as well, asks for no module and no sum, with an empty cache and no network.
func TestImportersAreTidy(t *testing.T) {
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module importer\n\ngo 1.26.0\n\nrequire github.com/satin-peer/satin v0.0.0\n\n" +
			"replace github.com/satin-peer/satin => \"" + filepath.ToSlash(source) + "\"\n",
		"main.go": "package main\n\nimport \"github.com/satin-peer/satin\"\n\nfunc main() { _, _ = satin.NewPool(satin.Config{}) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tidy := exec.Command("go", "mod", "tidy", "-diff")
	tidy.Dir = dir
	tidy.Env = append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Errorf("%v: tests of package satin, internal/engine and job use the standard library only\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.sum")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a go.sum: %v", err)
	}
}
