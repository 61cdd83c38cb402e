package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

var (
	citedFile  = regexp.MustCompile(`[\w./-]*\w\.(?:md|go)\b(?:\.\w+)?`)
	citedIssue = regexp.MustCompile(`(?i)\bissues? #?[0-9]+\b`)
)

// Citations reports comments that cite what a reader of the repository does not have: documents that are not
// in it, and numbers of issues. What they say is to stand in the comment, or in a published paper.
func Citations(t *Tree) (problems []string) {
	paths := map[string]bool{}
	for p := range t.Docs {
		paths[p] = true
	}
	for _, f := range t.Files {
		paths[f.Path] = true
	}
	known := func(name string) bool {
		if !strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, ".go") {
			return true // pkg.go.dev
		}
		for p := range paths {
			if p == name || strings.HasSuffix(p, "/"+name) {
				return true
			}
		}
		return false
	}
	for _, f := range t.Files {
		if f.Dir == "internal/house" && f.Test {
			continue // its trees are made up
		}
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				at := fmt.Sprintf("%s:%d", f.Path, t.Fset.Position(c.Pos()).Line)
				for _, name := range citedFile.FindAllString(c.Text, -1) {
					if !known(name) {
						problems = append(problems,
							fmt.Sprintf("%s: a comment cites %s, which is not in the repository", at, name))
					}
				}
				for _, issue := range citedIssue.FindAllString(c.Text, -1) {
					problems = append(problems, fmt.Sprintf("%s: a comment cites %s: say the fact", at, issue))
				}
			}
		}
	}
	return problems
}

// attacksPage names the test of each attack behind its room; one that has none before it is in attacksRoom.
const attacksPage, attacksRoom = "docs/security.md", "internal/hostile"

var testName = regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w*$`)

// CitedTests reports tests that a table of attacksPage names and that are not where it says.
func CitedTests(t *Tree) (problems []string) {
	there := map[string]bool{}
	for _, f := range t.Files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test {
				there[f.Dir+" "+fn.Name.Name] = true
			}
		}
	}
	for i, line := range strings.Split(t.Docs[attacksPage], "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		dirs, more := []string{attacksRoom}, false
		for _, m := range mdCode.FindAllStringSubmatch(line[strings.LastIndex(line, " | ")+1:], -1) {
			isTest := testName.MatchString(m[1])
			switch in := func(dir string) bool { return there[dir+" "+m[1]] }; {
			case isTest && !slices.ContainsFunc(dirs, in):
				problems = append(problems, fmt.Sprintf("%s:%d: %s is not in %s", attacksPage, i+1, m[1],
					strings.Join(dirs, " or ")))
			case isTest:
			case more:
				dirs = append(dirs, m[1])
			default:
				dirs = []string{m[1]}
			}
			more = !isTest
		}
	}
	return problems
}
