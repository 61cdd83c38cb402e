package satinvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// goers are the functions that run one of their arguments in another goroutine.
var goers = map[string]bool{
	"(*sync.WaitGroup).Go":                      true,
	"time.AfterFunc":                            true,
	"context.AfterFunc":                         true,
	"(*golang.org/x/sync/errgroup.Group).Go":    true,
	"(*golang.org/x/sync/errgroup.Group).TryGo": true,
}

// checkEscapes reports handles that leave the frame they belong to.
func (c *checker) checkEscapes(file *ast.File) {
	for _, d := range file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
			c.checkPackageVars(gen)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			c.checkGoroutine(n.Call)
		case *ast.CallExpr:
			if fn := typeutil.StaticCallee(c.info, n); fn != nil && goers[fn.FullName()] {
				c.checkGoroutine(n)
			}
		case *ast.SendStmt:
			if h := c.handleHeld(n.Value); h != none {
				c.report(n, "this sends a satin.%s to another goroutine; it is good only in the goroutine that runs its job: %s", h, insteadOf(h))
			}
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i := range n.Lhs {
					c.checkStore(n.Lhs[i], n.Rhs[i])
				}
			}
		}
		return true
	})
}

func (c *checker) checkPackageVars(gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		for _, name := range spec.(*ast.ValueSpec).Names {
			if v := asVar(c.info.Defs[name]); v != nil && name.Name != "_" {
				if h := c.handleIn(v.Type()); h != none {
					c.report(name,
						"package-level variable %s holds a satin.%s, which is good only while its job runs: pass it as a parameter", name.Name, h)
				}
			}
		}
	}
}

// checkStore reports a handle that an assignment puts where it outlives its job.
func (c *checker) checkStore(to, what ast.Expr) {
	v := c.root(to)
	h := c.handleHeld(what)
	if v == nil || h == none {
		return
	}
	switch {
	case v.Kind() == types.PackageVar:
		c.report(what,
			"this keeps a satin.%s in package-level variable %s; it is good only while its job runs: pass it as a parameter", h, v.Name())
	case h == frame && (v.Kind() == types.ParamVar || v.Kind() == types.RecvVar) &&
		(sharing{checker: c}).intoShared(to):
		c.report(what,
			"this stores a satin.Frame in %s, which may outlive the job: pass the Frame as the first parameter instead", types.ExprString(to))
	}
}

// checkGoroutine reports handles from outside that a call in another goroutine uses.
func (c *checker) checkGoroutine(call *ast.CallExpr) {
	if v := c.outerHandle(call, true); v != nil {
		is := "is"
		if handleOf(v.Type()) == none {
			is = "holds"
		}
		c.report(call,
			"%s, which %s a satin.%s, is used in another goroutine here; it is good only in the goroutine that runs its job: spawn a job instead of starting a goroutine",
			v.Name(), is, c.handleIn(v.Type()))
	}
}

// handleHeld says which handle the value of an expression leads to, by its type or, for a function literal,
// by what it captures.
func (c *checker) handleHeld(e ast.Expr) handle {
	if h := c.handleIn(c.info.TypeOf(e)); h != none {
		return h
	}
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		if v := c.outerHandle(lit, false); v != nil {
			return c.handleIn(v.Type())
		}
	}
	return none
}

// outerHandle finds a variable that holds a handle, is used inside n and comes from outside of it. With
// follow it also looks into function literals that n names through a local variable.
func (c *checker) outerHandle(n ast.Node, follow bool) (found *types.Var) {
	ast.Inspect(n, func(m ast.Node) bool {
		id, ok := m.(*ast.Ident)
		if !ok || found != nil {
			return found == nil
		}
		v := asVar(c.info.Uses[id])
		if v == nil || v.IsField() || n.Pos() <= v.Pos() && v.Pos() < n.End() {
			return true
		}
		if c.handleIn(v.Type()) != none {
			found = v
		} else if lit, ok := c.onlyValue(v).(*ast.FuncLit); ok && follow {
			found = c.outerHandle(lit, false)
		}
		return true
	})
	return found
}
