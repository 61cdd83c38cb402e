package house

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// printers are the files that may name what a process prints to: where satin-peer's writers are made, which let
// nothing through that a terminal obeys, and its children, whose output is a line in their parent's log.
var printers = []string{"cli/main.go", "internal/compute/child/main.go", "internal/compute/child/module.go"}

// drawers are the files that may use the screen as it is, because they draw on it.
var drawers = []string{"cli/root.go", "cli/top.go", "cli/progress.go"}

// printing are the rooms whose code runs in satin-peer, where strangers' texts are.
var printing = []string{"cli", "peer", "dashboard", "gossip", "runs", "steal", "sharedobj", "verify", "job",
	"internal/compute", "internal/module", "internal/driver", "internal/checkpoint", "internal/report", "internal/wire"}

// Prints reports what could bring a stranger's text to a terminal or a log past the writers that make it harmless.
func Prints(t *Tree) (problems []string) {
	for _, f := range t.Files {
		if f.Test || !slices.ContainsFunc(printing, func(room string) bool {
			return f.Dir == room || strings.HasPrefix(f.Dir, room+"/")
		}) {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if name := printsWith(f.Path, n); name != "" {
				problems = append(problems, fmt.Sprintf("%s:%d: %s: only the console's writers print what strangers wrote",
					f.Path, t.Fset.Position(n.Pos()).Line, name))
			}
			return true
		})
	}
	return problems
}

// printsWith names what a node of a file prints with, if it may not; else "".
func printsWith(path string, n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		of, _ := n.X.(*ast.Ident)
		name, bad := n.Sel.Name, false
		switch {
		case of != nil && of.Name == "os":
			bad = (name == "Stdout" || name == "Stderr") && !slices.Contains(printers, path)
		case of != nil && of.Name == "fmt":
			bad = name == "Print" || name == "Printf" || name == "Println"
		case of != nil && of.Name == "log":
			bad = strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fatal")
		default:
			bad = name == "screen" && !slices.Contains(drawers, path)
		}
		if bad {
			return name
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "print" || fn.Name == "println") {
			return fn.Name
		}
	}
	return ""
}
