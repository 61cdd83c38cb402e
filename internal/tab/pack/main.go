// Pack builds the program for visitors' browsers, for package gateway to serve: the WebAssembly, compressed, the script
// of the Go distribution that runs it, and a list of the applications in it. It is run in the repository:
//
//	go run ./internal/tab/pack                    # into peer/gateway/dist, where go build finds it
//	go run ./internal/tab/pack -out DIRECTORY
//
// The same sources and the same Go give the same bytes.
package main

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/statement"
)

// maxWasm is how large the program may be on the wire, in bytes.
const maxWasm = 6 << 20

func main() {
	out := flag.String("out", filepath.Join("peer", "gateway", "dist"), "the directory to write to")
	tool := flag.String("go", "go", "the go command")
	flag.Parse()
	if err := pack(*out, *tool); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(out, tool string) error {
	dir, err := os.MkdirTemp("", "satin-tab")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "tab.wasm")
	build := exec.Command(tool, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program,
		"./internal/tab/browser")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build for js/wasm: %w", err)
	}
	root, err := exec.Command(tool, "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", gateway.ExecFile))
	if err != nil {
		return err
	}
	versions := map[string]string{}
	for _, a := range all.Apps() {
		v := statement.VersionOfSources(a.Version, a.Name)
		versions[a.Name] = hex.EncodeToString(v[:])
	}
	list, err := json.Marshal(versions)
	if err != nil {
		return err
	}
	size, err := compress(program, filepath.Join(out, gateway.WasmFile))
	if err == nil && size > maxWasm {
		err = fmt.Errorf("%s has %d bytes, more than %d", gateway.WasmFile, size, maxWasm)
	}
	return errors.Join(err, os.WriteFile(filepath.Join(out, gateway.ExecFile), script, 0o644),
		os.WriteFile(filepath.Join(out, gateway.AppsFile), list, 0o644))
}

// compress writes a file for browsers, and gives its size.
func compress(from, to string) (size int64, err error) {
	b, err := os.ReadFile(from)
	if err != nil {
		return 0, err
	}
	f, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	return info.Size(), err
}
