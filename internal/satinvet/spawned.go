package satinvet

import (
	"go/ast"
	"go/types"
	"strings"
)

// A target is what an expression for a function turns out to be: a top-level function, one that cannot
// travel, or a variable.
type target struct {
	fn    *types.Func
	fault string // "a closure"
	v     *types.Var
}

// resolve finds what a function expression stands for.
func (c *checker) resolve(e ast.Expr) target {
	for range 8 { // a chain of variables and conversions longer than this is left alone
		switch x := ast.Unparen(e).(type) {
		case *ast.FuncLit:
			return target{fault: "a closure"}
		case *ast.IndexExpr:
			return c.instance(x.X)
		case *ast.IndexListExpr:
			return c.instance(x.X)
		case *ast.CallExpr:
			if !c.info.Types[x.Fun].IsType() || len(x.Args) != 1 {
				return target{}
			}
			e = x.Args[0]
			continue
		case *ast.SelectorExpr:
			if sel := c.info.Selections[x]; sel != nil {
				return target{fault: selectionFault(sel)}
			}
		}
		id := nameOf(e)
		if id == nil {
			return target{}
		}
		switch obj := c.info.Uses[id].(type) {
		case *types.Func:
			if _, ok := c.info.Instances[id]; ok {
				return target{fault: "an instance of a generic function"}
			}
			return target{fn: obj}
		case *types.Var:
			if e = c.onlyValue(obj); e == nil {
				return target{v: obj}
			}
		default:
			return target{}
		}
	}
	return target{}
}

func (c *checker) instance(x ast.Expr) target {
	if id := nameOf(x); id != nil {
		if _, ok := c.info.Uses[id].(*types.Func); ok {
			return target{fault: "an instance of a generic function"}
		}
	}
	return target{}
}

func selectionFault(sel *types.Selection) string {
	switch sel.Kind() {
	case types.MethodVal:
		return "a method value"
	case types.MethodExpr:
		return "a method expression"
	}
	return ""
}

// checkSpawned looks at every function that is given to satin as a job.
func (c *checker) checkSpawned(file *ast.File, reg *registered) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, arg := range c.registeredArgs(call) {
			if !c.checkTravels(arg) {
				continue
			}
			c.checkJobType(arg)
		}
		api := c.api(call)
		i, ok := jobParam[api]
		if !ok || isRegister(api) || i >= len(call.Args) || !c.checkTravels(call.Args[i]) {
			return true
		}
		if fn := c.resolve(call.Args[i]).fn; fn != nil && !reg.funcs[symbol(fn)] {
			c.report(call.Args[i],
				"%s is not registered, so satin.%s of it panics: add satin.%s(%q, %s) to an init function of package %s",
				fn.Name(), api, registerFor(api), fn.Pkg().Name()+"."+fn.Name(), fn.Name(), fn.Pkg().Name())
		}
		return true
	})
	c.checkRegisterInInit(file)
}

// checkTravels reports a function that can not be a job, and says whether it can.
func (c *checker) checkTravels(job ast.Expr) bool {
	fault := c.resolve(job).fault
	if fault != "" {
		c.report(job,
			"%s cannot be a job, it cannot travel to another machine: make it a registered top-level function and pass all it needs as its argument", fault)
	}
	return fault == ""
}

// registerFor names the function that registers jobs for a function that takes them.
func registerFor(api string) string {
	if strings.HasSuffix(api, "Err") {
		return "RegisterErr"
	}
	return "Register"
}

// checkJobType reports a job whose argument or result has a handle in it.
func (c *checker) checkJobType(job ast.Expr) {
	sig, ok := c.info.TypeOf(job).Underlying().(*types.Signature)
	if !ok {
		return
	}
	for i := 1; i < sig.Params().Len(); i++ {
		if h := c.handleIn(sig.Params().At(i).Type()); h != none {
			c.report(job,
				"the argument of job %s holds a satin.%s, which is good only in the frame that made it: %s",
				types.ExprString(job), h, insteadOf(h))
		}
	}
	for r := range sig.Results().Variables() {
		if h := c.handleIn(r.Type()); h != none {
			c.report(job, "the result of job %s holds a satin.%s, which is good only in the frame that made it: %s",
				types.ExprString(job), h, insteadOf(h))
		}
	}
}

// insteadOf says what to hand over in place of a handle.
func insteadOf(h handle) string {
	switch h {
	case future:
		return "call Get first and hand over the result"
	case group:
		return "range over Results first and hand over what they amount to"
	}
	return "every job gets its own Frame as its first parameter"
}

// checkRegisterInInit reports calls of Register that do not happen while the program starts.
func (c *checker) checkRegisterInInit(file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil || c.inTest(decl.Pos()) {
			continue
		}
		fn := c.info.Defs[decl.Name].(*types.Func)
		if c.isInit(fn) || c.isWrapper(fn) || c.calledByInit(fn) {
			continue
		}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(c.registeredArgs(call)) > 0 {
				c.report(call,
					"a job is registered outside init: another process that runs this program must know it before its first steal; call it in an init function")
			}
			return true
		})
	}
}

func (c *checker) isInit(fn *types.Func) bool {
	return fn.Name() == "init" && fn.Signature().Recv() == nil
}

func (c *checker) isWrapper(fn *types.Func) bool {
	return c.pass.ImportObjectFact(fn, new(registersParams))
}

// calledByInit says whether fn is mentioned, and so may be called, by an init function or the value of a package-level
// variable, directly or through others. A job that they register is not called by them.
func (c *checker) calledByInit(fn *types.Func) bool {
	seen := map[*types.Func]bool{}
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if len(c.registeredArgs(n)) > 0 {
					visit(n.Fun)
					return false
				}
			case *ast.Ident:
				callee, ok := c.info.Uses[n].(*types.Func)
				if !ok || seen[callee.Origin()] {
					break
				}
				seen[callee.Origin()] = true
				if decl := c.decls[callee.Origin()]; decl != nil {
					visit(decl.Body)
				}
			}
			return true
		})
	}
	for _, file := range c.pass.Files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				visit(d)
			case *ast.FuncDecl:
				if f := c.info.Defs[d.Name].(*types.Func); d.Body != nil && c.isInit(f) {
					visit(d.Body)
				}
			}
		}
	}
	return seen[fn]
}
