package satinvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// A body is one function body with what the flow checks need to know of it.
type body struct {
	block  *ast.BlockStmt
	graph  *cfg.CFG
	vars   map[*types.Var]handle // local Futures and Groups that are used only in this body, by name
	blocks map[*cfg.Block][]event
	values map[ast.Expr]bool // keys and values of range loops, which the graph shows before the loop
}

// An event is something that happens to a variable of a body.
type event struct {
	kind eventKind
	v    *types.Var
	at   ast.Node
}

type eventKind int

const (
	setZero  eventKind = iota // declared without a value
	setSpawn                  // set to a new child, or a new group
	setOther                  // set to something else
	take                      // Get or Try; Results or Tries of a group
	add                       // Spawn into a group
	use                       // handed on: anything may happen to it
)

// bodies lists the function bodies of the package that have Futures or Groups to follow.
func (c *checker) bodies() (all []*body) {
	for _, file := range c.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			b := &body{}
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body == nil {
					return true
				}
				b.block, b.graph = n.Body, c.cfgs.FuncDecl(n)
				b.vars = c.localHandles(n.Type, n.Body)
			case *ast.FuncLit:
				b.block, b.graph = n.Body, c.cfgs.FuncLit(n)
				b.vars = c.localHandles(n.Type, n.Body)
			default:
				return true
			}
			if len(b.vars) > 0 && b.graph != nil {
				c.readEvents(b)
				all = append(all, b)
			}
			return true
		})
	}
	return all
}

// localHandles finds the variables and parameters of a function that are Futures or Groups and that neither a
// function literal nor a pointer can reach.
func (c *checker) localHandles(typ *ast.FuncType, block *ast.BlockStmt) map[*types.Var]handle {
	vars := map[*types.Var]handle{}
	addVar := func(id *ast.Ident) {
		v, ok := c.info.Defs[id].(*types.Var)
		if !ok || id.Name == "_" {
			return
		}
		if _, isPointer := v.Type().(*types.Pointer); isPointer {
			return
		}
		if h := handleOf(v.Type()); h == future || h == group {
			vars[v] = h
		}
	}
	for _, field := range typ.Params.List {
		for _, name := range field.Names {
			addVar(name)
		}
	}
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			addVar(n)
		}
		return true
	})
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					delete(vars, asVar(c.info.Uses[id]))
				}
				return true
			})
			return false
		case *ast.UnaryExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
				delete(vars, asVar(c.info.Uses[id]))
			}
		}
		return true
	})
	return vars
}

func asVar(obj types.Object) *types.Var {
	v, _ := obj.(*types.Var)
	return v
}

// readEvents lists the events of each block of the graph in order.
func (c *checker) readEvents(b *body) {
	b.blocks = map[*cfg.Block][]event{}
	b.values = map[ast.Expr]bool{}
	ast.Inspect(b.block, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok {
			b.values[r.Key], b.values[r.Value] = true, true
		}
		return true
	})
	for _, block := range b.graph.Blocks {
		e := &eventReader{c: c, b: b}
		if r, ok := block.Stmt.(*ast.RangeStmt); ok {
			switch block.Kind {
			case cfg.KindRangeLoop:
				e.loopHead(r)
			case cfg.KindRangeBody:
				e.assign(r.Key, setOther)
				e.assign(r.Value, setOther)
			}
		}
		for _, n := range block.Nodes {
			e.node(n)
		}
		b.blocks[block] = e.events
	}
}

// An eventReader finds the events in the nodes of one block, in the order in which they happen.
type eventReader struct {
	c      *checker
	b      *body
	events []event
}

func (e *eventReader) add(kind eventKind, id *ast.Ident, at ast.Node) {
	v := asVar(e.c.info.ObjectOf(id))
	if _, ok := e.b.vars[v]; ok {
		e.events = append(e.events, event{kind, v, at})
	}
}

// loopHead is where a range over Results takes the next result: what its body spawned before is read here.
func (e *eventReader) loopHead(r *ast.RangeStmt) {
	if call, ok := ast.Unparen(r.X).(*ast.CallExpr); ok && readsGroup(e.c.api(call)) {
		e.node(call)
	}
}

func (e *eventReader) node(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			e.assignment(n)
			return false
		case *ast.ValueSpec:
			e.valueSpec(n)
			return false
		case *ast.DeferStmt:
			e.perhaps(n.Call)
			return false
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				e.node(n.X)
				e.perhaps(n.Y)
				return false
			}
		case *ast.CallExpr:
			return !e.method(n)
		case *ast.SelectorExpr:
			e.node(n.X)
			return false
		case *ast.Ident:
			if !e.b.values[n] {
				e.add(use, n, n)
			}
		}
		return true
	})
}

// method handles a call of a method of a variable that is followed.
func (e *eventReader) method(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok {
		return false
	}
	api := e.c.api(call)
	switch {
	case takes(api), readsGroup(api):
		e.add(take, id, call)
	case spawnsInGroup(api):
		for _, arg := range call.Args {
			e.node(arg)
		}
		e.add(add, id, call)
	case abortsGroup(api):
		e.add(setOther, id, call) // nobody reads what was in it
	default:
		return false
	}
	return true
}

// perhaps is what happens only under a condition, or when the function ends: its parts count as used.
func (e *eventReader) perhaps(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			e.add(use, id, id)
		}
		return true
	})
}

func (e *eventReader) assignment(n *ast.AssignStmt) {
	paired := len(n.Lhs) == len(n.Rhs)
	for i, r := range n.Rhs {
		if _, plain := ast.Unparen(r).(*ast.Ident); plain && paired && isBlank(n.Lhs[i]) {
			continue // _ = x uses nothing
		}
		e.node(r)
	}
	for i, l := range n.Lhs {
		if _, ok := l.(*ast.Ident); !ok {
			e.node(l)
			continue
		}
		kind := setOther
		if paired {
			kind = e.valueKind(n.Rhs[i])
		}
		e.assign(l, kind)
	}
}

func (e *eventReader) valueSpec(n *ast.ValueSpec) {
	for _, v := range n.Values {
		e.node(v)
	}
	for i, name := range n.Names {
		switch {
		case len(n.Values) == 0:
			e.assign(name, setZero)
		case len(n.Values) == len(n.Names):
			e.assign(name, e.valueKind(n.Values[i]))
		default:
			e.assign(name, setOther)
		}
	}
}

// valueKind says what kind of value an expression sets its variable to.
func (e *eventReader) valueKind(v ast.Expr) eventKind {
	if call, ok := ast.Unparen(v).(*ast.CallExpr); ok && spawner(e.c.api(call)) != none {
		return setSpawn
	}
	return setOther
}

func (e *eventReader) assign(l ast.Expr, kind eventKind) {
	if id, ok := l.(*ast.Ident); ok {
		e.add(kind, id, id)
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}
