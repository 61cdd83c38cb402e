package house

import (
	"fmt"
	"go/ast"
	"strings"
)

// Guards reports tests without a comment, which says what they guard.
func Guards(t *Tree) (problems []string) {
	for _, f := range t.Files {
		if !f.Test || f.Generated {
			continue
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && isTest(fn) && strings.TrimSpace(fn.Doc.Text()) == "" {
				problems = append(problems, fmt.Sprintf("%s: %s does not say what it guards", f.Path, fn.Name.Name))
			}
		}
	}
	return problems
}

func isTest(fn *ast.FuncDecl) bool {
	name := fn.Name.Name
	return fn.Recv == nil && name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz"))
}
