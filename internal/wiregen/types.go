package main

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

const (
	pkgPath = "github.com/satin-peer/satin/steal"
	// envelope is the message of the control stream. It may hold itself; such a field is left to the general codec.
	envelope = "Message"
)

// roots are what the encoded types are found from.
var roots = []string{envelope, "News"}

// A kind is a way to encode a value.
type kind int

const (
	number  kind = iota // unsigned
	signed              // an integer that may be negative
	flag                // a bool that is not encoded if it is false
	text                // a string
	name                // a string that is probably one of those that the reader knows
	blob                // a slice of bytes
	array               // an array of bytes
	numbers             // a slice of numbers
	structs             // a slice of structs
	object              // a struct
)

// A field is one field of a struct.
type field struct {
	name     string
	key      int
	optional bool // not encoded if it is zero or empty
	pointer  bool // to what kind says
	kind     kind
	typ      string // how package stream calls its type; of a slice, its elements'
	of       string // the struct, for structs and object
	bits     int    // of a number, or of the elements
	length   int    // of an array
}

// A message is a struct that is encoded.
type message struct {
	name   string
	fields []field // by key
}

// load reads the types that the roots are made of, in order of their names, but the roots first.
func load(root string) ([]message, error) {
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax |
			packages.NeedTypesInfo | packages.NeedName,
		Dir: root,
	}, pkgPath)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].Types == nil {
		return nil, fmt.Errorf("package %s was not found in %s", pkgPath, root)
	}
	// Errors in it do not matter as long as the types can be read: the generated file may not fit them any more.
	scope := list[0].Types.Scope()
	found := map[string]message{}
	var visit func(name string) error
	visit = func(name string) error {
		if _, ok := found[name]; ok {
			return nil
		}
		obj := scope.Lookup(name)
		if obj == nil {
			return fmt.Errorf("there is no %s in %s", name, pkgPath)
		}
		s, ok := obj.Type().Underlying().(*types.Struct)
		if !ok {
			return fmt.Errorf("%s is no struct", name)
		}
		m := message{name: name}
		found[name] = m
		for i := range s.NumFields() {
			f, err := read(s.Field(i), s.Tag(i))
			if err != nil {
				return fmt.Errorf("%s.%s: %w", name, s.Field(i).Name(), err)
			}
			if f.of != "" {
				if err := visit(f.of); err != nil {
					return err
				}
			}
			m.fields = append(m.fields, f)
		}
		slices.SortFunc(m.fields, func(a, b field) int { return cmp.Compare(a.key, b.key) })
		if n := len(m.fields); n > 23 || n > 0 && m.fields[n-1].key > 23 {
			return fmt.Errorf("%s has more fields, or larger keys, than fit into a byte", name)
		}
		found[name] = m
		return nil
	}
	for _, name := range roots {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	rank := func(m message) int {
		if i := slices.Index(roots, m.name); i >= 0 {
			return i
		}
		return len(roots)
	}
	return slices.SortedFunc(maps.Values(found), func(a, b message) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.name, b.name))
	}), nil
}

// read makes a field of a struct's.
func read(v *types.Var, tag string) (f field, err error) {
	parts := strings.Split(reflect.StructTag(tag).Get("cbor"), ",")
	f.name = v.Name()
	if f.key, err = strconv.Atoi(parts[0]); err != nil || f.key < 0 || !slices.Contains(parts, "keyasint") {
		return f, fmt.Errorf("the tag %q has no number", tag)
	}
	f.optional = slices.Contains(parts, "omitempty")
	t := v.Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		if f.pointer, t = true, p.Elem(); !f.optional {
			return f, fmt.Errorf("a pointer has to be omitempty")
		}
	}
	f.typ = called(t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return f, f.basic(u)
	case *types.Struct:
		f.kind, f.of = object, f.typ[strings.LastIndex(f.typ, ".")+1:]
		if f.optional && !f.pointer {
			return f, fmt.Errorf("a struct is never empty")
		}
		return f, nil
	case *types.Array:
		if b, ok := u.Elem().(*types.Basic); ok && b.Kind() == types.Byte && (f.pointer || !f.optional) {
			f.kind, f.length = array, int(u.Len())
			return f, nil
		}
	case *types.Slice:
		return f, f.slice(u)
	}
	return f, fmt.Errorf("there is no way to encode %v", t)
}

func (f *field) basic(b *types.Basic) error {
	switch {
	case f.pointer:
		return fmt.Errorf("there is no way to encode a pointer to %v", b)
	case b.Kind() == types.Bool && f.optional:
		f.kind = flag
	case b.Kind() == types.String && f.typ == "steal.PeerID":
		f.kind = name
	case b.Kind() == types.String:
		f.kind = text
	case b.Info()&types.IsUnsigned != 0:
		f.kind, f.bits = number, bits(b)
	case b.Kind() == types.Int || b.Kind() == types.Int64:
		f.kind = signed
	default:
		return fmt.Errorf("there is no way to encode %v", b)
	}
	return nil
}

func (f *field) slice(s *types.Slice) error {
	switch u := s.Elem().Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.Byte {
			f.kind = blob
			return nil
		}
		if u.Info()&types.IsUnsigned != 0 {
			f.kind, f.bits = numbers, bits(u)
			return nil
		}
	case *types.Struct:
		f.kind, f.typ = structs, called(s.Elem())
		f.of = f.typ[strings.LastIndex(f.typ, ".")+1:]
		return nil
	}
	return fmt.Errorf("there is no way to encode %v", s)
}

func bits(b *types.Basic) int {
	switch b.Kind() {
	case types.Uint8:
		return 8
	case types.Uint16:
		return 16
	case types.Uint32:
		return 32
	default:
		return 64
	}
}

// called is how package stream calls a type of package steal, or of one that it knows by an alias of steal's.
func called(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
