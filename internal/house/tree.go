package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// A Tree is a source tree: the Go files outside testdata, and the documents.
type Tree struct {
	FS      fs.FS
	Fset    *token.FileSet
	Module  string            // path of the module at the top
	Nested  []string          // folders of other modules inside it
	Files   []*File           // in order of their paths
	Docs    map[string]string // text of each .md file, by path
	Targets map[string]bool   // targets of the Makefile at the top
}

// A File is one Go file.
type File struct {
	Path, Dir string // from the top of the tree, with slashes; Dir is "." at the top
	Nested    string // the folder of the module it belongs to, "" for the module at the top
	Test      bool
	Generated bool
	Lines     int
	Wide      []int // numbers of lines that are too wide, those that are mostly a string excepted
	AST       *ast.File
}

// Load reads a tree. Folders named testdata or vendor, and those that begin with a dot or an underscore, are
// passed over.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{FS: fsys, Fset: token.NewFileSet(), Docs: map[string]string{}, Targets: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(p)
		if d.IsDir() {
			if p != "." && (base == "testdata" || base == "vendor" || base == "node_modules" || base[0] == '.' ||
				base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		return t.read(p)
	})
	if err != nil {
		return nil, err
	}
	if t.Module == "" {
		return nil, fmt.Errorf("no go.mod with a module line at the top of the tree")
	}
	sort.Strings(t.Nested)
	for _, f := range t.Files {
		for _, dir := range t.Nested {
			if within(f.Dir, dir) {
				f.Nested = dir
			}
		}
	}
	return t, nil
}

func (t *Tree) read(p string) error {
	kind := path.Ext(p)
	if kind != ".go" && kind != ".md" && path.Base(p) != "go.mod" && p != "Makefile" {
		return nil
	}
	text, err := fs.ReadFile(t.FS, p)
	if err != nil {
		return err
	}
	switch {
	case p == "go.mod":
		t.Module = modulePath(text)
	case p == "Makefile":
		for line := range strings.Lines(string(text)) {
			if name, _, ok := strings.Cut(line, ":"); ok && name != "" && !strings.ContainsAny(name, " \t=.$#") {
				t.Targets[name] = true
			}
		}
	case kind == ".md":
		t.Docs[p] = string(text)
	case kind == ".go":
		return t.parse(p, text)
	default:
		t.Nested = append(t.Nested, path.Dir(p))
	}
	return nil
}

func (t *Tree) parse(p string, text []byte) error {
	f, err := parser.ParseFile(t.Fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, &File{
		Path: p, Dir: path.Dir(p),
		Test:      strings.HasSuffix(p, "_test.go"),
		Generated: ast.IsGenerated(f),
		Lines:     bytes.Count(text, []byte("\n")),
		Wide:      wideLines(t.Fset, f, text),
		AST:       f,
	})
	return nil
}

func modulePath(goMod []byte) string {
	for line := range strings.Lines(string(goMod)) {
		if rest, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// within says whether a folder is another one or lies inside it.
func within(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

// at names the place of a node in a problem.
func (t *Tree) at(n ast.Node) string {
	p := t.Fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
