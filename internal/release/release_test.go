package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// made writes two files and lists them.
func made(t *testing.T) []file {
	dir := t.TempDir()
	list := []file{{"a/b.1", filepath.Join(dir, "one"), 0o644}, {"satin-peer", filepath.Join(dir, "two"), 0o755}}
	for _, f := range list {
		if err := os.WriteFile(f.path, []byte("content of "+f.name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// An archive depends on what is in it and on the commit's time, and neither on when nor where it was made.
func TestArchivesAreReproducible(t *testing.T) {
	at := time.Unix(1.7e9, 0).UTC()
	type writer = func(to, below string, files []file, at time.Time) error
	for name, write := range map[string]writer{"tar": writeTar, "zip": writeZip} {
		var sums [2][32]byte
		for i := range sums {
			to := filepath.Join(t.TempDir(), "archive")
			list := made(t)
			for _, f := range list { // files of other times
				if err := os.Chtimes(f.path, at, at.Add(time.Duration(i)*time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			if err := write(to, "below", list, at); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			sums[i] = sha256.Sum256(content)
		}
		if sums[0] != sums[1] {
			t.Errorf("%s: two archives of the same differ", name)
		}
	}
}

// What is put in comes out.
func TestArchivesHoldTheFiles(t *testing.T) {
	at := time.Unix(1.7e9, 0).UTC()
	to := filepath.Join(t.TempDir(), "x")
	if err := writeTar(to, "below", made(t), at); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, _ := io.ReadAll(r)
		if err != nil || !h.ModTime.Equal(at) ||
			"below/"+strings.TrimPrefix(string(content), "content of ") != h.Name {
			t.Fatalf("%+v, %q, %v", h, content, err)
		}
		names = append(names, h.Name)
		if wantRun := h.Name == "below/satin-peer"; wantRun != (h.Mode&0o111 != 0) {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
	}
	if len(names) != 2 {
		t.Errorf("%q", names)
	}
	if err := writeZip(to, "below", made(t), at); err != nil {
		t.Fatal(err)
	}
	zipped, err := zip.OpenReader(to)
	if err != nil || len(zipped.File) != 2 || zipped.File[0].Name != "below/a/b.1" ||
		!zipped.File[0].Modified.Equal(at) {
		t.Errorf("%v", err)
	}
	zipped.Close()
}

// A tagged commit has its tag's version; another has one that comes before all of these, and names its time and
// itself.
func TestVersionOf(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	for tag, want := range map[string]string{
		"v1.2.3\n": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1",
		"": "0.0.0-20261122010203.abc", "nightly": "0.0.0-20261122010203.abc",
	} {
		if got := versionOf(tag, "abc", at); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
}

// The list of parts has what this test is made of.
func TestParts(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "parts")
	if err := writeParts(to, self, "1.2.3", time.Unix(0, 0).UTC()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(to)
	var l partsList
	if err != nil || json.Unmarshal(text, &l) != nil || l.Format != "CycloneDX" ||
		l.Metadata.Component.Version != "1.2.3" ||
		len(l.Components) == 0 || l.Components[0].Name != "std" {
		t.Errorf("%v, %+v", err, l)
	}
}

// Targets are chosen by name; what is no target is refused. Files of an archive have their places on Linux.
func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != 8 {
		t.Errorf("%v, %v", all, err)
	}
	two, err := choose("linux-arm64,windows-amd64")
	if err != nil || len(two) != 2 || two[1].program() != "satin-peer.exe" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := choose("linux-mips"); err == nil {
		t.Error("linux-mips is no target")
	}
	for name, want := range map[string]string{
		"satin-peer": "/usr/bin/satin-peer", "man/satin-peer-run.1": "/usr/share/man/man1/satin-peer-run.1",
		"completions/satin-peer.ps1": "", "docs/install.md": "/usr/share/doc/satin-peer/install.md",
		"systemd/satin-peer.service": "/usr/lib/systemd/user/satin-peer.service",
	} {
		if got := installed(name); got != want {
			t.Errorf("%s goes to %q, want %q", name, got, want)
		}
	}
}

// Two releases that differ are told by the files that do.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	more := filepath.Join(dir, "more")
	for name, text := range map[string]string{a: "1  x\n2  y\n", b: "1  x\n3  y\n", more: "1  x\n2  y\n4  z\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := compare(a, a); err != nil {
		t.Error(err)
	}
	if err := compare(a, b); err == nil || !strings.Contains(err.Error(), "2  y") ||
		strings.Contains(err.Error(), "1  x") {
		t.Errorf("%v", err)
	}
	if err := compare(a, more); err == nil || !strings.Contains(err.Error(), "4  z") {
		t.Errorf("the second has a file more: %v", err)
	}
}

// What a build compiles goes into the cache that it is given, whatever else a command asks for.
func TestBuildHasItsCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	r := &release{env: []string{"GOCACHE=" + cache}}
	if got, err := r.command(".", []string{"GOFLAGS="}, "go", "env", "GOCACHE"); err != nil || got != cache {
		t.Errorf("%q, %v, want %q", got, err, cache)
	}
}
