// Release builds what a release consists of, into a directory: for Linux, Windows, macOS and FreeBSD on amd64 and
// arm64 an archive with the program, its manual pages and completions; for Linux a .deb and an .rpm besides; what each
// program is made of (CycloneDX); and the sums of all files.
//
//	go run ./internal/release -nfpm bin/nfpm            # into bin/release
//	go run ./internal/release -nfpm bin/nfpm -twice     # and again elsewhere, from an empty cache, and compares
//
// The same commit gives the same bytes, wherever and whenever it is built with the same Go: paths are left out of the
// programs, all times are that of the commit, and all lists are in order. It needs git, and builds what is committed.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A target is a system and a processor.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "-" + t.arch }

// program is what the file is called there.
func (t target) program() string {
	if t.os == "windows" {
		return "satin-peer.exe"
	}
	return "satin-peer"
}

// targets are all that a release is for.
func targets() (list []target) {
	for _, system := range []string{"linux", "windows", "darwin", "freebsd"} {
		for _, arch := range []string{"amd64", "arm64"} {
			list = append(list, target{system, arch})
		}
	}
	return list
}

// A release is one that is being built.
type release struct {
	source  string // directory of a clean copy of the commit; only what git ignores is written there
	work    string
	commit  string
	out     string
	nfpm    string // the program
	env     []string
	targets []target
	version string
	at      time.Time // of the commit
}

func main() {
	out := flag.String("out", "bin/release", "the directory to write to; what is in it is removed")
	nfpm := flag.String("nfpm", "bin/nfpm", "the program nfpm")
	only := flag.String("only", "", "systems and processors to build for, such as linux-amd64,windows-arm64; all if empty")
	twice := flag.Bool("twice", false, "build it again, from another place and an empty compile cache, and compare")
	flag.Parse()
	if err := run(*out, *nfpm, *only, *twice); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(out, nfpm, only string, twice bool) error {
	list, err := choose(only)
	if err != nil {
		return err
	}
	if nfpm, err = filepath.Abs(nfpm); err != nil {
		return err
	}
	if _, err := os.Stat(nfpm); err != nil {
		return fmt.Errorf("%w: make bin/nfpm builds it", err)
	}
	told, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse HEAD: %w", err)
	}
	commit := strings.TrimSpace(string(told)) // of both, whatever becomes of the branch
	if err := build(out, nfpm, commit, list, nil); err != nil || !twice {
		return err
	}
	again, err := os.MkdirTemp("", "satin-release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(again)
	fmt.Println("once more, from an empty cache")
	cache := "GOCACHE=" + filepath.Join(again, "cache") // with the first's cache, it would be compared with itself
	if err := build(filepath.Join(again, "out"), nfpm, commit, list, []string{cache}); err != nil {
		return err
	}
	return compare(filepath.Join(out, "SHA256SUMS"), filepath.Join(again, "out", "SHA256SUMS"))
}

// choose reads the targets that are wanted.
func choose(only string) (list []target, err error) {
	if only == "" {
		return targets(), nil
	}
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(targets(), func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: got %q, want some of %v", name, targets())
		}
		list = append(list, targets()[i])
	}
	return list, nil
}

// compare says which files of two lists of sums differ.
func compare(a, b string) error {
	first, err := os.ReadFile(a)
	if err != nil {
		return err
	}
	second, err := os.ReadFile(b)
	if err != nil {
		return err
	}
	if bytes.Equal(first, second) {
		fmt.Printf("built twice: %d files are the same to the bit\n", bytes.Count(first, []byte("\n")))
		return nil
	}
	var errs []error
	for _, of := range [][2]string{{string(first), string(second)}, {string(second), string(first)}} {
		for line := range strings.Lines(of[0]) {
			if !strings.Contains(of[1], line) {
				errs = append(errs, fmt.Errorf("built twice, this differs: %s", strings.TrimSpace(line)))
			}
		}
	}
	return errors.Join(errs...)
}

