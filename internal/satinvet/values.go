package satinvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checkValues reports results that are thrown away where they are made, and handles used as if they were results.
func (c *checker) checkValues(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			c.checkThrownAway(n.X)
		case *ast.DeferStmt:
			c.checkThrownAway(n.Call)
		case *ast.AssignStmt:
			c.checkAssign(n)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if name.Name == "_" && len(n.Values) == len(n.Names) {
					c.checkThrownAway(n.Values[i])
				}
				if n.Type != nil && i < len(n.Values) {
					c.checkInterface(c.info.TypeOf(n.Type), n.Values[i])
				}
			}
		case *ast.CallExpr:
			c.checkArgs(n)
		case *ast.FuncDecl:
			if n.Body != nil {
				c.checkReturns(c.info.TypeOf(n.Name), n.Body)
			}
		case *ast.FuncLit:
			c.checkReturns(c.info.TypeOf(n), n.Body)
		case *ast.BinaryExpr:
			if h := handleOf(c.info.TypeOf(n.X)); (n.Op == token.EQL || n.Op == token.NEQ) &&
				(h == future || h == group) {
				c.report(n, "this compares satin.%ss, not their results: %s", h, read(h))
			}
		}
		return true
	})
}

// checkThrownAway reports an expression whose value goes nowhere if it makes a child, or a sequence of results.
func (c *checker) checkThrownAway(e ast.Expr) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return
	}
	api := c.api(call)
	switch {
	case spawner(api) == future:
		c.report(call,
			"the result of satin.%s is dropped: keep the Future and call Get; a job is a pure function, so without its result it was for nothing", api)
	case spawner(api) == group:
		c.report(call,
			"the group that satin.%s opens is dropped: keep it, Spawn into it and range over its Results", api)
	case readsGroup(api):
		c.report(call, "%s alone takes no result and waits for nothing: range over it", types.ExprString(call))
	}
}

func (c *checker) checkAssign(n *ast.AssignStmt) {
	if len(n.Lhs) != len(n.Rhs) {
		return
	}
	for i, l := range n.Lhs {
		if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
			c.checkThrownAway(n.Rhs[i])
		} else if n.Tok == token.ASSIGN {
			c.checkInterface(c.info.TypeOf(l), n.Rhs[i])
		}
	}
}

// checkArgs reports Futures and Groups that a call turns into interface values: fmt.Println(x), any(x).
func (c *checker) checkArgs(call *ast.CallExpr) {
	fun := c.info.Types[call.Fun]
	if fun.IsType() {
		if len(call.Args) == 1 {
			c.checkInterface(fun.Type, call.Args[0])
		}
		return
	}
	if fun.IsBuiltin() {
		return
	}
	sig, ok := fun.Type.Underlying().(*types.Signature)
	if !ok {
		return
	}
	params := sig.Params()
	for i, arg := range call.Args {
		if sig.Variadic() && i >= params.Len()-1 {
			if s, ok := params.At(params.Len() - 1).Type().(*types.Slice); ok && !call.Ellipsis.IsValid() {
				c.checkInterface(s.Elem(), arg)
			}
		} else if i < params.Len() {
			c.checkInterface(params.At(i).Type(), arg)
		}
	}
}

// checkReturns reports Futures and Groups that a return statement turns into interface values.
func (c *checker) checkReturns(fn types.Type, body *ast.BlockStmt) {
	results := fn.(*types.Signature).Results()
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == results.Len() {
				for i, e := range n.Results {
					c.checkInterface(results.At(i).Type(), e)
				}
			}
		}
		return true
	})
}

func (c *checker) checkInterface(to types.Type, e ast.Expr) {
	if to == nil || !types.IsInterface(to) {
		return
	}
	if _, ok := types.Unalias(to).(*types.TypeParam); ok {
		return
	}
	if h := handleOf(c.info.TypeOf(e)); h == future || h == group {
		c.report(e, "%s is a satin.%s, not a result: %s", types.ExprString(e), h, read(h))
	}
}

// read says how to come by the results of a handle.
func read(h handle) string {
	if h == group {
		return "range over Results"
	}
	return "call Get, which waits for the job"
}
