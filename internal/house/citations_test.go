package house_test

import (
	"testing"

	"github.com/satin-peer/satin/internal/house"
)

// Comments that cite what is not in the repository are found, and others are left alone.
func TestCitations(t *testing.T) {
	with := func(comment string) []string {
		return []string{"docs/protocol.md", "# P\n", "a.go", "package a\n\n// " + comment + "\nfunc f() {}\n"}
	}
	check(t, house.Citations, []ruleCase{
		{"what is there, by path or name, and papers",
			with("See docs/protocol.md, or a.go, or pkg.go.dev; fault tolerance paper, 3.5. A reissue 2 of it."), nil},
		{"a file that is gone", with("see b.go"),
			[]string{"a.go:3: a comment cites b.go, which is not in the repository"}},
		{"a document that is not there", with("(NOTES.md: 3 ms)"),
			[]string{"a.go:3: a comment cites NOTES.md, which is not in the repository"}},
		{"a number of an issue", with("as issue 17 wants, and issues #4"),
			[]string{"a.go:3: a comment cites issue 17: say the fact", "a.go:3: a comment cites issues #4"}},
		{"in text that is no comment", []string{"a.go", "package a\n\nconst s = \"NOTES.md of issue 3\"\n"}, nil},
	})
}

// A test that the page of attacks names in another room than its own is found, in the rows of its tables.
func TestCitedTests(t *testing.T) {
	with := func(cited string) []string {
		return []string{"docs/security.md", "| attack | test |\n|---|---|\n| lies | " + cited + " |\nsee `TestGone`\n",
			"a/a_test.go", "package a\n\nfunc TestA() {}\nfunc FuzzA() {}\n",
			"internal/hostile/b_test.go", "package hostile\n\nfunc TestB() {}\n"}
	}
	check(t, house.CitedTests, []ruleCase{
		{"where they are", with("`TestB`, `a` `TestA`, `FuzzA`, `b` and `a` `TestA`, `make chaos`"), nil},
		{"without the room", with("`TestB`, `TestA`"),
			[]string{"docs/security.md:3: TestA is not in internal/hostile"}},
		{"in another one", with("`a` `TestA`, `TestB`, `a` and `b` `FuzzB`"),
			[]string{"docs/security.md:3: TestB is not in a", "docs/security.md:3: FuzzB is not in a or b"}},
	})
}
