package house

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Imports reports imports that the table of rooms does not allow, and folders that are not in it. Tests of a room may
// also import package satin, the room itself, testModules and what the table names for them.
func Imports(t *Tree) (problems []string) {
	for _, dir := range t.Nested {
		if !slices.Contains(nestedModules, dir) {
			problems = append(problems, fmt.Sprintf(
				"%s: a module that is not in nestedModules of internal/house/rooms.go", dir))
		}
	}
	unknown := map[string]bool{}
	for _, f := range t.Files {
		if f.Nested != "" {
			continue
		}
		r := roomOf(f.Dir)
		if r == nil {
			if !unknown[f.Dir] {
				problems = append(problems, fmt.Sprintf(
					"%s: unknown room: say in internal/house/rooms.go, and in docs/architecture.md, what it may know", f.Dir))
			}
			unknown[f.Dir] = true
			continue
		}
		for _, spec := range f.AST.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil || !r.allows(t.Module, imp, f) {
				problems = append(problems, fmt.Sprintf("%s: %s may not import %s: it may know %s", t.at(spec),
					f.Dir, imp, r))
			}
		}
	}
	return problems
}

func roomOf(dir string) *room {
	for _, r := range rooms {
		if ok, _ := path.Match(r.dir, dir); ok {
			return &r
		}
	}
	return nil
}

func (r *room) String() string {
	names := []string{"the standard library"}
	for _, k := range r.knows {
		if k == "." {
			k = "satin"
		}
		names = append(names, k)
	}
	for _, m := range r.modules {
		if m == "*" {
			m = "other modules but libp2p"
		}
		names = append(names, m)
	}
	return strings.Join(names, ", ")
}

func (r *room) allows(module, imp string, f *File) bool {
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return imp != "C" // cgo would need a C compiler on every peer
	}
	if imp == module || strings.HasPrefix(imp, module+"/") {
		dir := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
		if dir == "" {
			dir = "."
		}
		if f.Test && (dir == f.Dir || dir == "." || slices.Contains(r.tests, dir)) {
			return true
		}
		return slices.ContainsFunc(r.knows, func(k string) bool {
			ok, _ := path.Match(k, dir)
			return ok
		})
	}
	if f.Test && inModules(imp, testModules) {
		return true
	}
	return inModules(imp, r.modules) || slices.Contains(r.modules, "*") && !inModules(imp, libp2p)
}

func inModules(imp string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return imp == m ||
			strings.HasPrefix(imp, strings.TrimSuffix(m, "/")+"/")
	})
}
