package satinvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// checkPurity reports writes to package-level variables in jobs of this package and in the functions of it
// that they use. Tests may count in such variables. What a sync.Once does is the same in every process and is
// left alone.
func (c *checker) checkPurity() {
	for fn, job := range c.usedByJobs() {
		if decl := c.decls[fn]; !c.inTest(decl.Pos()) {
			c.inspectOutsideOnce(decl.Body, func(n ast.Node) { c.checkWrite(n, fn, job) })
		}
	}
}

// usedByJobs gives the functions of this package that its jobs mention, directly or through others, each with
// the first job by name that leads to it.
func (c *checker) usedByJobs() map[*types.Func]*types.Func {
	jobs := slices.SortedFunc(maps.Keys(c.jobs),
		func(a, b *types.Func) int { return strings.Compare(a.FullName(), b.FullName()) })
	used := map[*types.Func]*types.Func{}
	var visit func(fn, job *types.Func)
	visit = func(fn, job *types.Func) {
		decl := c.decls[fn]
		if decl == nil || used[fn] != nil {
			return
		}
		used[fn] = job
		c.inspectOutsideOnce(decl.Body, func(n ast.Node) {
			if id, ok := n.(*ast.Ident); ok {
				if callee, ok := c.info.Uses[id].(*types.Func); ok {
					visit(callee.Origin(), job)
				}
			}
		})
	}
	for _, job := range jobs { // a job is its own reason, whoever mentions it
		delete(used, job)
		visit(job, job)
	}
	return used
}

// inspectOutsideOnce visits all nodes but the arguments of (*sync.Once).Do.
func (c *checker) inspectOutsideOnce(block *ast.BlockStmt, visit func(ast.Node)) {
	ast.Inspect(block, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn := typeutil.StaticCallee(c.info, call); fn != nil && fn.FullName() == "(*sync.Once).Do" {
				return false
			}
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

func (c *checker) checkWrite(n ast.Node, fn, job *types.Func) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, l := range n.Lhs {
				c.checkWriteTo(l, fn, job)
			}
		}
	case *ast.IncDecStmt:
		c.checkWriteTo(n.X, fn, job)
	case *ast.SendStmt:
		c.checkWriteTo(n.Chan, fn, job)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			c.checkWriteTo(n.Key, fn, job)
			c.checkWriteTo(n.Value, fn, job)
		}
	case *ast.CallExpr:
		if target := c.writtenByCall(n); target != nil {
			c.checkWriteTo(target, fn, job)
		}
	}
}

// writtenByCall gives the expression whose memory a call writes, for the builtins and the types of sync that do.
func (c *checker) writtenByCall(call *ast.CallExpr) ast.Expr {
	for _, name := range []string{"delete", "clear", "copy"} {
		if c.isBuiltin(call, name) {
			return call.Args[0]
		}
	}
	fn := typeutil.StaticCallee(c.info, call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "sync/atomic" && fn.Pkg().Path() != "sync" {
		return nil
	}
	writes := slices.ContainsFunc([]string{"Store", "Add", "Swap", "CompareAnd", "And", "Or", "LoadOrStore",
		"LoadAndDelete", "Delete", "Clear"},
		func(prefix string) bool { return strings.HasPrefix(fn.Name(), prefix) })
	if !writes {
		return nil
	}
	if fn.Signature().Recv() == nil {
		return call.Args[0] // atomic.AddInt64(&n, 1)
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && handleOfSync(fn) {
		return sel.X
	}
	return nil
}

// handleOfSync says whether a method belongs to a type that is shared state: an atomic value or a sync.Map,
// not a WaitGroup.
func handleOfSync(fn *types.Func) bool {
	return fn.Pkg().Path() == "sync/atomic" || strings.Contains(fn.FullName(), "sync.Map")
}

func (c *checker) checkWriteTo(e ast.Expr, fn, job *types.Func) {
	if e == nil {
		return
	}
	v := c.root(e)
	if v == nil || v.Kind() != types.PackageVar {
		return
	}
	by := "job " + job.Name()
	if fn != job {
		by += ", through " + fn.Name() + ","
	}
	c.report(e, "%s writes package-level variable %s: a job must be a pure function of its argument, it may run again or elsewhere; pass the value in the argument or return it in the result", by, v.Name())
}
