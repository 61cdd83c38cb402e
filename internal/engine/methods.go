package engine

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A Method is what was registered for a kind of shared object, under its function's key.
type Method struct {
	Name   string
	Typed  any // what the types need, as package satin made it
	symbol string
}

// maxMethodName bounds names: a handle that travels says its length in a byte.
const maxMethodName = 255

// EnterMethod adds a method to the table. It panics, as Register does, if it cannot travel or is there already.
func EnterMethod(what, name string, key unsafe.Pointer, typed any, types ...reflect.Type) {
	switch {
	case key == nil:
		panic(fmt.Sprintf("satin: %s(%q): the function is nil", what, name))
	case name == "" || len(name) > maxMethodName:
		panic(fmt.Sprintf("satin: %s of %s: the name is empty, or longer than %d bytes", what, symbolOf(key),
			maxMethodName))
	}
	m := &Method{name, typed, symbolOf(key)}
	if why := notTopLevel(m.symbol); why != "" {
		panic(fmt.Sprintf("satin: %s(%q): %s is %s; only a top-level function can travel", what, name, m.symbol, why))
	}
	for _, t := range types {
		if h := handleIn(t, map[reflect.Type]bool{}); h != nil {
			panic(fmt.Sprintf("satin: %s(%q): %s is inside %s, and what is shared cannot name what is shared", what, name,
				h, t))
		}
		if why := notEncodable(t); why != "" {
			panic(fmt.Sprintf("satin: %s(%q): %s cannot be sent to another machine: %s", what, name, t, why))
		}
	}
	registerMu.Lock()
	defer registerMu.Unlock()
	next := registered.Load().clone()
	if o := next.methods[name]; o != nil {
		panic(fmt.Sprintf("satin: %s(%q): the name is taken by %s", what, name, o.symbol))
	}
	if o := next.methodByKey[key]; o != nil {
		panic(fmt.Sprintf("satin: %s(%q): %s is registered already as %q", what, name, m.symbol, o.Name))
	}
	next.methods[name], next.methodByKey[key] = m, m
	registered.Store(next)
}

// MustMethod finds the method with a key.
func MustMethod(key unsafe.Pointer, what string) *Method {
	if t := registered.Load(); t != nil {
		if m := t.methodByKey[key]; m != nil {
			return m
		}
	}
	panic(fmt.Sprintf("satin: %s is not registered: call satin.%s in an init function", symbolOf(key), what))
}

// MethodNames gives the names of all registered methods, in no order.
func MethodNames() (all []string) {
	if t := registered.Load(); t != nil {
		for name := range t.methods {
			all = append(all, name)
		}
	}
	return all
}

// MethodNamed finds a method by its name; nil if there is none.
func MethodNamed(name string) *Method {
	if t := registered.Load(); t != nil {
		return t.methods[name]
	}
	return nil
}

// MethodTyped is what package satin made of a registered method, by its name; nil if there is none.
func MethodTyped(name string) any {
	if m := MethodNamed(name); m != nil {
		return m.Typed
	}
	return nil
}
