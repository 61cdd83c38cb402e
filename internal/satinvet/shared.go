package satinvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// sharing looks at what jobs share.
type sharing struct {
	checker *checker
	own     map[string]bool // see replacedIn
}

// checkShared reports the usual mistakes with what jobs share: a value that others read, changed in place; a
// lattice's value kept where a fresh one was meant; a handle where nobody finds it.
func (c sharing) checkShared(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				c.checkChanges(n.Body, c.sharedIn(n.Body))
				c.checkKept(n.Body)
			}
		case *ast.CallExpr:
			c.checkMove(n)
			c.checkHidden(n)
		}
		return true
	})
}

// readsShared says whether a method of satin gives a value that other jobs read too.
func readsShared(api string) bool {
	return api == "Object.Read" || api == "Constant.Read" || api == "Lattice.Value"
}

// sharedIn finds the variables of a function that hold nothing but what a handle gave.
func (c sharing) sharedIn(body *ast.BlockStmt) map[*types.Var]string {
	shared := map[*types.Var]string{}
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := c.checker.info.Defs[id].(*types.Var); ok {
				if call, ok := c.checker.onlyValue(v).(*ast.CallExpr); ok && readsShared(c.checker.api(call)) {
					shared[v] = c.checker.api(call)
				}
			}
		}
		return true
	})
	return shared
}

// checkChanges reports writes into memory that a shared value leads to.
func (c sharing) checkChanges(body *ast.BlockStmt, shared map[*types.Var]string) {
	c.own = c.replacedIn(body)
	changed := func(e ast.Expr) {
		if e == nil || !c.intoShared(e) {
			return
		}
		if call := rootCall(e); call != nil && readsShared(c.checker.api(call)) {
			c.reportChange(e, c.checker.api(call))
		} else if v := c.checker.root(e); v != nil && shared[v] != "" {
			c.reportChange(e, shared[v])
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					changed(l)
				}
			}
		case *ast.IncDecStmt:
			changed(n.X)
		case *ast.CallExpr:
			for _, name := range []string{"delete", "clear", "copy"} {
				if c.checker.isBuiltin(n, name) {
					changed(&ast.IndexExpr{X: n.Args[0], Lbrack: n.Pos(), Index: n.Args[0], Rbrack: n.End()})
				}
			}
		}
		return true
	})
}

// replacedIn finds the parts of variables that a function sets, as in s.seen = maps.Clone(s.seen): what they lead to
// may be its own then.
func (c sharing) replacedIn(body *ast.BlockStmt) map[string]bool {
	own := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if n, ok := n.(*ast.AssignStmt); ok {
			for _, l := range n.Lhs {
				own[types.ExprString(l)] = !c.intoShared(l)
			}
		}
		return true
	})
	return own
}

func (c sharing) reportChange(e ast.Expr, from string) {
	if x, ok := e.(*ast.IndexExpr); ok && x.Index == x.X {
		e = x.X
	}
	c.checker.report(e, "this changes what %s gave: other jobs read the same memory, and other machines do not see it; copy it first", from)
}

// rootCall is the call in whose result an expression like f(x).a[i] lies.
func rootCall(e ast.Expr) *ast.CallExpr {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			return x
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

// intoShared says whether an expression lies behind a pointer, a slice or a map, and not in the variable itself or in
// what the function has put there.
func (c sharing) intoShared(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			if t := c.checker.info.TypeOf(x.X); t != nil {
				if _, array := t.Underlying().(*types.Array); !array {
					return !c.own[types.ExprString(x.X)]
				}
			}
			e = x.X
		case *ast.StarExpr:
			return !c.own[types.ExprString(x.X)]
		case *ast.SelectorExpr:
			if t := c.checker.info.TypeOf(x.X); t != nil {
				if _, pointer := t.Underlying().(*types.Pointer); pointer {
					return !c.own[types.ExprString(x.X)]
				}
			}
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return false
		}
	}
}

// checkMove looks into the functions that are registered for objects and lattices: they may change none of their
// arguments.
func (c sharing) checkMove(call *ast.CallExpr) {
	api := c.checker.api(call)
	if api != "RegisterObject" && api != "RegisterLattice" || len(call.Args) < 2 {
		return
	}
	decl := c.checker.decls[c.checker.resolve(call.Args[1]).fn]
	if decl == nil {
		return
	}
	shared := map[*types.Var]string{}
	for i, field := range decl.Type.Params.List {
		for _, name := range field.Names {
			v, ok := c.checker.info.Defs[name].(*types.Var)
			if ok && (i == 0 || api == "RegisterLattice") && c.checker.defs[v] == nil {
				shared[v] = "the caller"
			}
		}
	}
	c.checkChanges(decl.Body, shared)
}

// checkKept reports a lattice's value that is taken before a loop which spawns, and looked at in it.
func (c sharing) checkKept(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		var loop *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			loop = n.Body
		case *ast.RangeStmt:
			loop = n.Body
		}
		if loop == nil || !c.spawnsIn(loop) {
			return true
		}
		ast.Inspect(loop, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := c.checker.info.Uses[id].(*types.Var)
			if !ok || v.Pos() >= loop.Pos() {
				return true
			}
			call, ok := ast.Unparen(orNil(c.checker.onlyValue(v))).(*ast.CallExpr)
			if ok && c.checker.api(call) == "Lattice.Value" {
				c.checker.report(id, "%s is the lattice's value before this loop, whose jobs may have made it grow: call Value where it is looked at", v.Name())
			}
			return true
		})
		return true
	})
}

func orNil(e ast.Expr) ast.Expr {
	if e == nil {
		return &ast.BadExpr{}
	}
	return e
}

func (c sharing) spawnsIn(block *ast.BlockStmt) (found bool) {
	ast.Inspect(block, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			api := c.checker.api(call)
			found = found || spawner(api) == future || spawnsInGroup(api)
		}
		return !found
	})
	return found
}

// checkHidden reports jobs whose argument or result has the handle of a shared value in a slice or a map.
func (c sharing) checkHidden(call *ast.CallExpr) {
	if !isRegister(c.checker.api(call)) || len(call.Args) < 2 {
		return
	}
	sig, ok := c.checker.info.TypeOf(call.Args[1]).(*types.Signature)
	if !ok {
		return
	}
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			if h := hidden(v.Type(), false, map[types.Type]bool{}); h != "" {
				c.checker.report(call.Args[1],
					"this job has a satin.%s inside a slice or a map, where the runtime does not look: pass it in a field", h)
			}
		}
	}
}

// hidden finds the handle of a shared value behind a slice or a map.
func hidden(t types.Type, inside bool, seen map[types.Type]bool) string {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == satinPath {
		switch name := named.Obj().Name(); {
		case inside && (name == "Constant" || name == "Object" || name == "Lattice"):
			return name
		default:
			return ""
		}
	}
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return hidden(u.Elem(), true, seen)
	case *types.Map:
		if h := hidden(u.Key(), true, seen); h != "" {
			return h
		}
		return hidden(u.Elem(), true, seen)
	case *types.Array:
		return hidden(u.Elem(), inside, seen)
	case *types.Pointer:
		return hidden(u.Elem(), inside, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if h := hidden(f.Type(), inside, seen); h != "" {
				return h
			}
		}
	}
	return ""
}
