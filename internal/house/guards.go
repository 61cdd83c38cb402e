package house

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// guarded are the rooms whose every test says what it guards: those that carry the promises of runs.
var guarded = []string{"internal/driver", "internal/engine", "peer", "runs"}

// Guards reports test files whose first test has no comment, which says what the file guards, and in some rooms
// every such test.
func Guards(t *Tree) (problems []string) {
	for _, f := range t.Files {
		if !f.Test || f.Generated {
			continue
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name == "TestMain" ||
				!strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			if strings.TrimSpace(fn.Doc.Text()) == "" {
				problems = append(problems, fmt.Sprintf("%s: %s does not say what it guards", f.Path, fn.Name.Name))
			}
			if !slices.Contains(guarded, path.Dir(f.Path)) {
				break
			}
		}
	}
	return problems
}
