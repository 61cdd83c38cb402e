package module

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

// The examples, each with an answer from elsewhere: OEIS A000170 and A003022, pi; and the bits of the sum, which
// the same program has on every machine and however its jobs were spread.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		path, want  string
		args, flags []string
	}{
		{"examples/queens-c/queens.wasm", "10 queens: 724 solutions", []string{"10"}, []string{"3"}},
		{"examples/golomb-c/golomb.wasm", "length 34: 0 1 4 9 15 22 32 34", []string{"8"}, nil},
		{"examples/clique-c/clique.wasm", "clique of 4: 1 15 19 24", []string{"johnson8-2-4"}, nil},
		{"examples/integrate-c/integrate.wasm", "3.14159265358979, bits 400921fb54442d18", []string{"12"}, nil},
	} {
		m := load(t, Config{Fuel: 2_000}, c.path)
		provide(t, m)
		r, err := m.Setup(c.args, c.flags, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*engine.Pool{nil, pools(t, engine.Config{Workers: 1}),
			pools(t, engine.Config{Workers: 4})} {
			out, err := p.Run(context.Background(), Func, r.Call)
			if err != nil {
				t.Fatal(c.path, err)
			}
			text, _, err := m.Render(r.Call, out.([]byte))
			if text != c.want || err != nil {
				t.Errorf("%s: %q, %v; want %q", c.path, text, err, c.want)
			}
			if err := m.Check(r.Call, out.([]byte)); err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
		}
		if err := m.Check(r.Call, make([]byte, 16)); err == nil {
			t.Errorf("%s finds zeros right", c.path)
		}
	}
}

// Cliques beside what the DIMACS challenge has found, and checked here by the graphs' rules: words of a code that
// are far enough from each other. A job finds one of the same size however its children were spread.
func TestCliques(t *testing.T) {
	m := load(t, Config{Fuel: 2_000}, "examples/clique-c/clique.wasm")
	provide(t, m)
	weight := func(n, w int) (words []uint) {
		for x := range uint(1) << n {
			if w < 0 || bits.OnesCount(x) == w {
				words = append(words, x)
			}
		}
		return words
	}
	for _, c := range []struct {
		graph          string
		words          []uint
		distance, size int
	}{
		{"hamming6-4", weight(6, -1), 4, 4}, {"hamming6-2", weight(6, -1), 2, 32},
		{"hamming8-2", weight(8, -1), 2, 128}, // as many vertices as there may be
		{"hamming7-3", weight(7, -1), 3, 16},
		{"johnson8-2-4", weight(8, 2), 4, 4}, {"johnson8-4-4", weight(8, 4), 4, 14},
	} {
		r, err := m.Setup([]string{c.graph}, nil, inputs)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*engine.Pool{nil, pools(t, engine.Config{Workers: 4})} {
			out, err := p.Run(context.Background(), Func, r.Call)
			if err != nil {
				t.Fatal(c.graph, err)
			}
			text, _, err := m.Render(r.Call, out.([]byte))
			_, list, _ := strings.Cut(text, ": ")
			var clique []uint
			for _, word := range strings.Fields(list) {
				v, err := strconv.Atoi(word)
				if err != nil || v < 1 || v > len(c.words) {
					t.Fatalf("%s: %q", c.graph, text)
				}
				clique = append(clique, c.words[v-1])
			}
			if err != nil || len(clique) != c.size {
				t.Errorf("%s: %q, %v; want one of %d", c.graph, text, err, c.size)
			}
			for i, x := range clique {
				for _, y := range clique[:i] {
					if bits.OnesCount(x^y) < c.distance {
						t.Errorf("%s: %b and %b are no neighbours", c.graph, x, y)
					}
				}
			}
		}
	}
	for _, bad := range []string{"", "hamming", "hamming6", "hamming9-2", "johnson40-2-4", "random300-5-1", "random9-200-1",
		"hamming6-4x", "johnson8-9-4", "keller4"} {
		if _, err := m.Setup([]string{bad}, nil, nil); err == nil ||
			!strings.Contains(err.Error(), "of 1 to 256 vertices") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// dimacs is a graph as a file: of its vertices 1 to n, those with a rule are neighbours.
func dimacs(n int, neighbours func(i, k int) bool) []byte {
	var edges []string
	for i := 1; i <= n; i++ {
		for k := i + 1; k <= n; k++ {
			if neighbours(i, k) {
				edges = append(edges, fmt.Sprintf("e %d %d", i, k))
			}
		}
	}
	return fmt.Appendf(nil, "c made for a test\np edge %d %d\n%s\n", n, len(edges), strings.Join(edges, "\n"))
}

// A graph comes to a module as a file. Of numbers that have a common divisor only if they leave the same rest by 7,
// the largest clique has as many as there are rests; what a file says wrong is refused with its line.
func TestCliqueOfFile(t *testing.T) {
	m := load(t, Config{Fuel: 2_000}, "examples/clique-c/clique.wasm")
	provide(t, m)
	file := dimacs(140, func(i, k int) bool { return i%7 != k%7 })
	r, err := m.Setup([]string{"rests"}, nil, []File{{"rests", file}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Call.Files) != 2 || len(r.Call.Names) != nameSize {
		t.Errorf("the root job has %d files and %d bytes of names", len(r.Call.Files), len(r.Call.Names))
	}
	for _, p := range []*engine.Pool{nil, pools(t, engine.Config{Workers: 2})} {
		out, err := p.Run(context.Background(), Func, r.Call)
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := m.Render(r.Call, out.([]byte))
		if err != nil || !strings.HasPrefix(text, "clique of 7: ") {
			t.Errorf("%q, %v", text, err)
		}
		if err := m.Check(r.Call, out.([]byte)); err != nil {
			t.Error(err)
		}
	}
	for bad, line := range map[string]string{"": "line 1", "c\n": "line 2", "p edge 300 1\n": "line 1",
		"p edge 3 1\ne 1 4\n": "line 2", "p edge 3 1\ne 2 2\n": "line 2", "p edge 3 1\n\nx": "line 3"} {
		_, err := m.Setup([]string{"rests"}, nil, []File{{"rests", []byte(bad)}})
		if err == nil || !strings.Contains(err.Error(), line+" of rests") || !strings.Contains(err.Error(), "DIMACS") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
