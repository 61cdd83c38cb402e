package house

import (
	"fmt"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

var mdName = regexp.MustCompile(`(?:^|[^\w./])(satin\.)?([A-Z]\w*)(?:\.([A-Z]\w*))?`)

// model is the package at the top of the tree; nil if there is none. What it imports has no types.
func (t *Tree) model() *types.Package {
	for _, files := range t.packages() {
		if files[0].Dir == "." {
			return t.resolve(files).types
		}
	}
	return nil
}

// Model reports what README.md and the documents in docs call satin.Name, or Type.Member, and package satin at the top
// does not have.
func Model(t *Tree) (problems []string) {
	p := t.model()
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
