package job

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawPath(t *rapid.T) Path {
	return rapid.SliceOfN(rapid.Uint32Range(1, 3), 0, 5).Draw(t, "path")
}

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
	rapid.Check(t, func(t *rapid.T) {
		p, q := drawPath(t), drawPath(t)
		text := func(p Path) string { return strings.TrimPrefix("."+p.String()+".", ".root") }
		if got, want := p.Above(q), len(p) < len(q) && strings.HasPrefix(text(q), text(p)); got != want {
			t.Fatalf("%s above %s: %v", p, q, got)
		}
		n := p.Common(q)
		shared := p[:n]
		if !slices.Equal(shared, q[:n]) || n < len(p) && n < len(q) && p[n] == q[n] {
			t.Fatalf("%s and %s share %s", p, q, shared)
		}
		paths := []Path{p, q, drawPath(t), drawPath(t), drawPath(t)}
		slices.SortFunc(paths, Path.Compare)
		for i, a := range paths {
			rest := paths[i+1:]
			for k, b := range rest {
				if b.Above(a) {
					t.Fatalf("%s comes before its ancestor %s", a, b)
				}
				if k > 0 && a.Above(b) && !a.Above(rest[k-1]) && !slices.Equal(a, rest[k-1]) {
					t.Fatalf("%s stands between %s and its descendant %s", rest[k-1], a, b)
				}
			}
		}
	})
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
