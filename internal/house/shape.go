package house

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

const (
	maxFileLines = 500 // past this it is two ideas
	maxFuncLines = 70  // a screen
)

// Sizes reports files and functions that are too long. Tests and generated files may be.
func Sizes(t *Tree) (problems []string) {
	for _, f := range t.Files {
		if f.Test || f.Generated {
			continue
		}
		if f.Lines > maxFileLines {
			problems = append(problems, fmt.Sprintf("%s: %d lines, at most %d: it is two ideas, so two files",
				f.Path, f.Lines, maxFileLines))
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.Fset.Position(fn.End()).Line - t.Fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
				problems = append(problems, fmt.Sprintf("%s: %s has %d lines, at most %d", t.at(fn), fn.Name.Name,
					n, maxFuncLines))
			}
		}
	}
	return problems
}

// PackageDocs reports packages that do not say what they are for: "Package NAME ..." in one of their files;
// for a command "Command NAME ..." or "NAME ...", where NAME is that of its folder, with a capital in the
// latter.
func PackageDocs(t *Tree) (problems []string) {
	documented := map[string]bool{}
	var dirs []string
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		if _, ok := documented[f.Dir]; !ok {
			dirs = append(dirs, f.Dir)
			documented[f.Dir] = false
		}
		starts := []string{"Package " + f.AST.Name.Name + " "}
		if f.AST.Name.Name == "main" {
			name := path.Base(f.Dir)
			starts = []string{"Command " + name + " ", strings.ToUpper(name[:1]) + name[1:] + " "}
		}
		text := f.AST.Doc.Text()
		if slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) }) {
			documented[f.Dir] = true
		}
	}
	for _, dir := range dirs {
		if !documented[dir] {
			problems = append(problems, fmt.Sprintf(
				"%s: no package comment that begins with \"Package NAME\", or \"Command NAME\" or \"NAME\" for a command", dir))
		}
	}
	return problems
}

// vague are words that say nothing of what is in a package or file.
var vague = []string{"util", "common", "helper", "manager", "misc"}

// Names reports packages and files with names that could hold anything.
func Names(t *Tree) (problems []string) {
	seen := map[string]bool{}
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		name := strings.TrimSuffix(path.Base(f.Path), ".go")
		for _, word := range vague {
			if id := f.Dir + " " + word; !seen[id] && (strings.Contains(f.AST.Name.Name, word) ||
				strings.Contains(path.Base(f.Dir), word)) {
				seen[id] = true
				problems = append(problems, fmt.Sprintf(
					"%s: a package named after %q could hold anything: name it for its one responsibility", f.Dir,
					word))
			}
			if name == word || name == word+"s" {
				problems = append(problems, fmt.Sprintf(
					"%s: a file named %q could hold anything: name it after its idea", f.Path, name))
			}
		}
	}
	return problems
}
