package sim

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const sampleTree = `satin-tree 1 a sample
2 100 40 8   # the root
0 1000 40 8
2 200 44 8
0 3000 48 8

0 5000 48 9
`

// A recorded tree is simulated as it was recorded.
func TestRecordedTree(t *testing.T) {
	r, err := ReadRecorded(strings.NewReader(sampleTree), "sample")
	if err != nil {
		t.Fatal(err)
	}
	total := Sequential(r)
	if r.Name != "a sample" || total.Jobs != 5 || total.Work != 9300 || total.Depth != 2 || total.Result.Leaves != 3 {
		t.Errorf("%q has %+v", r.Name, total)
	}
	second := r.Children(r.Root(), nil)[1]
	last := r.Children(second, nil)[1]
	if r.Cost(last) != 5000 || r.ArgBytes(last) != 48 || r.ResultBytes(last) != 9 {
		t.Errorf("the last job costs %d and carries %d and %d bytes", r.Cost(last), r.ArgBytes(last),
			r.ResultBytes(last))
	}
	if _, err := Run(quiet(r, "crs")); err != nil {
		t.Error(err)
	}
}

// TestRealTrees runs trees that satin-sim record took down from applications, whole and under faults.
func TestRealTrees(t *testing.T) {
	for name, jobs := range map[string]uint64{"queens16.tree": 1298, "mount.tree": 335} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecorded(bytes.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		if total := Sequential(r); total.Jobs != jobs || total.Work < time.Second {
			t.Errorf("%s: %+v", name, total)
		}
		var again bytes.Buffer
		if err := r.Write(&again); err != nil || again.String() != string(text) {
			t.Errorf("%s is written otherwise than it was read (%v)", name, err)
		}
		for _, policy := range []string{"crs", "adaptive"} {
			c := quiet(r, policy)
			c.Faults = []Fault{{Kind: Duplicate, At: 0, For: time.Minute, Amount: 0.5},
				{Kind: Stall, At: 200 * time.Millisecond, For: time.Second, Peer: 3}}
			report, err := Run(c)
			if err != nil {
				t.Fatalf("%s under %s: %v", name, policy, err)
			}
			// every peer but one, and copies
			if c := &report.Counts; c.Given < 7 || c.Received <= c.MessagesLocal+c.MessagesWide {
				t.Errorf("%s under %s: %+v", name, policy, *c)
			}
		}
	}
}

// TestRecordedTreesSurvive: any tree comes back from its file as it was.
func TestRecordedTreesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Search{Seed: rapid.Uint64().Draw(t, "seed"), Depth: 4, FanHigh: 3, Leaf: time.Millisecond, Spec: 9,
			Rare: 1}
		var jobs []RecordedJob
		var walk func(Node)
		walk = func(n Node) {
			children := s.Children(n, nil)
			jobs = append(jobs, RecordedJob{RecordedPhase{len(children), time.Duration(s.Cost(n))}, s.ArgBytes(n),
				s.ResultBytes(n), nil})
			for _, c := range children {
				walk(c)
			}
		}
		walk(s.Root())
		r, err := NewRecorded("x", jobs)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := r.Write(&file); err != nil {
			t.Fatal(err)
		}
		again, err := ReadRecorded(&file, "x")
		if err != nil {
			t.Fatal(err)
		}
		want, got := Sequential(s), Sequential(again)
		if got.Jobs != want.Jobs || got.Work != want.Work || got.Depth != want.Depth ||
			got.Result.Leaves != want.Result.Leaves {
			t.Fatalf("%+v came back as %+v", want, got)
		}
	})
}

// A file that is no recorded tree, or ends before its tree or after it, is refused with the line and what is wrong
// there.
func TestBadRecordedTrees(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `x:1: a recorded tree begins with "satin-tree 1 " and its name`},
		{"satin-tree 1 \n0 1 1 1\n", `x:1: a recorded tree begins with "satin-tree 1 " and its name`},
		{"tree\n", `x:1: a recorded tree begins with "satin-tree 1 " and its name`},
		{"satin-tree 1 a\n", "x:1: 0 jobs; 1 to 5000000 are possible"},
		{"satin-tree 1 a\n0 1 1\n", "x:2: 3 numbers; a job is four: children, cost, argument, result, and two for each phase that follows"},
		{"satin-tree 1 a\n0 -1 1 1\n", `x:2: "-1" is not a whole number from 0 to 3600000000000`},
		{"satin-tree 1 a\ntwin -1\n", `x:2: "-1" is not a whole number from 0 to 3600000000000000`},
		{"satin-tree 1 a\n1 1 1 1 1\n", "x:2: 5 numbers; a job is four: children, cost, argument, result, and two for " +
			"each phase that follows"},
		{"satin-tree 1 a\n1 1 1 1 0 1 1 1\n", "x:2: only its last phase may spawn nothing"},
		{"satin-tree 1 a\n0 1 1 1 1 1\n0 1 1 1\n", "x:2: only its last phase may spawn nothing"},
		{"satin-tree 1 a\n0 1 1 99999999\n", `x:2: "99999999" is not a whole number from 0 to 16777216`},
		{"satin-tree 1 a\n1 1 1 1\n", "x:2: the tree ends, but it has 1 children more"},
		{"satin-tree 1 a\n0 1 1 1\n0 1 1 1\n", "x:3: it belongs to no job before it: the tree was complete"},
		{"satin-tree 1 a\n" + strings.Repeat("1", 1<<17), "x:2: bufio.Scanner: token too long"},
	} {
		if _, err := ReadRecorded(strings.NewReader(c.text), "x"); err == nil || err.Error() != c.want {
			t.Errorf("%.40q: error %v, want %s", c.text, err, c.want)
		}
	}
}

