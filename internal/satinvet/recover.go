package satinvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// checkRecovers reports recover in functions that spawn, wait or are handed a Frame. An aborted job unwinds
// by a panic of the engine's own; a recover on its way stops it, and the job goes on working for nobody. One
// that panics again with what it recovered does no harm.
func (c *checker) checkRecovers(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		var sig *types.Signature
		var block *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			sig, block = c.info.Defs[n.Name].(*types.Func).Signature(), n.Body
		case *ast.FuncLit:
			sig, block = c.info.TypeOf(n).(*types.Signature), n.Body
		}
		if block == nil || !takesFrame(sig) && !c.usesHandles(block) {
			return true
		}
		inspectOwn(block, func(n ast.Node) {
			if d, ok := n.(*ast.DeferStmt); ok {
				if call := c.swallows(d.Call); call != nil {
					c.report(call,
						"recover here also swallows the unwinding of an aborted job: take the child's result with Future.Try, which gives its panic as an error, or panic again with what was recovered")
				}
			}
		})
		return true
	})
}

// usesHandles says whether a function works with Frames, Futures or Groups, outside what it only defers.
func (c *checker) usesHandles(block *ast.BlockStmt) (uses bool) {
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			return false
		case *ast.FuncLit:
			if takesFrame(c.info.TypeOf(n).(*types.Signature)) {
				return false // it gets a Frame of its own when it is called
			}
		case *ast.Ident:
			if v := asVar(c.info.Uses[n]); v != nil && handleOf(v.Type()) != none {
				uses = true
			}
		}
		return !uses
	})
	return uses
}

// inspectOwn visits the nodes of a function body that are not in function literals inside it.
func inspectOwn(block *ast.BlockStmt, visit func(ast.Node)) {
	ast.Inspect(block, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// swallows finds the place where a deferred call recovers without panicking again; nil if it does not.
func (c *checker) swallows(deferred *ast.CallExpr) (at ast.Node) {
	block, at := c.deferredBody(deferred)
	if block == nil {
		return nil
	}
	var recovered []token.Pos // where the variables are declared that hold it
	recovers, repanics := false, false
	inspectOwn(block, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && c.isRecovered(n.Rhs[0], recovered) {
				recovered = append(recovered, c.declared(n.Lhs[0]))
			}
		case *ast.CallExpr:
			if c.isBuiltin(n, "recover") {
				recovers = true
				if at == nil {
					at = n
				}
			}
			if c.isBuiltin(n, "panic") && c.mentions(n.Args[0], recovered) {
				repanics = true
			}
		}
	})
	if !recovers || repanics {
		return nil
	}
	return at
}

// deferredBody gives the body that a deferred call runs: of a literal, or of a function of this package,
// which is then reported where it is deferred.
func (c *checker) deferredBody(call *ast.CallExpr) (block *ast.BlockStmt, at ast.Node) {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return lit.Body, nil
	}
	if fn := typeutil.StaticCallee(c.info, call); fn != nil {
		if decl := c.decls[fn.Origin()]; decl != nil {
			return decl.Body, call
		}
	}
	return nil, nil
}

func (c *checker) isBuiltin(e ast.Expr, name string) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = c.info.Uses[id].(*types.Builtin)
	return ok
}

// isRecovered says whether an expression is what was recovered, or a type switch on it.
func (c *checker) isRecovered(e ast.Expr, vars []token.Pos) bool {
	if of, ok := e.(*ast.TypeAssertExpr); ok && of.Type == nil {
		e = of.X
	}
	id, ok := e.(*ast.Ident)
	return ok && c.mentions(id, vars) || c.isBuiltin(e, "recover")
}

// declared gives the place of a variable. Those of the clauses of a type switch have that of its one.
func (c *checker) declared(e ast.Expr) token.Pos {
	if v := c.root(e); v != nil {
		return v.Pos()
	}
	return e.Pos()
}

func (c *checker) mentions(e ast.Expr, vars []token.Pos) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := asVar(c.info.Uses[id])
			found = found || v != nil && slices.Contains(vars, v.Pos())
		}
		return true
	})
	return found
}
