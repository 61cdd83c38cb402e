// Package sources names the code of an application: a version that is the same wherever the sources are the same.
//
// Peers work together on a run only if they have its application in the same version, as jobs that were sent to and fro
// must be the same function everywhere. So a version is a hash over all that the application's package reaches: its
// own files, those of the packages that it imports of its module and of modules that are replaced by directories, files
// that are embedded, and the path, version and checksum of every other module. Files for other systems count, tests do
// not, and neither does package satin with what it needs: that decides where jobs run and not what they give, and
// peers agree about it by the versions of their protocols. The Go toolchain does not count but for the language version
// in go.mod.
//
// [Write] is for go generate, and a test calls [Check]:
//
//	//go:generate go run github.com/satin-peer/satin/cmd/satinversion
package sources

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// Satin is the module whose runtime does not count.
const Satin = "github.com/satin-peer/satin"

// File is the name of the generated file, which does not count either.
const File = "version_gen.go"

// A place is a module whose sources are here.
type place struct {
	path, dir string
	mod       *modfile.File
	sums      []string // lines of go.sum
}

// reach is what a package reaches, as it is found.
type reach struct {
	main     *place
	places   []*place // the main module, and those that are replaced by directories
	packages map[string]*place
	modules  map[string]string // path: version and checksum
	files    map[string][32]byte
}

// Hash names the code of the application whose package is in a directory: 64 hexadecimal digits. It needs no network
// and no go command, and reads Go files, go.mod and go.sum.
func Hash(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	m, err := moduleOf(dir)
	if err != nil {
		return "", err
	}
	r := &reach{main: m, places: []*place{m}, packages: map[string]*place{}, modules: map[string]string{},
		files: map[string][32]byte{}}
	for _, p := range m.mod.Replace {
		if p.New.Version == "" {
			at := p.New.Path
			if !filepath.IsAbs(at) {
				at = filepath.Join(m.dir, at)
			}
			other, err := readModule(at)
			if err != nil {
				return "", err
			}
			other.path = p.Old.Path
			r.places = append(r.places, other)
		}
	}
	rel, err := filepath.Rel(m.dir, dir)
	if err != nil {
		return "", err
	}
	if err := r.visit(path.Join(m.path, filepath.ToSlash(rel))); err != nil {
		return "", err
	}
	return r.sum(), nil
}

// moduleOf finds the module that a directory is in.
func moduleOf(dir string) (*place, error) {
	for at := dir; ; at = filepath.Dir(at) {
		m, err := readModule(at)
		if !errors.Is(err, os.ErrNotExist) {
			return m, err
		}
		if filepath.Dir(at) == at {
			return nil, fmt.Errorf("%s is in no Go module: there is no go.mod", dir)
		}
	}
}

func readModule(dir string) (*place, error) {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse(filepath.Join(dir, "go.mod"), b, nil)
	if err != nil {
		return nil, err
	}
	if f.Module == nil {
		return nil, fmt.Errorf("%s: it names no module", filepath.Join(dir, "go.mod"))
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return &place{f.Module.Mod.Path, dir, f, strings.Split(string(plain(sums)), "\n")}, nil
}

// within says whether an import path is of a module, or of package path itself.
func within(path, module string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// runtime says whether a package is part of what runs jobs: package satin, what describes applications, and what both
// need.
func runtime(path string) bool {
	switch strings.TrimPrefix(path, Satin) {
	case "", "/apps", "/job", "/internal/engine", "/internal/cause":
		return within(path, Satin)
	}
	return false
}

// visit takes in a package and what it imports.
func (r *reach) visit(pkg string) error {
	first, _, _ := strings.Cut(pkg, "/")
	if pkg == "C" {
		return errors.New("it uses cgo: what C code does depends on the machine")
	}
	if runtime(pkg) || r.packages[pkg] != nil {
		return nil
	}
	var in *place
	for _, m := range r.places { // the innermost module that has it
		if within(pkg, m.path) && (in == nil || len(m.path) > len(in.path)) {
			in = m
		}
	}
	if in == nil {
		if !strings.Contains(first, ".") {
			return nil // of the standard library
		}
		return r.module(pkg)
	}
	r.packages[pkg] = in
	if in.mod.Go != nil {
		r.modules["go of "+in.path] = in.mod.Go.Version
	}
	dir := filepath.Join(in.dir, filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(pkg, in.path), "/")))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("package %s: %w", pkg, err)
	}
	n := 0
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == File ||
			strings.HasSuffix(name, "_test.go") {
			continue
		}
		if strings.HasSuffix(name, ".s") {
			if err := r.add(pkg, dir, name); err != nil {
				return err
			}
		}
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		n++
		if err := r.source(pkg, dir, name); err != nil {
			return err
		}
	}
	if n == 0 {
		return fmt.Errorf("package %s: there are no Go files in %s", pkg, dir)
	}
	return nil
}