const phasedTree = `satin-tree 1 phased
twin 15000
2 1000 40 8 2 3000 1 5000 0 7000
0 10 1 1
2 4 1 1
0 20 1 1
0 30 1 1
0 40 1 1
0 50 1 1
0 60 1 1
`

// A tree with phases is run phase by phase, and reshaped as programs are.
func TestRecordedPhases(t *testing.T) {
	r, err := ReadRecorded(strings.NewReader(phasedTree), "x")
	if err != nil {
		t.Fatal(err)
	}
	spawns, syncs := r.Counts()
	if r.Twin != 15_000 || r.Work() != 16_214 || spawns != 7 || syncs != 4 {
		t.Errorf("%v of work, %d spawns, %d syncs", r.Work(), spawns, syncs)
	}
	for _, c := range []struct {
		what   string
		make   func() (*Recorded, error)
		leaves uint64
		work   time.Duration
		text   string // of the root
	}{
		{"scaled", func() (*Recorded, error) { return r.Scaled(16_214 * 1000) }, 6 + 4, 16_214_000,
			"1 0 40 8 2 0 1 0 2 0 1 0 1 0 1 0"},
		{"of three recordings, the least of leaves and the median of others", func() (*Recorded, error) {
			all := []*Recorded{r}
			for _, other := range [][]string{{"2 1000 40 8 2 3000", "2 500 40 8 2 4000", "0 10 ", "0 5 "},
				{"2 1000 40 8 2 3000 1 5000", "2 2000 40 8 2 3500 1 1", "0 10 ", "0 12 "}} {
				again, err := ReadRecorded(strings.NewReader(strings.NewReplacer(other...).Replace(phasedTree)), "x")
				if err != nil {
					return nil, err
				}
				all = append(all, again)
			}
			return Merge(all)
		}, 6, 16_214 + 500 - 5, "2 1000 40 8 2 3500 1 5000 0 7000"},
		{"flat", r.Flat, 6, 16_214, "3 1004 40 8 2 3000 1 5000 0 7000"},
		{"its second phase twice", func() (*Recorded, error) { return r.Repeat(1, 2, 2) }, 4, 6180,
			"2 3000 40 8 2 3000"},
		{"with other costs", func() (*Recorded, error) {
			return r.Between(func(i int, _ time.Duration) time.Duration { return time.Duration(i) })
		}, 6, 220, "2 0 40 8 2 1 1 2 0 3"},
	} {
		got, err := c.make()
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		var text bytes.Buffer
		if err := got.Write(&text); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text.String(), "\n") // what is merged has a twin before the root
		root := lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, " 40 8") })]
		if total := Sequential(got); total.Result.Leaves != c.leaves || root != c.text {
			t.Errorf("%s: %d leaves, root %s", c.what, total.Result.Leaves, root)
		}
		if got.Work() != c.work {
			t.Errorf("%s: %v of work", c.what, got.Work())
		}
		if _, err := Run(quiet(got, "crs")); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// Two recordings of programs that do not do the same are not one.
func TestMergeOfDifferentTrees(t *testing.T) {
	for _, other := range []string{"0 1 1 1", "1 1 1 1\n0 1 1 1", "2 1 1 1\n0 1 1 1\n0 1 1 1", "1 1 1 1 1 1\n0 1 1 1\n0 1 1 1"} {
		one, err := ReadRecorded(strings.NewReader("satin-tree 1 x\n2 1 1 1 0 3\n0 1 1 1\n0 1 1 1"), "x")
		if err != nil {
			t.Fatal(err)
		}
		two, err := ReadRecorded(strings.NewReader("satin-tree 1 x\n"+other), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Merge([]*Recorded{one, two}); err == nil {
			t.Errorf("%q is like another tree", other)
		}
	}
}

// FuzzRecorded: every text is a tree that can be run, or an error.
func FuzzRecorded(f *testing.F) {
	f.Add(sampleTree)
	f.Add("satin-tree 1 x\n0 0 0 0")
	f.Add(phasedTree)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRecorded(strings.NewReader(text), "x")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if total := Sequential(r); total.Jobs != uint64(len(r.jobs)) {
			t.Fatalf("%d jobs are reached of %d", total.Jobs, len(r.jobs))
		}
	})
}
