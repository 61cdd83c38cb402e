package main

import (
	"fmt"
	"strings"
)

// codec is the file of package stream: of what the envelope is made of.
func codec(list []message) string {
	var b strings.Builder
	used := map[string]bool{} // types, and packages with a dot
	byName := map[string]message{}
	for _, m := range list {
		byName[m.name] = m
	}
	var use func(name string)
	use = func(name string) {
		if used[name] {
			return
		}
		used[name] = true
		for _, f := range byName[name].fields {
			pkg, _, _ := strings.Cut(strings.TrimPrefix(f.typ, "[]"), ".")
			used[pkg+"."] = true
			if f.of != "" {
				use(f.of)
			}
		}
	}
	use(envelope)
	for _, m := range list {
		if used[m.name] {
			b.WriteString(m.writer())
			b.WriteString(m.reader(byName))
		}
	}
	imports := ""
	for _, known := range []string{"time", "", "github.com/satin-peer/satin/job", pkgPath} {
		if known == "" || used[known[strings.LastIndex(known, "/")+1:]+"."] {
			imports += strings.TrimPrefix(fmt.Sprintf("%q\n", known), "\"\"")
		}
	}
	return notice + "package stream\n\nimport (\n" + imports + ")\n" + b.String()
}

// required counts the fields that are always there.
func (m *message) required() (n int) {
	for _, f := range m.fields {
		if !f.optional {
			n++
		}
	}
	return n
}

// writer is the function that appends a message.
func (m *message) writer() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc append%s(b []byte, v *steal.%s) []byte {\n", m.name, m.name)
	switch {
	case len(m.fields) == 0:
		b.WriteString("b = append(b, cborMap)\n")
	case m.required() == len(m.fields):
		fmt.Fprintf(&b, "b = append(b, cborMap|%d)\n", len(m.fields))
	default:
		fmt.Fprintf(&b, "fields := byte(%d)\n", m.required())
		for _, f := range m.fields {
			if f.optional {
				fmt.Fprintf(&b, "fields += one(%s)\n", f.there("v."))
			}
		}
		b.WriteString("b = append(b, cborMap|fields)\n")
	}
	for _, f := range m.fields {
		text := f.write()
		if f.optional {
			text = fmt.Sprintf("if %s {\n%s}\n", f.there("v."), text)
		}
		b.WriteString(text)
	}
	b.WriteString("return b\n}\n")
	return b.String()
}

// write is the statements that append a field.
func (f *field) write() string {
	v := "v." + f.name
	key := fmt.Sprintf("append(b, %d)", f.key)
	switch f.kind {
	case number:
		return fmt.Sprintf("b = appendHead(%s, cborUint, uint64(%s))\n", key, v)
	case signed:
		return fmt.Sprintf("b = appendInt(%s, int64(%s))\n", key, v)
	case flag:
		return fmt.Sprintf("b = append(b, %d, cborTrue)\n", f.key)
	case text, name:
		return fmt.Sprintf("b = append(appendHead(%s, cborText, uint64(len(%s))), %s...)\n", key, v, v)
	case blob:
		return fmt.Sprintf("b = appendBytes(%s, %s)\n", key, v)
	case array:
		return fmt.Sprintf("b = append(appendHead(%s, cborBytes, %d), %s[:]...)\n", key, f.length, v)
	case numbers:
		return fmt.Sprintf("b = appendUints(%s, %s)\n", key, v)
	case structs:
		return fmt.Sprintf(
			"b = appendStart(%s, len(%s), %s == nil)\nfor i := range %s {\nb = append%s(b, &%s[i])\n}\n", key,
			v, v, v, f.of, v)
	default:
		if !f.pointer {
			v = "&" + v
		}
		return fmt.Sprintf("b = append%s(%s, %s)\n", f.of, key, v)
	}
}

// reader is the method that reads a message. It counts the fields that are announced: the next number may be one of the
// message around this one.
func (m *message) reader(all map[string]message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc (r *cursor) read%s(v *steal.%s) {\n", m.name, m.name)
	fmt.Fprintf(&b, "fields := r.head(cborMap)\n")
	for _, f := range m.fields {
		if f.optional {
			fmt.Fprintf(&b, "if r.option(&fields, %d, %d) {\n%s}\n", m.required(), f.key, f.read(all))
		} else {
			fmt.Fprintf(&b, "r.must(%d)\n%s", f.key, f.read(all))
		}
	}
	fmt.Fprintf(&b, "r.all(fields, %d)\n}\n", m.required())
	return b.String()
}

// read is the statements that read a field.
func (f *field) read(all map[string]message) string {
	v := "v." + f.name
	assign := v + " = %s\n"
	if f.optional {
		assign = v + " = some(r, %s)\n" // it would not be there if it were zero
	}
	switch f.kind {
	case number:
		return fmt.Sprintf(assign, fmt.Sprintf("%s(r.number(%d))", f.typ, f.bits))
	case signed:
		return fmt.Sprintf(assign, f.typ+"(r.signed())")
	case flag:
		return fmt.Sprintf("r.must(cborTrue)\n%s = true\n", v)
	case text:
		return fmt.Sprintf(assign, f.typ+"(r.text())")
	case name:
		return fmt.Sprintf(assign, "r.name()")
	case blob:
		return fmt.Sprintf("%s = r.bytes()\n", v)
	case array:
		if f.pointer {
			return fmt.Sprintf("%s = new(%s)\nr.array(%s[:])\n", v, f.typ, v)
		}
		return fmt.Sprintf("r.array(%s[:])\n", v)
	case numbers:
		return fmt.Sprintf("%s = readUints[%s](r, %d)\n", v, f.typ, f.bits)
	case structs:
		return fmt.Sprintf("%s = make([]%s, r.count(%d))\nfor i := range %s {\nr.read%s(&%s[i])\n}\n", v, f.typ,
			least(f.of, all), v, f.of, v)
	default:
		if f.of == envelope {
			return "r.fail()\n"
		}
		if f.pointer {
			return fmt.Sprintf("%s = new(%s)\nr.read%s(%s)\n", v, f.typ, f.of, v)
		}
		return fmt.Sprintf("r.read%s(&%s)\n", f.of, v)
	}
}

// least is the length of a struct's shortest encoding: no array can claim more elements than there is room for.
func least(name string, all map[string]message) int {
	n := 1
	m := all[name]
	for _, f := range m.fields {
		switch {
		case f.optional:
		case f.kind == array:
			n += 1 + len(head(uint64(f.length))) + f.length
		case f.kind == object:
			n += 1 + least(f.of, all)
		default:
			n += 2
		}
	}
	return n
}
