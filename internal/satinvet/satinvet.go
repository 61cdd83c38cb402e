package satinvet

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
)

// Analyzer is the whole of satinvet. Run it with
//
//	go vet -vettool=$(command -v satinvet) ./...
var Analyzer = &analysis.Analyzer{
	Name:      "satinvet",
	Doc:       doc,
	URL:       "https://pkg.go.dev/github.com/satin-peer/satin/internal/satinvet",
	Run:       run,
	Requires:  []*analysis.Analyzer{ctrlflow.Analyzer},
	FactTypes: []analysis.Fact{new(registrations), new(registersParams)},
}

const doc = `find mistakes in programs for package satin

It reports results that nobody takes, or that are taken twice or before anything was spawned; jobs that cannot travel or are
not registered; Frames, Futures and Groups that outlive their job or change the goroutine; recover where it swallows an
abort; and jobs that write package-level variables.

A comment on the same line or the line above silences a report: //satinvet:ignore and the reason.`

// A checker looks at one package.
type checker struct {
	pass  *analysis.Pass
	info  *types.Info
	cfgs  *ctrlflow.CFGs
	decls map[*types.Func]*ast.FuncDecl // the functions of this package that have a body
	defs  map[*types.Var][]ast.Expr     // what each variable is set to; nil for a value that is not written down
	jobs  map[*types.Func]bool          // functions of this package that are registered or spawned in it
	holds map[types.Type]handle         // memo of handleIn

	found   []analysis.Diagnostic
	ignores map[line]*ignore
}

type line struct {
	file string
	n    int
}

// An ignore is one //satinvet:ignore comment.
type ignore struct {
	pos  token.Pos
	used bool
}

const ignorePrefix = "//satinvet:ignore"

func run(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Path() == satinPath || !slices.ContainsFunc(pass.Pkg.Imports(),
		func(p *types.Package) bool { return p.Path() == satinPath }) {
		return nil, nil
	}
	c := &checker{
		pass:    pass,
		info:    pass.TypesInfo,
		cfgs:    pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs),
		decls:   map[*types.Func]*ast.FuncDecl{},
		defs:    map[*types.Var][]ast.Expr{},
		jobs:    map[*types.Func]bool{},
		holds:   map[types.Type]handle{},
		ignores: map[line]*ignore{},
	}
	for _, file := range pass.Files {
		c.readIgnores(file)
		c.readDefinitions(file)
	}
	reg := c.findRegistrations()
	for _, file := range pass.Files {
		c.checkValues(file)
		c.checkSpawned(file, reg)
		c.checkEscapes(file)
		c.checkRecovers(file)
		sharing{checker: c}.checkShared(file)
	}
	for _, b := range c.bodies() {
		c.checkFlow(b)
	}
	c.checkPurity()
	c.finish()
	return nil, nil
}

// finish hands the reports over in the order of the text, without those that are silenced or said twice.
func (c *checker) finish() {
	for _, ig := range c.ignores {
		if !ig.used {
			c.found = append(c.found, analysis.Diagnostic{Pos: ig.pos,
				Message: "this satinvet:ignore silences nothing: remove it"})
		}
	}
	slices.SortFunc(c.found, func(a, b analysis.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.Message, b.Message))
	})
	for i, d := range c.found {
		if c.looksAt(d.Pos) && (i == 0 || d.Pos != c.found[i-1].Pos || d.Message != c.found[i-1].Message) {
			c.pass.Report(d)
		}
	}
}

// looksAt says whether reports at pos are wanted: everywhere but in the tests of package satin and its engine, which
// make mistakes on purpose, except its examples.
func (c *checker) looksAt(pos token.Pos) bool {
	if path := c.pass.Pkg.Path(); path != satinPath+"_test" && path != satinPath+"/internal/engine_test" {
		return true
	}
	return strings.HasPrefix(filepath.Base(c.pass.Fset.Position(pos).Filename), "example")
}

// inTest says whether pos is in a test file.
func (c *checker) inTest(pos token.Pos) bool {
	return strings.HasSuffix(c.pass.Fset.Position(pos).Filename, "_test.go")
}

func (c *checker) report(at ast.Node, format string, args ...any) {
	p := c.pass.Fset.Position(at.Pos())
	for _, n := range []int{p.Line, p.Line - 1} {
		if ig := c.ignores[line{p.Filename, n}]; ig != nil {
			ig.used = true
			return
		}
	}
	c.found = append(c.found, analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)})
}

func (c *checker) readIgnores(file *ast.File) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			why, ok := strings.CutPrefix(comment.Text, ignorePrefix)
			if !ok {
				continue
			}
			if strings.TrimSpace(why) == "" {
				c.found = append(c.found, analysis.Diagnostic{Pos: comment.Pos(),
					Message: "satinvet:ignore needs a reason: //satinvet:ignore why this is right"})
				continue
			}
			p := c.pass.Fset.Position(comment.Pos())
			c.ignores[line{p.Filename, p.Line}] = &ignore{pos: comment.Pos()}
		}
	}
}

// readDefinitions notes the functions of a file and what its variables are set to.
func (c *checker) readDefinitions(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if fn, ok := c.info.Defs[n.Name].(*types.Func); ok && n.Body != nil {
				c.decls[fn] = n
			}
		case *ast.AssignStmt:
			c.define(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			lhs := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				lhs[i] = name
			}
			if len(n.Values) > 0 {
				c.define(lhs, n.Values)
			}
		case *ast.RangeStmt:
			c.define([]ast.Expr{n.Key, n.Value}, nil)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				c.define([]ast.Expr{n.X}, nil)
			}
		}
		return true
	})
}

func (c *checker) define(lhs, rhs []ast.Expr) {
	for i, l := range lhs {
		id, ok := l.(*ast.Ident)
		if !ok {
			continue
		}
		if v, ok := c.info.ObjectOf(id).(*types.Var); ok {
			var r ast.Expr
			if len(lhs) == len(rhs) {
				r = rhs[i]
			}
			c.defs[v] = append(c.defs[v], r)
		}
	}
}

// onlyValue gives the one expression that v is ever set to, nil if there is none, several or an unknown one.
func (c *checker) onlyValue(v *types.Var) ast.Expr {
	if d := c.defs[v]; len(d) == 1 && (v.Kind() == types.LocalVar || v.Kind() == types.PackageVar && !v.Exported()) {
		return d[0]
	}
	return nil
}
