package house

import (
	"fmt"
	"go/ast"
	"strings"
)

// Guards reports test files whose first test has no comment: it says what the file guards.
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
			break
		}
	}
	return problems
}
