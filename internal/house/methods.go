package house

import (
	"fmt"
	"go/ast"
	"slices"
)

const maxMethods = 40 // a type that needs more is several machines

// A typeName names a type by the folder of its package.
type typeName struct{ dir, name string }

// Methods reports types with too many methods; their fields are too many to be understood together. Those that
// embedded types of the same package lend count too: they are called as if they were the type's own. The exceptions
// stand in largeTypes, each with how many it may have.
func Methods(t *Tree) (problems []string) {
	methods, embedded := map[typeName][]string{}, map[typeName][]typeName{}
	for _, f := range t.Files {
		if f.Test || f.Generated {
			continue
		}
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					typ := typeName{f.Dir, baseName(d.Recv.List[0].Type)}
					methods[typ] = append(methods[typ], d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						typ := typeName{f.Dir, spec.Name.Name}
						embedded[typ] = append(embedded[typ], embeddedIn(f.Dir, spec.Type)...)
					}
				}
			}
		}
	}
	for typ := range embedded { // every type there is
		parts, all := []typeName{typ}, map[string]bool{}
		for i := 0; i < len(parts); i++ {
			for _, name := range methods[parts[i]] {
				all[name] = true
			}
			for _, e := range embedded[parts[i]] {
				if !slices.Contains(parts, e) {
					parts = append(parts, e)
				}
			}
		}
		most := max(maxMethods, largeTypes[typ.dir+"."+typ.name].most)
		if n := len(all); n > most {
			problems = append(problems, fmt.Sprintf("%s: %s has %d methods, at most %d: it is several machines",
				typ.dir, typ.name, n, most))
		}
	}
	slices.Sort(problems)
	return problems
}

// embeddedIn gives the types of the package in dir that a struct embeds, by value or by pointer.
func embeddedIn(dir string, typ ast.Expr) (list []typeName) {
	if s, ok := typ.(*ast.StructType); ok {
		for _, field := range s.Fields.List {
			if field.Names == nil {
				list = append(list, typeName{dir, baseName(field.Type)})
			}
		}
	}
	return list
}

// baseName gives the name of the type of a receiver or an embedded field; "" if it is another package's.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
