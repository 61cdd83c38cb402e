package golomb

import (
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
)

func init() { satin.Register("demo.rulers", rulers) }

// Rule has marks that are all differently far apart: bits of Marks say where, bits of Apart how far.
type Rule struct {
	Length, Left int // Left more marks are to be placed, at Length at most
	Marks, Apart uint64
}

func rulers(f *satin.Frame, r Rule) (n int) {
	if r.Left == 0 {
		return 1
	}
	g := satin.Fork(f, rulers) // a group of children
	for at := bits.Len64(r.Marks); at <= r.Length; at++ {
		apart := bits.Reverse64(r.Marks) >> (63 - at) // from each mark to the new one
		if apart&r.Apart == 0 {
			g.Spawn(Rule{r.Length, r.Left - 1, r.Marks | 1<<at, r.Apart | apart})
		}
	}
	for m := range g.Results() { // in order of completion; leaving the loop aborts the rest
		n += m
	}
	return n
}

// The program that README.md shows is the one above, and finds what README.md says: of each order the shortest rulers
// (OEIS A003022), there and turned round, and none that is shorter.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("short_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## Your own program\n\n```go\n")
	program, text, found := strings.Cut(text, "```\n")
	if !found || !strings.Contains(string(own), program) {
		t.Errorf("README.md shows another program:\n%s", program)
	}
	if !strings.Contains(text, "Rule{Length: 34, Left: 7, Marks: 1}") {
		t.Error("README.md runs it otherwise")
	}
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, c := range []struct{ marks, length, rulers int }{
		{4, 6, 2}, {5, 11, 4}, {6, 17, 8}, {7, 25, 10}, {8, 34, 2},
	} {
		for short, want := range []int{c.rulers, 0} {
			n, err := satin.Run(t.Context(), pool, rulers, Rule{Length: c.length - short, Left: c.marks - 1, Marks: 1})
			if err != nil || n != want {
				t.Errorf("%d marks, at most %d long: %d, %v, want %d", c.marks, c.length-short, n, err, want)
			}
		}
	}
}
