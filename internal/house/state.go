package house

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// State reports package-level variables that can change. A variable may stay if it is set once, where it is
// declared, to something that does not change by itself (a table, an error, a regular expression, an embedded
// file, the result of a function of the same package), and if nothing in its package writes it, takes its
// address or calls a method on it that could. Tests may have what they like, so may the modules inside this
// one (a benchmark has sinks that keep its work from being optimised away), and stateAllowed names the
// exceptions.
func State(t *Tree) (problems []string) {
	for _, files := range t.packages() {
		p := t.resolve(files)
		for _, f := range files {
			for _, d := range f.AST.Decls {
				gen, ok := d.(*ast.GenDecl)
				if !ok || gen.Tok != token.VAR {
					continue
				}
				for _, spec := range gen.Specs {
					p.declared(t, f, gen, spec.(*ast.ValueSpec), &problems)
				}
			}
		}
		for _, f := range files {
			p.written(t, f, &problems)
		}
	}
	return problems
}

// packages gives the non-test files of each package of the module at the top, in order.
func (t *Tree) packages() (all [][]*File) {
	index := map[string]int{}
	for _, f := range t.Files {
		if f.Test || f.Nested != "" {
			continue
		}
		key := f.Dir + " " + f.AST.Name.Name
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], f)
	}
	return all
}

// A pkg is one package with its names resolved. Imported packages are not read, so what comes from them has no type.
type pkg struct {
	dir   string
	types *types.Package
	info  *types.Info
	vars  map[types.Object]bool // its package-level variables
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

func (t *Tree) resolve(files []*File) *pkg {
	p := &pkg{
		dir:  files[0].Dir,
		vars: map[types.Object]bool{},
		info: &types.Info{
			Defs:       map[*ast.Ident]types.Object{},
			Uses:       map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		},
	}
	var asts []*ast.File
	for _, f := range files {
		asts = append(asts, f.AST)
	}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	p.types, _ = conf.Check(p.dir, t.Fset, asts, p.info) // fails for want of imports, but resolves the package
	for _, f := range files {
		for _, d := range f.AST.Decls {
			if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				for _, spec := range gen.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if obj := p.info.Defs[name]; obj != nil && name.Name != "_" &&
							!slices.Contains(stateAllowed[p.dir], name.Name) {
							p.vars[obj] = true
						}
					}
				}
			}
		}
	}
	return p
}

// declared looks at how variables are declared.
func (p *pkg) declared(t *Tree, f *File, gen *ast.GenDecl, spec *ast.ValueSpec, problems *[]string) {
	embedded := strings.Contains(comments(gen, spec), "//go:embed ")
	for i, name := range spec.Names {
		if !p.vars[p.info.Defs[name]] || embedded {
			continue
		}
		why := ""
		switch {
		case len(spec.Values) == 0:
			why = "is declared without a value, so it must be set somewhere"
		case len(spec.Values) == len(spec.Names):
			why = p.changeable(spec.Values[i], name.Name)
		}
		if why == "" && spec.Type != nil {
			why = changeableType(spec.Type)
		}
		if why != "" {
			*problems = append(*problems, fmt.Sprintf(
				"%s: package-level variable %s %s; pass state as a parameter or a field, or name the exception in stateAllowed of internal/house/rooms.go", t.at(name), name.Name, why))
		}
	}
}

// comments gives the comments of a declaration as they are written, directives too.
func comments(gen *ast.GenDecl, spec *ast.ValueSpec) (text string) {
	for _, group := range []*ast.CommentGroup{gen.Doc, spec.Doc} {
		if group != nil {
			for _, c := range group.List {
				text += c.Text + "\n"
			}
		}
	}
	return text
}

// constantMakers are functions of other packages whose results do not change.
var constantMakers = []string{
	"errors.New", "fmt.Errorf", "fmt.Sprintf", "regexp.MustCompile", "reflect.TypeFor", "reflect.TypeOf",
	"sync.OnceValue", "sync.OnceValues", "strings.NewReplacer", "strings.Repeat", "strings.Fields", "strings.Split",
	"template.Must", "big.NewInt", "slices.Sorted", "maps.Clone", "runtime.GOMAXPROCS", "runtime.NumCPU",
	"math.Inf", "math.NaN", "math.Sqrt", "math.Log", "math.Pow",
}

// changeable says why an initial value is not constant; "" if it is.
func (p *pkg) changeable(v ast.Expr, name string) string {
	switch v := ast.Unparen(v).(type) {
	case *ast.CompositeLit:
		return changeableType(v.Type)
	case *ast.UnaryExpr:
		if v.Op == token.AND && !strings.HasPrefix(strings.ToLower(name), "err") {
			return "is a pointer to something that can change"
		}
	case *ast.CallExpr:
		fun := ast.Unparen(v.Fun)
		switch x := fun.(type) { // instances of generic functions
		case *ast.IndexExpr:
			fun = x.X
		case *ast.IndexListExpr:
			fun = x.X
		}
		switch fun := fun.(type) {
		case *ast.Ident:
			if fun.Name == "new" || fun.Name == "make" {
				return "is made empty, so it must be filled somewhere"
			}
		case *ast.SelectorExpr:
			if full := types.ExprString(fun); p.info.Selections[fun] == nil && !slices.Contains(constantMakers, full) {
				return "is made by " + full + ", which is not known to give a constant"
			}
		}
	}
	return ""
}

// changeableType says why values of a type change by themselves; "" if they do not.
func changeableType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ChanType:
		return "is a channel"
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && (x.Name == "sync" || x.Name == "atomic") {
			return "is a " + types.ExprString(e)
		}
	case *ast.IndexExpr:
		return changeableType(e.X)
	case *ast.ArrayType:
		return changeableType(e.Elt)
	case *ast.MapType:
		return changeableType(e.Value)
	}
	return ""
}

// written looks for what changes a variable in the code of a file.
func (p *pkg) written(t *Tree, f *File, problems *[]string) {
	report := func(e ast.Expr, how string) {
		if v := p.root(e); v != nil {
			*problems = append(*problems, fmt.Sprintf(
				"%s: package-level variable %s %s: only tables that never change may be package-level", t.at(e),
				v.Name(), how))
		}
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				report(l, "is written")
			}
		case *ast.IncDecStmt:
			report(n.X, "is written")
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				report(n.Key, "is written")
				report(n.Value, "is written")
			}
		case *ast.SendStmt:
			report(n.Chan, "is sent to")
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				report(n.X, "has its address taken")
			}
		case *ast.CallExpr:
			if name := types.ExprString(n.Fun); slices.Contains([]string{"delete", "clear", "copy"}, name) &&
				len(n.Args) > 0 {
				report(n.Args[0], "is written")
			}
		case *ast.SelectorExpr:
			if sel := p.info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && onPointer(sel) {
				report(n.X, "is changed by its method "+n.Sel.Name)
			}
		}
		return true
	})
}

// onPointer says whether a method takes the address of the variable it is called on.
func onPointer(sel *types.Selection) bool {
	recv := sel.Obj().(*types.Func).Signature().Recv()
	_, wants := recv.Type().(*types.Pointer)
	_, is := sel.Recv().Underlying().(*types.Pointer)
	return wants && !is
}

// root gives the package-level variable in whose memory an expression lies, nil if it is not in one.
func (p *pkg) root(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if obj := p.info.Uses[x]; p.vars[obj] {
				return obj
			}
			return nil
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
