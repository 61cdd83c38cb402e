package satinvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// registrations is what a package tells the packages that import it: the functions that it registers, its own
// and others'.
type registrations struct{ Funcs []string }

func (*registrations) AFact() {}
func (r *registrations) String() string {
	return "registers " + strings.Join(r.Funcs, ", ")
}

// registersParams says of a function which of its parameters it hands to Register.
type registersParams struct{ Params []int }

func (*registersParams) AFact()         {}
func (*registersParams) String() string { return "registers a parameter" }

// registered is what is known of registered functions while one package is looked at.
type registered struct {
	funcs map[string]bool // by symbol, here and in the packages this one imports
	// some Register here takes a function that cannot be named, so any function used as a value may be it
	open bool
}

// symbol names a function across packages.
func symbol(fn *types.Func) string {
	if fn.Pkg() == nil {
		return fn.Name()
	}
	return fn.Pkg().Path() + "." + fn.Name()
}

// findRegistrations collects the functions that are registered here and in imported packages, exports the facts of
// this package, and notes its jobs.
func (c *checker) findRegistrations() *registered {
	reg := &registered{funcs: map[string]bool{}}
	for c.findWrappers() {
	}
	for _, file := range c.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			api := c.api(call)
			if i, ok := jobParam[api]; ok && i < len(call.Args) {
				if t := c.resolve(call.Args[i]); t.fn != nil {
					c.jobs[t.fn] = true
				}
			}
			for _, arg := range c.registeredArgs(call) {
				switch t := c.resolve(arg); {
				case t.fn != nil:
					reg.funcs[symbol(t.fn)] = true
					c.jobs[t.fn] = true
				case t.fault == "" && !c.isWrapperParam(t.v):
					reg.open = true
				}
			}
			return true
		})
	}
	c.exportRegistrations(reg)
	for _, f := range c.pass.AllPackageFacts() {
		if r, ok := f.Fact.(*registrations); ok {
			for _, s := range r.Funcs {
				reg.funcs[s] = true
			}
		}
	}
	return reg
}

func (c *checker) exportRegistrations(reg *registered) {
	if reg.open {
		for s := range c.valueUses() {
			reg.funcs[s] = true
		}
	}
	if len(reg.funcs) == 0 {
		return
	}
	fact := &registrations{}
	for s := range reg.funcs {
		fact.Funcs = append(fact.Funcs, s)
	}
	slices.Sort(fact.Funcs)
	c.pass.ExportPackageFact(fact)
}

// registeredArgs gives the arguments of a call that it registers: of Register, or of a function that hands
// them on to it.
func (c *checker) registeredArgs(call *ast.CallExpr) (args []ast.Expr) {
	if api := c.api(call); isRegister(api) && len(call.Args) >= 2 {
		return call.Args[1:2]
	}
	fn := typeutil.StaticCallee(c.info, call)
	if fn == nil {
		return nil
	}
	var w registersParams
	if c.pass.ImportObjectFact(fn.Origin(), &w) {
		for _, i := range w.Params {
			if i < len(call.Args) {
				args = append(args, call.Args[i])
			}
		}
	}
	return args
}

// findWrappers exports the fact of each function here that hands a parameter on to Register. It says whether
// it found a new one.
func (c *checker) findWrappers() (found bool) {
	for fn, decl := range c.decls {
		params := fn.Signature().Params()
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, arg := range c.registeredArgs(call) {
				v := c.resolve(arg).v
				for i := range params.Len() {
					if v == params.At(i) && c.addWrapper(fn, i) {
						found = true
					}
				}
			}
			return true
		})
	}
	return found
}

func (c *checker) addWrapper(fn *types.Func, param int) bool {
	var w registersParams
	if c.pass.ImportObjectFact(fn, &w) && slices.Contains(w.Params, param) {
		return false
	}
	c.pass.ExportObjectFact(fn, &registersParams{append(slices.Clone(w.Params), param)})
	return true
}

// isWrapperParam says whether v is a parameter that its function is known to register for its callers.
func (c *checker) isWrapperParam(v *types.Var) bool {
	for _, f := range c.pass.AllObjectFacts() {
		if w, ok := f.Fact.(*registersParams); ok && v != nil {
			params := f.Object.(*types.Func).Signature().Params()
			for _, i := range w.Params {
				if i < params.Len() && params.At(i) == v {
					return true
				}
			}
		}
	}
	return false
}

// valueUses gives the functions of this package that are used as values: neither called nor given to satin as a job.
func (c *checker) valueUses() map[string]bool {
	other := map[*ast.Ident]bool{}
	for _, file := range c.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				other[nameOf(call.Fun)] = true
				if i, ok := jobParam[c.api(call)]; ok && i < len(call.Args) {
					other[nameOf(call.Args[i])] = true
				}
			}
			return true
		})
	}
	uses := map[string]bool{}
	for id, obj := range c.info.Uses {
		if fn, ok := obj.(*types.Func); ok && fn.Pkg() == c.pass.Pkg && !other[id] {
			uses[symbol(fn)] = true
		}
	}
	return uses
}

// nameOf gives the last identifier of a name, plain or qualified; nil for any other expression.
func nameOf(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}
