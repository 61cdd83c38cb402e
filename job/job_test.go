package job

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// What is read is what was written, and nothing else is a run's name: it is the name of files, too.
func TestRunIDs(t *testing.T) {
	r := NewRunID()
	if got, ok := ParseRunID(r.Hex()); !ok || got != r || !strings.HasPrefix(r.Hex(), r.String()) ||
		len(r.String()) != 8 {
		t.Errorf("%s reads as %v, %v; %s for people", r.Hex(), got, ok, r)
	}
	if NewRunID() == r {
		t.Error("two runs have one name")
	}
	for _, s := range []string{"", "6fd1c2a0", strings.Repeat("g", 32), strings.Repeat("A", 32),
		strings.Repeat("a", 31),
		strings.Repeat("a", 33), strings.Repeat("a", 31) + "\x00", "../" + strings.Repeat("a", 29)} {
		if got, ok := ParseRunID(s); ok || got != (RunID{}) {
			t.Errorf("%q reads as run %s, %v", s, got, ok)
		}
	}
}

// Paths are ordered as a tree is walked: ancestors first, descendants without a gap.
func TestPaths(t *testing.T) {
	if got := (ID{Path: Path{1, 3, 2}}).String(); got != "00000000/1.3.2" {
		t.Error(got)
	}
	if got := (Path{}).String(); got != "root" {
		t.Error(got)
	}
	text := func(p Path) string { return strings.TrimPrefix("."+p.String()+".", ".root") }
	paths := allPaths(4)
	slices.SortFunc(paths, Path.Compare)
	for i, p := range paths {
		left := false // p and what is below it
		for k, q := range paths {
			above := len(p) < len(q) && strings.HasPrefix(text(q), text(p))
			if p.Above(q) != above {
				t.Fatalf("%s above %s: %v", p, q, !above)
			}
			if p.Compare(q) != cmp.Compare(i, k) {
				t.Fatalf("%s and %s compare as %d, and are sorted otherwise", p, q, p.Compare(q))
			}
			if n := p.Common(q); !slices.Equal(p[:n], q[:n]) || n < len(p) && n < len(q) && p[n] == q[n] {
				t.Fatalf("%s and %s share %s", p, q, p[:n])
			}
			if left = left || k > i && !above; above && (k < i || left) {
				t.Fatalf("%s does not come right after its ancestor %s", q, p)
			}
		}
	}
}

// allPaths are those to a depth in a tree whose jobs have three children each, the deepest first.
func allPaths(depth int) (paths []Path) {
	paths = []Path{{}}
	for above := 0; depth > 0; depth-- {
		n := len(paths)
		for _, p := range paths[above:n] {
			for child := range uint32(3) {
				paths = append(paths, append(slices.Clone(p), child+1))
			}
		}
		above = n
	}
	slices.Reverse(paths)
	return paths
}

// Identities are on disks: they do not change. They tell names and arguments apart wherever one ends.
func TestIdentities(t *testing.T) {
	for _, c := range []struct {
		function, arg, want string
	}{
		{"root", "", "07fbd16c2e11e5c5cdf1f1e7a622720a"},
		{"fib", "\x18\x1e", "c6a6dcbb9c345cc809be1df67ae7519d"},
	} {
		id := Identify(c.function, []byte(c.arg))
		if got := hex.EncodeToString(id[:]); got != c.want || id.String() != got[:8] {
			t.Errorf("%s(%q) is %s (%s), not %s", c.function, c.arg, got, id, c.want)
		}
	}
	seen := map[Identity]string{}
	for _, c := range [][2]string{{"", ""}, {"f", ""}, {"", "f"}, {"fg", ""}, {"f", "g"}, {"", "fg"}, {"f\x00", ""}} {
		id := Identify(c[0], []byte(c[1]))
		if other, ok := seen[id]; ok {
			t.Errorf("%q is what %s is", c, other)
		}
		seen[id] = c[0] + "(" + c[1] + ")"
	}
}
