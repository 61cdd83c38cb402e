package house

import (
	"fmt"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	mdName   = regexp.MustCompile(`(?:^|[^\w./])(satin\.)?([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	mayBlock = regexp.MustCompile(`(?s)\n# What may block\n(.*?)(?:\n# |$)`)
)

// model is the package at the top of the tree, nil if there is none, and its documentation. What it imports has no
// types.
func (t *Tree) model() (p *types.Package, doc string) {
	for _, files := range t.packages() {
		if files[0].Dir == "." {
			p = t.resolve(files).types
			for _, f := range files {
				doc += f.AST.Doc.Text()
			}
		}
	}
	return p, doc
}

// Model reports what README.md and the documents in docs call satin.Name, or Type.Member, and package satin at the top
// does not have.
func Model(t *Tree) (problems []string) {
	p, _ := t.model()
	for doc, text := range t.Docs {
		if p == nil || doc != "README.md" && path.Dir(doc) != "docs" {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			for _, m := range mdName.FindAllStringSubmatch(line, -1) {
				named := p.Scope().Lookup(m[2])
				missing := named == nil && m[1] != ""
				if typ, ok := named.(*types.TypeName); ok && !typ.IsAlias() && m[3] != "" {
					member, _, _ := types.LookupFieldOrMethod(typ.Type(), true, p, m[3])
					missing = member == nil
				}
				if missing {
					problems = append(problems, fmt.Sprintf("%s:%d: package %s has no %s", doc, i+1, p.Name(),
						strings.TrimSuffix(m[2]+"."+m[3], ".")))
				}
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// Blocking reports functions and methods of the package at the top that are not named under "What may block" in its
// documentation. Those that register or make an Option are none of a job's, and the others that may be left out are
// called by the engine and by encoders.
func Blocking(t *Tree) (problems []string) {
	p, doc := t.model()
	said := mayBlock.FindStringSubmatch(doc)
	if said == nil {
		return nil
	}
	leftOut := regexp.MustCompile(`^(Register.*|(M|Unm)arshalBinary)$`)
	for _, f := range calls(p) {
		results := f.Signature().Results()
		option := results.Len() == 1 && types.TypeString(results.At(0).Type(), types.RelativeTo(p)) == "Option"
		named, _ := regexp.MatchString(`\b`+f.Name()+`\b`, said[1])
		if !named && !option && !leftOut.MatchString(f.Name()) {
			at := t.Fset.Position(f.Pos())
			problems = append(problems, fmt.Sprintf("%s: %s is not named under What may block", at, f.Name()))
		}
	}
	return problems
}

// calls gives the exported functions of a package and methods of its exported types.
func calls(p *types.Package) (all []*types.Func) {
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Func:
			all = append(all, o)
		case *types.TypeName:
			if n, ok := o.Type().(*types.Named); ok && o.Exported() {
				all = slices.AppendSeq(all, n.Methods())
			}
		}
	}
	return slices.DeleteFunc(all, func(f *types.Func) bool { return !f.Exported() })
}
