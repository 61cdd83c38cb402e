package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps/sat"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/peer/control"
)

// proved makes a campaign whose parts are all proved. Its pieces take so long to check that others get some: each has
// its first step many times more behind it, and then its last one once more.
func proved(t *testing.T, more int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "w")
	home := home(t)
	for _, args := range [][]string{{"new", dir, "--parts", "6", "--", "sat", "--waerden", "3,6,32"},
		{"run", dir, "--workers", "1"}} {
		f := newFake()
		f.dirs = home
		if code := f.runReal(append([]string{"campaign"}, args...)...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &f.err)
		}
	}
	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for part, p := range d.pieces {
		file, err := openText(d.pieceFile(p))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		_, step, _ := strings.Cut(string(text), " ")
		step, _, _ = strings.Cut(step, "\n")
		last, goal := 0, ""
		for line := range strings.Lines(string(text)) {
			if _, clause, _ := strings.Cut(line, " "); !strings.HasPrefix(clause, "d ") {
				_, _ = fmt.Sscan(line, &last)
				goal, _, _ = strings.Cut(clause, " 0 ")
			}
		}
		var longer bytes.Buffer
		z := gzip.NewWriter(&longer)
		_, _ = z.Write(text)
		for id := range more {
			id += last + 1
			fmt.Fprintf(z, "%d %s\n%d d %d 0\n", id, step, id, id)
		}
		fmt.Fprintf(z, "%d %s 0 %d 0\n", last+more+1, goal, last)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		spare := filepath.Join(t.TempDir(), "piece.lrat.gz")
		if err := os.WriteFile(spare, longer.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := d.take(part, spare, *p); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Guards that others' signatures can stand for pieces: two members check them, what they have signed is kept when the
// pieces are not any more, counts when that is wanted and is said to be their word, also in an exported directory,
// and not if anything in it is changed.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const more = 30_000 // a twentieth of a second or a tenth
	dir := proved(t, more)
	owner, d, end := startReal(t, "--trust", "invite")
	defer end()
	said := func(code int, want string, args ...string) {
		t.Helper()
		user := owner.asUser()
		got := user.runReal(append([]string{"campaign"}, args...)...)
		if text := user.out.String() + user.err.String(); got != code || !strings.Contains(text, want) {
			t.Fatalf("%v: exit code %d, %s", args, got, text)
		}
	}
	for i := range 2 {
		line, err := d.Invite(t.Context(), control.Invitation{})
		if err != nil {
			t.Fatal(err)
		}
		_, other, stop := startReal(t, "--trust", "invite", "--join", line.Line)
		defer stop()
		awaitPeers(t, d, i+1)
		awaitPeers(t, other, i+1)
	}
	signed := func() (parts []int) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, piecesDir, "*.signed.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			var part int
			if _, err := fmt.Sscanf(filepath.Base(f), "%04d.signed.json", &part); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part-1)
		}
		return parts
	}
	for len(signed()) == 0 { // the owner's own worker was faster
		said(0, "are checked by 2 others", "verdicts", dir)
	}
	said(0, "s VERIFIED UNSAT", "check", dir)
	said(0, "are checked by 2 others", "verdicts", dir, "--drop")
	parts := signed()
	said(exitFailed, fmt.Sprintf("%d of 6 parts have a right proof", 6-len(parts)), "check", dir)
	said(exitFailed, "parts have a right proof", "check", dir, "--verdicts", "3")
	said(0, fmt.Sprintf("%d parts have a right proof here, %d rest on the word of others", 6-len(parts), len(parts)),
		"check", dir, "--verdicts", "2")
	out := filepath.Join(t.TempDir(), "out")
	said(0, "", "export", dir, out)
	said(0, fmt.Sprintf("has signed %d", len(parts)), "check", out, "--verdicts", "2")
	checkForgeries(t, dir, parts[0])
}

// checkForgeries changes what was signed, one thing after the other.
func checkForgeries(t *testing.T, dir string, part int) {
	t.Helper()
	c, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.signedPath(part))
	if err != nil {
		t.Fatal(err)
	}
	read := func() (f *signedFile) {
		t.Helper()
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	authors, err := c.signers(part, read())
	if err != nil || len(authors) != 2 || authors[0] == authors[1] || !slices.Equal(authors, c.pieces[part].Verdicts) {
		t.Fatalf("signed by %q, %v; the record has %q", authors, err, c.pieces[part].Verdicts)
	}
	for what, change := range map[string]func(f *signedFile){
		"another run":         func(f *signedFile) { f.Run = strings.Repeat("0", len(f.Run)) },
		"no run":              func(f *signedFile) { f.Run = "x" },
		"another job's place": func(f *signedFile) { f.Said.Path[len(f.Said.Path)-1]++ },
		"another function":    func(f *signedFile) { f.Said.Function = "sat.verdicts" },
		"another claim": func(f *signedFile) {
			f.Said.Argument = bytes.Replace(f.Said.Argument, []byte("a"), []byte("b"), 1)
		},
		"another outcome":    func(f *signedFile) { f.Said.Outcome = append(f.Said.Outcome, 0) },
		"a broken signature": func(f *signedFile) { v := f.Said.Vouchers[1]; v[len(v)-1]++ },
	} {
		f := read()
		change(f)
		if who, err := c.signers(part, f); err == nil {
			t.Errorf("%s: signed by %q", what, who)
		}
	}
	twice := read()
	twice.Said.Vouchers[1] = twice.Said.Vouchers[0]
	if who, err := c.signers(part, twice); err != nil || len(who) != 1 {
		t.Errorf("one that has signed twice: %q, %v", who, err)
	}
	for other := range c.pieces {
		if who, err := c.signers(other, read()); (err == nil) != (other == part) {
			t.Errorf("what was signed of part %d, for part %d: %q, %v", part+1, other+1, who, err)
		}
	}
}

// Guards what has to be signed: of this formula, this piece and this cube that it is right.
func TestWhatIsSigned(t *testing.T) {
	d := &campaignDir{Plan: &campaign.Plan{Formula: "f", Cubes: [][]int32{{1, -2}}},
		pieces: []*campaign.Piece{{File: "p"}}}
	right, about := sat.Verdict{Accepted: true}, sat.Claim{Formula: "f", Piece: "p", Cube: []int32{1, -2}}
	if !d.isRight(0, about, right) {
		t.Error("what is right is not taken")
	}
	for _, wrong := range []struct{ arg, result any }{
		{about, sat.Verdict{Steps: 7}}, {about, true}, {"f", right},
		{sat.Claim{Formula: "g", Piece: "p", Cube: about.Cube}, right},
		{sat.Claim{Formula: "f", Piece: "q", Cube: about.Cube}, right},
		{sat.Claim{Formula: "f", Piece: "p", Cube: []int32{1}}, right},
	} {
		if d.isRight(0, wrong.arg, wrong.result) {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

// Guards that verdicts need a daemon, and are asked for by number.
func TestVerdictsAreRefused(t *testing.T) {
	f := newFake()
	f.dirs = home(t)
	dir := proved(t, 0)
	for _, args := range [][]string{{"verdicts", dir, "--by", "1"}, {"verdicts", dir}, {"verdicts"}} {
		if code := f.runReal(append([]string{"campaign"}, args...)...); code == 0 {
			t.Errorf("%v: exit code 0", args)
		}
	}
}
