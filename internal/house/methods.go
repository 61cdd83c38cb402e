package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
)

const maxMethods = 40 // a type that needs more is several machines

// Methods reports types with too many methods; their fields are too many to be understood together. The exceptions
// stand in largeTypes, each with how many it may have.
func Methods(t *Tree) (problems []string) {
	type named struct{ dir, name string }
	methods := map[named]int{}
	for _, f := range t.Files {
		if f.Test || f.Generated {
			continue
		}
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[named{f.Dir, receiver(fn.Recv.List[0].Type)}]++
			}
		}
	}
	var types []named
	for typ := range methods {
		types = append(types, typ)
	}
	slices.SortFunc(types, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir),
			cmp.Compare(a.name, b.name))
	})
	for _, typ := range types {
		most := max(maxMethods, largeTypes[typ.dir+"."+typ.name].most)
		if n := methods[typ]; n > most {
			problems = append(problems, fmt.Sprintf("%s: %s has %d methods, at most %d: it is several machines",
				typ.dir,
				typ.name, n, most))
		}
	}
	return problems
}

// receiver gives the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
