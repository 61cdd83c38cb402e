package module

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/satin-peer/satin/internal/wasm"
)

// What was prepared is taken from the cache, and made anew where it is damaged.
func TestPreparedIsKept(t *testing.T) {
	dir := t.TempDir()
	read := func(path string) []byte {
		bin, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		return bin
	}
	name := func(bin []byte) string {
		t.Helper()
		h, err := NewHost(Config{Cache: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		m, err := h.Load(bin)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		return m.Name
	}
	kept := func() string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(dir, "prepared-*"))
		if err != nil || len(list) != 1 {
			t.Fatalf("%q, %v", list, err)
		}
		return list[0]
	}
	queens, golomb := read("examples/queens-c/queens.wasm"), read("examples/golomb-c/golomb.wasm")
	if got := name(golomb); got != "golomb" {
		t.Fatal(got)
	}
	other, err := os.ReadFile(kept())
	if err == nil {
		err = os.Remove(kept())
	}
	if err != nil || name(queens) != "queens" {
		t.Fatal(err)
	}
	at := kept()
	if err := os.WriteFile(at, other, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := name(queens); got != "golomb" {
		t.Errorf("what was kept is not used: %q", got)
	}
	other[len(other)-1]++
	if err := os.WriteFile(at, other, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := name(queens); got != "queens" {
		t.Errorf("what is damaged is used: %q", got)
	}
}

// What Prepare makes of a module changes with its Version, by which that is kept. Other limits give another one, too.
func TestVersionOfPrepared(t *testing.T) {
	bin, err := os.ReadFile("testdata/prepared.wasm")
	if err != nil {
		t.Fatal(err)
	}
	p, err := wasm.Prepare(bin, wasm.Options{Limits: wasm.DefaultLimits(), Allowed: allowed})
	if err != nil {
		t.Fatal(err)
	}
	const version, sum = 4, "33d257789cd123d43ca71f834a335d4e40f00d5870ae83f217615061c21bced4"
	if got := fmt.Sprintf("%x", sha256.Sum256(p.Code)); got != sum || wasm.Version != version {
		t.Errorf("version %d makes %s, and version %d made %s: raise Version, and write both here", wasm.Version, got,
			version, sum)
	}
}