// plain are the bytes of a text as they are on every system.
func plain(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// add takes in a file as it is.
func (r *reach) add(pkg, dir, name string) error {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	r.files[pkg+"/"+name] = sha256.Sum256(b)
	return err
}

// source takes in a Go file, what it embeds and what it imports.
func (r *reach) source(pkg, dir, name string) error {
	at := filepath.Join(dir, name)
	b, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	b = plain(b)
	f, err := parser.ParseFile(token.NewFileSet(), at, b, parser.ParseComments)
	if err != nil {
		return err
	}
	if ignored(f) {
		return nil
	}
	r.files[pkg+"/"+name] = sha256.Sum256(b)
	for _, group := range f.Comments {
		for _, c := range group.List {
			if patterns, is := strings.CutPrefix(c.Text, "//go:embed "); is {
				if err := r.embed(pkg, dir, patterns); err != nil {
					return err
				}
			}
		}
	}
	for _, i := range f.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			err = r.visit(imported)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ignored says whether a file is of no build: a program for go run beside the package.
func ignored(f *ast.File) bool {
	return slices.ContainsFunc(f.Comments, func(g *ast.CommentGroup) bool {
		return g.Pos() < f.Package && slices.ContainsFunc(g.List, func(c *ast.Comment) bool {
			return c.Text == "//go:build ignore"
		})
	})
}

// embed takes in the files of a go:embed line.
func (r *reach) embed(pkg, dir, patterns string) error {
	for _, pattern := range strings.Fields(patterns) {
		pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, at := range found {
			err := filepath.WalkDir(at, func(at string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				rel, err := filepath.Rel(dir, at)
				if err != nil {
					return err
				}
				return r.add(pkg, dir, filepath.ToSlash(rel))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// module takes in the module of a package whose sources are elsewhere: all that it needs is in go.mod, too.
func (r *reach) module(pkg string) error {
	var found *modfile.Require
	for _, q := range r.main.mod.Require {
		if within(pkg, q.Mod.Path) && (found == nil || len(q.Mod.Path) > len(found.Mod.Path)) {
			found = q
		}
	}
	if found == nil {
		return fmt.Errorf("package %s: no module in %s has it; go mod tidy adds it", pkg,
			filepath.Join(r.main.dir, "go.mod"))
	}
	// What it imports in turn is not looked for: all modules that go.mod names count.
	for _, q := range r.main.mod.Require {
		if q.Mod.Path == Satin && found.Mod.Path != Satin {
			continue
		}
		version := q.Mod.Version
		for _, p := range r.main.mod.Replace {
			if p.Old.Path == q.Mod.Path && (p.Old.Version == "" || p.Old.Version == version) {
				version = p.New.Path + " " + p.New.Version
			}
		}
		sum := ""
		for _, line := range r.main.sums {
			if strings.HasPrefix(line, q.Mod.Path+" "+q.Mod.Version+" ") {
				sum = line
			}
		}
		r.modules[q.Mod.Path] = version + " " + sum
	}
	return nil
}

// sum hashes what was reached, in order.
func (r *reach) sum() string {
	h := sha256.New()
	lines := make([]string, 0, len(r.files)+len(r.modules))
	for name, sum := range r.files {
		lines = append(lines, fmt.Sprintf("file %q %x", name, sum))
	}
	for name, version := range r.modules {
		lines = append(lines, fmt.Sprintf("module %q %q", name, version))
	}
	slices.Sort(lines)
	for _, line := range lines {
		_, _ = io.WriteString(h, line+"\n") // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Write writes the generated file of the package in a directory, if it is not right, and gives the version.
func Write(dir string) (version string, err error) {
	version, err = Hash(dir)
	if err != nil {
		return "", err
	}
	name, err := packageName(dir)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("// Code generated by satinversion. DO NOT EDIT.\n\npackage %s\n\n"+
		"// sources names all that this package's jobs are made of: go generate writes it anew.\nconst sources = %q\n",
		name, version)
	at := filepath.Join(dir, File)
	if old, err := os.ReadFile(at); err == nil && string(plain(old)) == text {
		return version, nil
	}
	return version, os.WriteFile(at, []byte(text), 0o666)
}

// packageName finds the name of the package in a directory.
func packageName(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") && e.Name() != File {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil,
				parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				return "", err
			}
			if !ignored(f) {
				return f.Name.Name, nil
			}
		}
	}
	return "", fmt.Errorf("there are no Go files in %s", dir)
}

// Check says whether a version is still that of the package in a directory. A test calls it with the version that
// the application tells: if it is stale, peers would work together whose jobs differ.
func Check(dir, version string) error {
	now, err := Hash(dir)
	if err != nil {
		return err
	}
	if now != version {
		return fmt.Errorf("the sources have changed since %s was written: run go generate in %s", File, dir)
	}
	return nil
}
