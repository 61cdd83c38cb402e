package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"unicode/utf8"
)

const (
	maxColumns = 120 // a line is read at a glance, not by scrolling
	tabColumns = 4
)

// Width reports lines that are too wide. Those that are mostly a string are not: texts and tables are not improved by
// being cut.
func Width(t *Tree) (problems []string) {
	for _, f := range t.Files {
		if f.Generated {
			continue
		}
		for _, line := range f.Wide {
			problems = append(problems, fmt.Sprintf("%s:%d: wider than %d columns", f.Path, line, maxColumns))
		}
	}
	return problems
}

// wideLines numbers the lines that are too wide and less than half of which is in strings.
func wideLines(fset *token.FileSet, f *ast.File, text []byte) (wide []int) {
	var strings []*ast.BasicLit
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			strings = append(strings, lit)
		}
		return true
	})
	file := fset.File(f.Pos())
	begin := 0
	for number := 1; begin < len(text); number++ {
		line, _, _ := bytes.Cut(text[begin:], []byte("\n"))
		if columns(line) > maxColumns {
			in := 0
			for _, lit := range strings {
				from, to := file.Offset(lit.Pos()), file.Offset(lit.End())
				in += max(0, min(to, begin+len(line))-max(from, begin))
			}
			if 2*in < len(bytes.TrimLeft(line, "\t")) {
				wide = append(wide, number)
			}
		}
		begin += len(line) + 1
	}
	return wide
}

func columns(line []byte) int {
	return utf8.RuneCount(line) + (tabColumns-1)*bytes.Count(line, []byte("\t"))
}
