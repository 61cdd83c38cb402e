package runs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Guards that nobody but the owner hears of an answer that is still being given to others to keep: they would end the
// run, and with it goes the manifest that is to be kept beside the answer.
func TestAnswerBeingGiven(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	m := manifest(1, "o")
	v.partners = []PeerID{"a"}
	take(c, m)
	w := of[WriteAnswer](c.RootEnded(noon, m.Run, answer("1")))
	if len(w) != 1 {
		t.Fatalf("it writes %v", w)
	}
	if asked := of[KeepAt](c.Written(noon, w[0].File, m.Run, "")); len(asked) != 1 {
		t.Fatalf("it asks %v to keep the answer", asked)
	}
	if k := c.Knows(m.Run, "a", false); k.Claim != nil || !k.Known {
		t.Errorf("it says %+v", k)
	}
	if k := c.Knows(m.Run, "o", false); k.Claim == nil {
		t.Errorf("to the owner it says %+v", k)
	}
	if told := of[TellClaim](c.KeptAt(noon, m.Run, true)); len(told) != 1 {
		t.Errorf("it tells %v", told)
	}
	if k := c.Knows(m.Run, "a", false); k.Claim == nil || !k.Over {
		t.Errorf("in the end it says %+v", k)
	}
}

// Guards that no answer is kept without the manifest: an owner that has forgotten the run needs both.
func TestKeptWithoutManifest(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	m, out := manifest(1, "o"), answer("1")
	m.Deputies = []PeerID{"a"}
	v.silent = []PeerID{"o"}
	take(c, m)
	k := &Claim{Run: m.Run, Author: "a", Hash: out.Hash, Sealed: []byte("c")}
	if why := c.MayKeep(k, 1); why != "" {
		t.Fatalf("it is not kept: %s", why)
	}
	c.Led(noon, m.Run, "a")
	if stops := of[Stop](c.Claimed(noon, k, "a")); len(stops) != 1 {
		t.Fatalf("it stops %v", stops)
	}
	if why := c.MayKeep(k, 1); why == "" {
		t.Error("it is kept when the manifest is gone")
	}
}

// Guards that who has a claim and no manifest does not keep an owner that has forgotten its run from asking others.
func TestClaimWithoutManifest(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	k := &Claim{Run: m.Run, Author: "a", Hash: answer("1").Hash, Sealed: []byte("c")}
	if o := of[Fetch](c.Claimed(noon, k, "b")); len(o) != 1 || o[0].From != "b" {
		t.Fatalf("it fetches %v", o)
	}
	if o := c.Fetched(noon, &Told{Run: m.Run, From: "b", Claim: k, Over: true}); len(of[Fetch](o)) != 0 {
		t.Fatalf("it fetches again at once: %v", o)
	}
	if o := of[Fetch](c.Claimed(noon, k, "a")); len(o) != 1 || o[0].From != "a" {
		t.Fatalf("the author's turn: %v", o)
	}
	c.Fetched(noon, &Told{Run: m.Run, From: "a", Manifest: m, Claim: k})
	if r, there := c.Run(m.Run); !there || !r.Mine {
		t.Error("the run is not taken up")
	}
}

// What this peer has computed itself is bounded, too, or owners that fall silent would fill its disk and drive out what
// it keeps for others: the oldest of the same owner's gives way, or of whoever has the most.
func TestOwnResultsAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Held, cfg.HeldOf = 4, 2
	c, _ := coreOf(cfg)
	files := map[RunID]bool{}
	now := noon
	finish := func(n int, owner PeerID) {
		now = now.Add(time.Second)
		m := manifest(n, owner)
		take(c, m)
		orders := c.RootEnded(now, m.Run, answer("42"))
		for _, w := range of[WriteAnswer](orders) {
			files[w.Run] = true
		}
		for _, r := range of[Remove](orders) {
			delete(files, r.Run)
		}
		if told := of[TellClaim](c.Written(now, HeldFile, m.Run, "")); len(told) != 1 {
			t.Errorf("run %d: it tells %v", n, told)
		}
	}
	finish(1, "honest")
	finish(2, "honest")
	for n := range 6 {
		finish(10+n, "silent")
	}
	if !files[manifest(1, "").Run] || !files[manifest(2, "").Run] {
		t.Errorf("those of another owner are driven out: %v are kept", files)
	}
	for n := range 6 {
		finish(20+n, PeerID(fmt.Sprint("o", n)))
	}
	if len(files) != cfg.Held || !files[manifest(25, "").Run] {
		t.Errorf("%d answers are kept, at most %d may be", len(files), cfg.Held)
	}
	for n := range 6 {
		finish(30+n, "z")
	}
	if len(files) != cfg.Held || !files[manifest(35, "").Run] || !files[manifest(34, "").Run] ||
		files[manifest(33, "").Run] {
		t.Errorf("of one owner's %v are kept", files)
	}
}

