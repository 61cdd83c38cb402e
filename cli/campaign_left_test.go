package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/peer/control"
)

// Guards proofs that stay with whoever finds them: one member finds all, two check them and sign, and when the one that
// found them is gone the proofs are had from the copies that others made, and are right.
func TestProofsStay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	owner, d, end := startReal(t, "--trust", "invite")
	defer end()
	line, err := d.Invite(t.Context(), control.Invitation{})
	if err != nil {
		t.Fatal(err)
	}
	_, maker, stop := startReal(t, "--trust", "invite", "--join", line.Line)
	defer func() { stop() }()
	if line, err = d.Invite(t.Context(), control.Invitation{}); err != nil {
		t.Fatal(err)
	}
	idle, third, stopThird := startReal(t, "--trust", "invite", "--join", line.Line)
	defer stopThird()
	for _, x := range []*control.Client{d, maker, third} {
		awaitPeers(t, x, 2)
	}
	try := func(f *fake, code int, want string, args ...string) string {
		t.Helper()
		user := f.asUser()
		got := user.runReal(args...)
		if text := user.out.String() + user.err.String(); got != code || !strings.Contains(text, want) {
			t.Fatalf("%v: exit code %d, %s", args, got, text)
		}
		return user.out.String()
	}
	try(owner, 0, "", "pause")
	try(idle, 0, "", "pause")
	try(owner, 0, "12 parts", "campaign", "new", dir, "--piece", "0", "--parts", "12", "--", "sat", "--waerden", "3,8,58")
	try(owner, 0, "of 12 of 12 parts are with those who found them", "campaign", "run", dir, "--stay")
	try(owner, 0, "of 12 more a proof is with who found it", "campaign", "status", dir)
	try(owner, exitFailed, "0 of 12 parts have a right proof here", "campaign", "check", dir, "--verdicts", "2")
	files, err := filepath.Glob(filepath.Join(dir, piecesDir, "*"+pieceEnd))
	if err != nil || len(files) > 0 {
		t.Fatalf("%q have come home, %v", files, err)
	}

	for part, lie := range []func(p, other *campaign.Piece){
		func(p, _ *campaign.Piece) { p.Bytes++ },
		func(p, o *campaign.Piece) { p.File, p.Bytes, p.Kept = o.File, o.Bytes, o.Kept }, // of another cube
		func(p, o *campaign.Piece) { p.File = o.File },
	} {
		c, err := openCampaign([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		said := *c.pieces[part]
		lie(&said, c.pieces[11])
		if err := c.renew(part, &said); err != nil {
			t.Fatal(err)
		}
	}
	try(idle, 0, "", "resume")
	try(owner, 0, "", "resume")
	signed := 0
	for signed == 0 { // the owner's own worker was faster
		text := try(owner, 0, "of 9 pieces are checked by 2 others", "campaign", "verdicts", dir)
		if _, err := fmt.Sscan(text, &signed); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	try(owner, 0, fmt.Sprintf("of %d more", 12-3-signed), "campaign", "status", dir)
	try(owner, 0, "", "campaign", "run", dir) // what was wrong is proved again, and brought here
	if files, err = filepath.Glob(filepath.Join(dir, piecesDir, "*"+pieceEnd)); err != nil || len(files) != 3 {
		t.Fatalf("%q have come home, %v", files, err)
	}
	rest := map[bool]int{true: 0, false: exitFailed}[signed == 9]
	want := map[bool]string{true: "3 parts have a right proof here, 9 rest on", false: "3 of 12 parts"}[signed == 9]
	try(owner, rest, want, "campaign", "check", dir, "--verdicts", "2")
	var said struct {
		Fewest int `json:"fewest_copies"`
		Head   string
	}
	for said.Fewest < 2 {
		if err := json.Unmarshal([]byte(try(owner, 0, "", "campaign", "copies", dir, "--json")), &said); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	stop = func() {}
	again := filepath.Join(t.TempDir(), "again")
	try(owner, 0, "campaign check", "campaign", "collect", said.Head, again)
	try(owner, 0, "s VERIFIED UNSAT", "campaign", "check", again)
	try(owner, 0, "campaign check", "campaign", "collect", said.Head, dir)
	try(owner, 0, "s VERIFIED UNSAT", "campaign", "check", dir)
	try(owner, 0, "checks it", "campaign", "proof", dir, filepath.Join(t.TempDir(), "whole.lrat"))
}

// Guards what is made of what a run says that it has left: names that no member could have given are none, and the part
// stays open; one that cannot be had is taken back only when nobody says that he has it, one that is wrong at once, and
// one that others have signed never.
func TestWhatWasLeft(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	d := &campaignDir{Plan: &campaign.Plan{Cubes: [][]int32{{1}, {2}, {3}, {4}, {5}, {6}}}, dir: t.TempDir(),
		pieces: make([]*campaign.Piece, 6)}
	if err := os.MkdirAll(d.path(piecesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	piece := func(file string, bytes int, kept ...string) map[string]any {
		return map[string]any{"file": file, "bytes": bytes, "kept": kept, "conflicts": 7}
	}
	all := []int{0, 1, 2, 3, 4, 5}
	take := func(list ...map[string]any) error {
		return d.takeLeft(all, solution{answer: apps.Answer{Fields: map[string]any{"pieces": list}},
			gave: map[string]float64{"p": 12}})
	}
	for _, bad := range []map[string]any{piece(hash, 5), piece("../x", 5, hash), piece(hash, 5, "../x"),
		piece(hash, 5, hash, hash), piece(hash, satin.MaxKept+1, hash), piece(hash, 0, hash)} {
		if err := take(bad, bad, bad, bad, bad, bad); err != nil || d.state(time.Time{}).Unchecked() != 0 {
			t.Errorf("%v: %v", bad, err)
		}
	}
	good := piece(hash, satin.MaxKept+5, hash, hash)
	if take(good) == nil {
		t.Error("one piece of six parts is taken")
	}
	if err := take(good, good, good, good, good, good); err != nil || d.state(time.Time{}).Unchecked() != 6 ||
		d.pieces[0].Gave["p"] != 2 || d.pieces[0].Conflicts != 7 {
		t.Fatalf("%+v, %v", d.pieces[0], err)
	}

	d.pieces[3].Verdicts = []string{"a", "b"}
	cut := d.pieces[5]
	cut.File = strings.Repeat("cd", 32)
	word := func(part int) string { return fmt.Sprintf("%s=%d", d.leftWord(d.pieces[part]), part+1) }
	m := &keepers{fakeMember: newFakeMember(), copies: 1}
	look := func(want string, fields map[string]any, parts ...int) {
		t.Helper()
		var words []string
		for _, part := range parts {
			words = append(words, word(part))
		}
		if err := d.reopen(parts, words, solution{answer: apps.Answer{Fields: fields}}); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range d.pieces {
			got += map[bool]string{true: "-", false: "+"}[p == nil]
		}
		if got != want {
			t.Errorf("what is left of the parts is %s, want %s", got, want)
		}
	}
	look("++++++", map[string]any{"refused": []string{word(5)}}, 0, 1)
	look("+-++++", map[string]any{"refused": []string{word(1), word(3)}}, 1, 3, 5)
	look("+-++++", map[string]any{"lost": []string{word(0)}}, 0, 3)
	for _, c := range []struct {
		copies, others int
		there          []int
		left           string
	}{{1, 2, []int{0, 4}, "+-++++"}, {0, 1, nil, "+-++++"}, {0, 2, nil, "--++-+"}} {
		m.copies, m.peers = c.copies, []control.PeerInfo{{Connected: true}, {}, {Connected: true}}[2-c.others:]
		there, err := d.stillKept(t.Context(), m, []int{0, 4}, 2)
		if err != nil || !slices.Equal(there, c.there) {
			t.Errorf("with %d copies and %d others there are %v, %v", c.copies, c.others, there, err)
		}
		look(c.left, map[string]any{}, 3)
	}
	if there, err := d.stillKept(t.Context(), m, []int{3}, 2); err != nil || len(there) > 0 || d.pieces[3] == nil {
		t.Errorf("what others have signed is %+v when nobody has it: %v, %v", d.pieces[3], there, err)
	}
	if got := m.sizes[:4]; !slices.Equal(got, []int64{satin.MaxKept, 5, satin.MaxKept, 5}) {
		t.Errorf("it asks for deposits of %d bytes", got)
	}
	if again, err := filepath.Glob(d.path(piecesDir, "*.json")); err != nil || len(again) != 3 {
		t.Errorf("%q are still there, %v", again, err)
	}
}

// keepers are members that say of each deposit how many have it.
type keepers struct {
	*fakeMember
	copies int
	sizes  []int64
}

func (k *keepers) Deposit(_ context.Context, d control.Deposit) (control.DepositInfo, error) {
	k.sizes = append(k.sizes, d.Size)
	return control.DepositInfo{Hash: d.Hash, Copies: k.copies}, nil
}

// Guards what a part is that was divided, and in which proofs are left: not proved before others have checked these,
// and open if one of them is taken back.
func TestDividedIsLeft(t *testing.T) {
	t.Parallel()
	home, dir := home(t), filepath.Join(t.TempDir(), "w")
	for _, args := range [][]string{
		{"new", dir, "--parts", "2", "--piece", "0.02", "--", "sat", "--waerden", "3,8,58"},
		{"run", dir, "--workers", "1"},
	} {
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
	part := slices.IndexFunc(d.pieces, func(p *campaign.Piece) bool { return p.Divided })
	inner, err := d.inner(part)
	if err != nil {
		t.Fatal(err)
	}
	look := func(done, unchecked int) {
		t.Helper()
		if err := d.takeInner(part, inner); err != nil {
			t.Fatal(err)
		}
		again, err := openCampaign([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		s := again.state(time.Time{})
		if s.Done() != done || s.Unchecked() != unchecked {
			t.Errorf("%d parts are proved and %d unchecked, want %d and %d", s.Done(), s.Unchecked(), done, unchecked)
		}
	}
	look(2, 0)
	left := *inner.pieces[0]
	if err := os.Remove(inner.pieceFile(&left)); err != nil {
		t.Fatal(err)
	}
	left.Dropped, left.Kept = true, []string{strings.Repeat("ab", 32)}
	if err := inner.renew(0, &left); err != nil {
		t.Fatal(err)
	}
	look(1, 1)
	signed := left
	signed.Verdicts = []string{"a", "b"}
	if err := inner.renew(0, &signed); err != nil {
		t.Fatal(err)
	}
	look(2, 0)
	if err := inner.reopenPart(0); err != nil {
		t.Fatal(err)
	}
	look(1, 0)
}
