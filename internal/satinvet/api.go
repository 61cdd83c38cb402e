package satinvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

const satinPath = "github.com/satin-peer/satin"

// jobParam is the position of the job function among the arguments of the functions of satin that take one.
var jobParam = map[string]int{
	"Register": 1, "RegisterErr": 1,
	"Spawn": 1, "SpawnErr": 1, "Fork": 1, "ForkErr": 1,
	"Run": 2, "RunErr": 2, "RunPartial": 2,
}

// api names the function or method of satin that is called: "Spawn", "Future.Get"; "" for any other call.
func (c *checker) api(call *ast.CallExpr) string {
	fn, ok := typeutil.Callee(c.info, call).(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != satinPath {
		return ""
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + fn.Name()
	}
	return ""
}

// isRegister says whether an api name registers a job.
func isRegister(api string) bool { return api == "Register" || api == "RegisterErr" }

// spawner gives the kind of handle that a function of satin returns for a child or a group of them.
func spawner(api string) handle {
	switch api {
	case "Spawn", "SpawnErr":
		return future
	case "Fork", "ForkErr":
		return group
	}
	return none
}

// takes says whether a method of satin takes the result of a Future.
func takes(api string) bool {
	return api == "Future.Get" || api == "Future.Try" || api == "FutureErr.Get"
}

// readsGroup says whether a method of satin gives the results of a Group.
func readsGroup(api string) bool {
	return api == "Group.Results" || api == "Group.Tries" || api == "GroupErr.Results"
}

func spawnsInGroup(api string) bool { return api == "Group.Spawn" || api == "GroupErr.Spawn" }

func abortsGroup(api string) bool { return api == "Group.Abort" || api == "GroupErr.Abort" }

// A handle is a type of satin whose values are good only in the frame that made them.
type handle string

const (
	none   handle = ""
	frame  handle = "Frame"
	future handle = "Future"
	group  handle = "Group"
)

// handleOf says which handle t is, behind aliases and pointers.
func handleOf(t types.Type) handle {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != satinPath {
		return none
	}
	switch named.Obj().Name() {
	case "Frame":
		return frame
	case "Future", "FutureErr":
		return future
	case "Group", "GroupErr":
		return group
	}
	return none
}

// handleIn finds a handle in a type or in what values of the type lead to: fields, elements, pointers.
func (c *checker) handleIn(t types.Type) handle {
	h, ok := c.holds[t]
	if !ok {
		h = handleInside(t, map[types.Type]bool{nil: true})
		c.holds[t] = h
	}
	return h
}

func handleInside(t types.Type, seen map[types.Type]bool) handle {
	if seen[t] {
		return none
	}
	seen[t] = true
	if h := handleOf(t); h != none {
		return h
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil &&
		named.Obj().Pkg().Path() == satinPath {
		return none // a Pool leads to Frames, but it is its business
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		if h := handleInside(u.Key(), seen); h != none {
			return h
		}
		return handleInside(u.Elem(), seen)
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		return handleInside(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if h := handleInside(f.Type(), seen); h != none {
				return h
			}
		}
	}
	return none
}

// takesFrame says whether a function has a parameter that is a Frame: it runs as a job or as a part of one.
func takesFrame(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if handleOf(p.Type()) == frame {
			return true
		}
	}
	return false
}

// root gives the variable in whose memory an expression like v.f[i].g lies; nil if there is none.
func (c *checker) root(e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ := c.info.ObjectOf(x).(*types.Var)
			return v
		case *ast.SelectorExpr:
			if v, ok := c.info.Uses[x.Sel].(*types.Var); ok && c.info.Selections[x] == nil {
				return v // a variable of another package
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		default:
			return nil
		}
	}
}