// build makes a release of a commit. Its commands have env besides their environment.
func build(out, nfpm, commit string, list []target, env []string) error {
	work, err := os.MkdirTemp("", "satin-build-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &release{source: filepath.Join(work, "source"), work: work, nfpm: nfpm, commit: commit,
		env: env, targets: list}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	if err := r.checkOut(); err != nil {
		return err
	}
	plain := []string{"GOFLAGS=", "GOWORK=off"}
	if _, err := r.command(r.source, plain, "go", "run", "./internal/tab/pack"); err != nil {
		return fmt.Errorf("the program for browsers: %w", err)
	}
	manual, err := r.manual()
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		fmt.Println(t, r.version)
		if err := r.target(t, manual); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
	}
	return r.sums()
}

// checkOut makes a clean copy of the commit, and finds out its version and time. It is a clone, as Go writes into
// programs which commit they are of.
func (r *release) checkOut() error {
	if _, err := r.command(".", nil, "git", "clone", "-q", "--no-hardlinks", ".", r.source); err != nil {
		return err
	}
	if _, err := r.command(r.source, nil, "git", "checkout", "-q", "--detach", r.commit); err != nil {
		return err
	}
	told, err := r.command(r.source, nil, "git", "log", "-1", "--format=%ct %h", "--abbrev=12")
	if err != nil {
		return err
	}
	seconds, commit, _ := strings.Cut(told, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.at = time.Unix(unix, 0).UTC()
	tag, _ := r.command(r.source, nil, "git", "describe", "--tags", "--exact-match") // none is no error
	r.version = versionOf(tag, commit, r.at)
	return nil
}

var tagged = regexp.MustCompile(`^v([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.]+)?)$`)

// versionOf is the tag's, or one before all others that orders commits by their time.
func versionOf(tag, commit string, at time.Time) string {
	if m := tagged.FindStringSubmatch(strings.TrimSpace(tag)); m != nil {
		return m[1]
	}
	return fmt.Sprintf("0.0.0-%s.%s", at.Format("20060102150405"), commit)
}

// command runs one and gives what it prints.
func (r *release) command(dir string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, slices.Concat(os.Environ(), r.env, env)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// compile builds the program for a target.
func (r *release) compile(t target, to string) error {
	_, err := r.command(r.source, []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOFLAGS=",
		"GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="},
		"go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", to, "./cmd/satin-peer")
	return err
}

// manual has the program of this machine write its manual pages and completions.
func (r *release) manual() (dir string, err error) {
	dir = filepath.Join(r.work, "manual")
	own := filepath.Join(r.work, "own")
	if _, err := r.command(r.source, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-o", own,
		"./cmd/satin-peer"); err != nil {
		return "", err
	}
	_, err = r.command(r.work, nil, own, "manual", dir)
	return dir, err
}

// target makes all files for one.
func (r *release) target(t target, manual string) error {
	stage := filepath.Join(r.work, "stage", t.String())
	program := filepath.Join(stage, t.program())
	if err := r.compile(t, program); err != nil {
		return err
	}
	name := fmt.Sprintf("satin-peer-%s-%v", r.version, t)
	files, err := r.contents(t, program, manual)
	if err != nil {
		return err
	}
	write := writeTar
	suffix := ".tar.gz"
	if t.os == "windows" {
		write, suffix = writeZip, ".zip"
	}
	if err := write(filepath.Join(r.out, name+suffix), name, files, r.at); err != nil {
		return err
	}
	if err := writeParts(filepath.Join(r.out, name+".cdx.json"), program, r.version, r.at); err != nil {
		return err
	}
	if t.os == "linux" {
		return r.packages(t, stage, files)
	}
	return nil
}

// contents lists the files of an archive: their names in it, and where they are.
func (r *release) contents(t target, program, manual string) (files []file, err error) {
	files = []file{{t.program(), program, 0o755}}
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md", "docs/install.md"} {
		files = append(files, file{name, filepath.Join(r.source, filepath.FromSlash(name)), 0o644})
	}
	err = filepath.WalkDir(manual, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(manual, path)
		files = append(files, file{filepath.ToSlash(rel), path, 0o644})
		return err
	})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// sums writes the SHA-256 of each file, as sha256sum reads them.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries { // in order
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644)
}