// Their bytes are, too, with those of the manifests beside them: answers of whoever has the most give way.
func TestBytesOfOwnResultsAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.HeldBytes = 1000
	c, _ := coreOf(cfg)
	finish := func(n int, owner PeerID, size int) {
		m := manifest(n, owner)
		take(c, m)
		c.RootEnded(noon.Add(time.Duration(n)*time.Second), m.Run, answer(string(make([]byte, size))))
		c.Written(noon, HeldFile, m.Run, "")
	}
	for n := range 3 {
		finish(n, "few", 10)
	}
	for n := range 4 {
		finish(10+n, "silent", 300)
	}
	var left []byte
	for _, id := range c.kept.ids() {
		left = append(left, id[0])
	}
	if !slices.Equal(left, []byte{0, 1, 2, 13}) {
		t.Errorf("the answers of runs %d are kept, of %d bytes", left, c.kept.size())
	}
}

// So they are where a small answer to the same run was brought before, as by whoever would have the disk filled.
func TestBytesOfSecondResultsAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.HeldBytes = 1000
	c, _ := coreOf(cfg)
	for n := range 4 {
		m, out := manifest(n, "o"), answer("1")
		take(c, m)
		c.Keep(noon, 1, &Claim{Run: m.Run, Author: "x", Hash: out.Hash, Until: m.Expires}, out, 1, 1)
		c.Written(noon, HeldFile, m.Run, "")
		c.RootEnded(noon, m.Run, answer(strings.Repeat("2", 500)))
		c.Written(noon, RivalFile, m.Run, "")
	}
	if last := c.kept.of[manifest(3, "").Run]; c.kept.size() > cfg.HeldBytes || last == nil || len(last.answers) != 2 {
		t.Errorf("%d bytes are kept, of the last run %+v", c.kept.size(), last)
	}
}

// A run whose owner cancels it while its answer is being written here is forgotten in the end like any other.
func TestEndWhileAnswerIsWritten(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Ended = 0
	c, _ := coreOf(cfg)
	m := manifest(1, "o")
	take(c, m)
	c.RootEnded(noon, m.Run, answer("1"))
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Cancelled, Until: m.Expires})
	c.Written(noon, HeldFile, m.Run, "")
	c.Tick(noon)
	if _, there := c.Run(m.Run); there {
		t.Error("it is remembered for good")
	}
}

// Guards that an owner that has forgotten its run has its manifest from whoever keeps the answer, also if that has
// forgotten the run itself, since many others have ended there meanwhile.
func TestKeptIsShownByWhoForgot(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Ended = 1
	c, _ := coreOf(cfg)
	for i := range 3 {
		m, out := manifest(i, "o"), answer("1")
		take(c, m)
		for _, w := range of[WriteAnswer](c.RootEnded(noon, m.Run, out)) {
			c.Written(noon, w.File, w.Run, "")
		}
	}
	c.Tick(noon)
	first := manifest(0, "").Run
	if _, there := c.Run(first); there {
		t.Fatal("it is not forgotten")
	}
	if k := c.Knows(first, "o", true); k.Claim == nil || !k.Held {
		t.Errorf("its owner is told %+v", k)
	}
	if k := c.Knows(first, "x", true); k.Held {
		t.Error("anybody has the manifest")
	}
}

// Guards that no answer is kept of a run that its owner verifies: a liar could fill a disk with made-up ones, and who
// found one there in its next life would take the run for answered, and leave it.
func TestNoAnswerIsKeptOfAVerifiedRun(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m, out := manifest(1, "o"), answer("1")
	m.Verify = "quorum=2"
	take(c, m)
	k := &Claim{Run: m.Run, Author: "a", Hash: out.Hash, Sealed: []byte("c")}
	if why := c.MayKeep(k, 1); why == "" {
		t.Error("it would be")
	}
	orders := c.Keep(noon, 7, k, out, 0, 0)
	if no := of[Reply](orders); len(of[WriteAnswer](orders)) > 0 || len(no) != 1 || no[0].Refusal == nil {
		t.Errorf("it is: %v", orders)
	}
}
