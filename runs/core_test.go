package runs

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// everybody is a swarm in which all are members, and alive unless they are said not to be.
type everybody struct{ silent, strange, partners, paused []PeerID }

func (v *everybody) Alive(id PeerID) bool        { return !slices.Contains(v.silent, id) }
func (v *everybody) Admitted(id PeerID) bool     { return !slices.Contains(v.strange, id) }
func (v *everybody) Partners(*Manifest) []PeerID { return v.partners }
func (v *everybody) Computes(id PeerID) bool     { return !slices.Contains(v.paused, id) }
func (v *everybody) Bury(*Tombstone) []byte      { return []byte("t") }
func (v *everybody) Claim(*Claim) []byte         { return []byte("c") }
func (v *everybody) Enroll(*Roster) []byte       { return []byte("r") }
func (v *everybody) Cluster(id PeerID) string    { return string(id[:1]) }
func (v *everybody) Hand(id PeerID) string       { return string(id[:1]) }
func (v *everybody) Hands(*Manifest) int         { return 3 }

// noon is when these tests begin.
var noon = time.Unix(43200, 0)

func coreOf(cfg Config) (*Core, *everybody) {
	v := &everybody{}
	return New(cfg, "self", v, v), v
}

func manifest(n int, owner PeerID) *Manifest {
	return &Manifest{Run: RunID{byte(n), byte(n >> 8)}, Owner: owner, App: "app", Created: noon.Unix(),
		Expires: noon.Unix() + 1e6, Sealed: make([]byte, 100)}
}

// take has a core take up somebody's run.
func take(c *Core, m *Manifest) []Order {
	c.Announced(noon, m.Run, "x")
	return c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m})
}

// of lists the orders of a type.
func of[O Order](list []Order) (found []O) {
	for _, o := range list {
		if x, ok := o.(O); ok {
			found = append(found, x)
		}
	}
	return found
}

// Runs are taken up as long as there is room, for each owner and in all.
func TestRunsAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Active, cfg.PerOwner = 6, 2
	c, _ := coreOf(cfg)
	for i := range 20 {
		take(c, manifest(i, "z"))
	}
	if n := len(c.Runs()); n != 2 {
		t.Errorf("%d runs of one owner are taken up", n)
	}
	for i := range 20 {
		take(c, manifest(100+i, PeerID(fmt.Sprint("o", i))))
	}
	if n := len(c.Runs()); n != 6 {
		t.Errorf("%d runs are taken up", n)
	}
	cfg.ManifestBytes = 250
	c, _ = coreOf(cfg)
	for i := range 5 {
		take(c, manifest(i, PeerID(fmt.Sprint("o", i))))
	}
	if n := len(c.Runs()); n != 2 {
		t.Errorf("%d runs are taken up with manifests of 100 bytes, for 250", n)
	}
}

// An owner has one run whatever its manifest takes, and more as long as they take half of the room; that there is no
// room is said aloud once.
func TestManifestsOfOneOwner(t *testing.T) {
	cfg := DefaultConfig()
	cfg.ManifestBytes = 400
	c, _ := coreOf(cfg)
	loud := 0
	for i := range 6 {
		for _, n := range of[Note](take(c, manifest(i, "z"))) {
			if n.Bad {
				loud++
			}
		}
	}
	if n := len(c.Runs()); n != 2 || loud != 1 {
		t.Errorf("%d runs of one owner are taken up with manifests of 100 bytes, for 400; said aloud %d times", n, loud)
	}
	large := manifest(9, "y")
	large.Sealed = make([]byte, 200)
	take(c, large)
	if n := len(c.Runs()); n != 3 {
		t.Errorf("another owner's only run is refused: %d are taken up", n)
	}
}

// Runs that have ended are remembered for some time: others' and own ones apart, the newest.
func TestEndedRunsAreForgotten(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Ended, cfg.Answers = 3, 2
	c, _ := coreOf(cfg)
	now, asleep := noon, manifest(200, "self")
	c.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: asleep, Suspended: true}}}})
	for i := range 9 {
		now = now.Add(time.Second)
		m := manifest(i, PeerID(fmt.Sprint("o", i)))
		take(c, m)
		c.Buried(now, &Tombstone{Run: m.Run, Author: m.Owner, Reason: Finished, Until: 1e9})
		own := manifest(100+i, "self")
		c.Submit(now, Ticket(i), own, nil)
		c.Written(now, OwnFile, own.Run, "")
		c.RootEnded(now, own.Run, answer("42"))
		c.Written(now, AnswerFile, own.Run, "")
	}
	forgotten := of[Forget](c.Tick(now))
	if _, there := c.Run(asleep.Run); !there {
		t.Error("a suspended run is forgotten")
	}
	if _, there := c.Run(asleep.Run); !there {
		t.Error("a suspended run is forgotten")
	}
	if len(c.Runs()) != 6 || len(forgotten) != 9-3+9-2 {
		t.Errorf("%d are remembered, %d forgotten", len(c.Runs()), len(forgotten))
	}
	if _, there := c.Run(manifest(8, "").Run); !there {
		t.Error("the newest is forgotten")
	}
}

// Cancelled runs do not have answers forgotten that are on the disk.
func TestAnswersOutlastCancelledRuns(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Ended, cfg.Answers = 2, 2
	c, _ := coreOf(cfg)
	for i := range 9 {
		m := manifest(i, "self")
		c.Submit(noon, Ticket(i), m, nil)
		c.Written(noon, OwnFile, m.Run, "")
		if i > 0 {
			c.Cancel(noon, 100, m.Run)
			c.Written(noon, CancelledFile, m.Run, "")
			continue
		}
		c.RootEnded(noon, m.Run, answer("42"))
		c.Written(noon, AnswerFile, m.Run, "")
	}
	c.Tick(noon)
	if i, there := c.Run(manifest(0, "").Run); !there || i.State != StateDone || len(c.Runs()) != 1+2 {
		t.Errorf("%d are remembered, the one that is answered: %t", len(c.Runs()), there)
	}
}

// An own run that has ended and was forgotten since is not taken up for the sake of another answer, whose keeper has
// the manifest. One whose answer an earlier life has taken with it is: the other answer is all there is.
func TestFinishedIsNotTakenUp(t *testing.T) {
	for _, life := range []string{"this", "an earlier"} {
		cfg, m, hash := DefaultConfig(), manifest(1, "self"), answer("42").Hash
		m.Deputies = []PeerID{"x"}
		cfg.Answers = 0
		c, _ := coreOf(cfg)
		if life == "this" {
			c.Submit(noon, 1, m, nil)
			c.Written(noon, OwnFile, m.Run, "")
			c.RootEnded(noon, m.Run, answer("42"))
			c.Written(noon, AnswerFile, m.Run, "")
			c.Tick(noon)
		}
		if len(c.Runs()) != 0 {
			t.Fatal("it is not forgotten")
		}
		c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m, Over: true,
			Tombstone: &Tombstone{Run: m.Run, Author: "self", Reason: Finished, Hash: &hash, Until: 1e9},
			Claim:     &Claim{Run: m.Run, Author: "x", Hash: answer("43").Hash, Until: 1e9}})
		fetched := of[FetchAnswer](c.Tick(noon.Add(cfg.LeadsFor)))
		if want := life != "this"; want != (len(fetched) == 1) || want != (len(c.Runs()) == 1) {
			t.Errorf("ended in %s life: %d runs, %d answers are fetched", life, len(c.Runs()), len(fetched))
		}
	}
}

// An owner has so many runs at a time.
func TestOwnRunsAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.PerOwner = 2
	c, _ := coreOf(cfg)
	for i := range 3 {
		m := manifest(i, "self")
		replies := of[Reply](c.Submit(noon, Ticket(i+1), m, nil))
		if refused := len(replies) == 1 && replies[0].Refusal != nil; refused != (i == 2) {
			t.Errorf("run %d: %v", i, replies)
		}
		c.Written(noon, OwnFile, m.Run, "")
	}
}

// Answers are kept for others as long as there is room, by members' word only, two of a run, and of one only once.
func TestKeptAnswersAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Held, cfg.HeldOf, cfg.HeldBytes = 3, 2, 500 // with manifests of 100
	c, v := coreOf(cfg)
	v.strange = []PeerID{"stranger"}
	for i := range 6 {
		owner := PeerID("z")
		if i >= 3 {
			owner = PeerID(fmt.Sprint("o", i))
		}
		take(c, manifest(i, owner))
	}
	keep := func(run int, author PeerID, text string) bool {
		out := answer(text)
		k := &Claim{Run: manifest(run, "").Run, Author: author, Hash: out.Hash, Sealed: []byte("c")}
		orders := c.Keep(noon, 7, k, out, 0, 0)
		for _, w := range of[WriteAnswer](orders) {
			c.Written(noon, w.File, w.Run, "")
		}
		return len(of[Reply](orders)) == 0
	}
	for i, x := range []struct {
		run    int
		author PeerID
		text   string
		want   bool
	}{
		{0, "stranger", "42", false}, {0, "a", "42", true}, {0, "b", "42", false}, {0, "b", "43", true},
		{0, "c", "44", false}, {1, "a", "42", true}, {2, "a", "42", false}, // too many of z
		{3, "a", string(make([]byte, 95)), false}, {3, "a", "42", true}, {4, "a", "42", false}, {9, "a", "42", false},
	} {
		if got := keep(x.run, x.author, x.text); got != x.want {
			t.Errorf("step %d: kept: %t", i, got)
		}
	}
}

// Whoever keeps an answer for others and computes the run itself does not say that it is over: it may be a lie that was
// brought, and would get this peer's word for it.
func TestKeptIsNotSaidToo(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	out := answer("1")
	for _, w := range of[WriteAnswer](c.Keep(noon, 7, &Claim{Run: m.Run, Author: "a", Hash: out.Hash,
		Sealed: []byte("c")}, out, 0, 0)) {
		c.Written(noon, w.File, w.Run, "")
	}
	if k := c.Knows(m.Run, "x", false); k.Claim == nil || k.Over {
		t.Errorf("it says %+v", k)
	}
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Suspended, Seq: 1, Until: 1e9})
	if k := c.Knows(m.Run, "x", false); k.Over {
		t.Errorf("of a run that is suspended it says %+v", k)
	}
	for author, over := range map[PeerID]bool{"a": false, "self": true} {
		again, _ := coreOf(DefaultConfig())
		again.Recall(noon, &Recalled{Held: []RecalledHeld{{File: HeldFile, Manifest: m, Since: noon,
			Claim: Claim{Run: m.Run, Author: author, Hash: out.Hash}}}})
		if k := again.Knows(m.Run, "x", false); k.Claim == nil || k.Over != over {
			t.Errorf("in its next life it says %+v", k)
		}
		delete(again.runs, m.Run)
		if k := again.Knows(m.Run, "x", false); k.Claim == nil || k.Over != over {
			t.Errorf("of a run that it has forgotten it says %+v", k)
		}
	}
}

// What this peer has computed itself is kept even if two others' answers are there, one of which gives way.
func TestOwnResultIsNeverDisplaced(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	for _, text := range []string{"1", "2"} {
		out := answer(text)
		k := &Claim{Run: m.Run, Author: "a", Hash: out.Hash, Sealed: []byte("c")}
		for _, w := range of[WriteAnswer](c.Keep(noon, 7, k, out, 0, 0)) {
			c.Written(noon, w.File, w.Run, "")
		}
	}
	w := of[WriteAnswer](c.RootEnded(noon, m.Run, answer("3")))
	if len(w) != 1 {
		t.Fatalf("it writes %v", w)
	}
	if told := of[TellClaim](c.Written(noon, w[0].File, m.Run, "")); len(told) != 1 {
		t.Errorf("it tells %v", told)
	}
	if c.Holds(m.Run, answer("3").Hash) == 0 || c.Holds(m.Run, answer("1").Hash) == 0 {
		t.Error("its own is not kept beside the first")
	}
	out := answer("4")
	if why := c.MayKeep(&Claim{Run: m.Run, Author: "a", Hash: out.Hash}, 0); why == "" {
		t.Error("another one may displace it")
	}
}

// Only an owner's word gives up what is kept for it, and only about the answer that it has.
func TestRelease(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Ended = 0
	c, _ := coreOf(cfg)
	m := manifest(1, "o")
	take(c, m)
	out := answer("42")
	k := &Claim{Run: m.Run, Author: "a", Hash: out.Hash, Sealed: []byte("c")}
	for _, w := range of[WriteAnswer](c.Keep(noon, 7, k, out, 0, 0)) {
		c.Written(noon, w.File, w.Run, "")
	}
	other := answer("43").Hash
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Finished, Hash: &other, Until: 1e9})
	c.Tick(noon)
	if _, there := c.Run(m.Run); there {
		t.Fatal("the run is not forgotten")
	}
	for _, s := range []*Tombstone{
		{Run: m.Run, Author: "z", Reason: Cancelled}, {Run: m.Run, Author: "o", Reason: Suspended, Seq: 1, Until: 1e9},
	} {
		c.Buried(noon, s)
		if !c.Keeps(m.Run) || len(c.ClaimsFor("o")) != 1 {
			t.Fatalf("it is given up by %+v", s)
		}
	}
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Finished, Hash: &out.Hash, Until: 1e9})
	if c.Keeps(m.Run) {
		t.Error("it is kept although the owner has it")
	}
}

// An answer is kept for some time, told to its owner when it is met, and told again and again by whoever has come to
// it.
func TestKeptAnswersExpire(t *testing.T) {
	cfg := DefaultConfig()
	cfg.HeldFor = time.Hour
	c, _ := coreOf(cfg)
	m := manifest(1, "o")
	out := answer("42")
	c.Recall(noon, &Recalled{Held: []RecalledHeld{{File: HeldFile, Manifest: m, Since: noon,
		Claim: Claim{Run: m.Run, Author: "self", Hash: out.Hash, Sealed: []byte("c")}}}})
	if i, there := c.Run(m.Run); !there || i.State != StateDone {
		t.Errorf("after a restart it is %+v", i)
	}
	told := 0
	for now := noon; now.Before(noon.Add(30 * time.Minute)); now = now.Add(time.Second) {
		told += len(of[TellClaim](c.Tick(now)))
	}
	if told < 5 || told > 20 {
		t.Errorf("it is told %d times in half an hour", told)
	}
	removed := of[Remove](c.Tick(noon.Add(time.Hour + time.Second)))
	if len(removed) != 1 || removed[0].File != HeldFile || c.Keeps(m.Run) {
		t.Errorf("afterwards it removes %v", removed)
	}
}

// An owner that has come back and says twice that it knows nothing of a run has forgotten it; once may be the moment
// before it learns of it.
func TestOwnerHasForgotten(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	for i, want := range []State{StateRunning, StateCancelled} {
		c.Asked(noon, &Told{Run: m.Run, From: "o"})
		if r, _ := c.Run(m.Run); r.State != want {
			t.Errorf("after %d: %s", i+1, r.State)
		}
	}
	if o := of[Fetch](c.Announced(noon, m.Run, "o")); len(o) != 1 {
		t.Error("it is not taken up again when it is heard of")
	}
}

// Whoever has given a run up, and keeps an answer of it, shows the manifest beside that to an owner that has forgotten
// it.
func TestKeptIsShownToWhoForgot(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m, out := manifest(1, "o"), answer("1")
	take(c, m)
	for _, w := range of[WriteAnswer](c.Keep(noon, 7, &Claim{Run: m.Run, Author: "a", Hash: out.Hash,
		Sealed: []byte("c")}, out, 0, 0)) {
		c.Written(noon, w.File, w.Run, "")
	}
	for range 2 {
		c.Asked(noon, &Told{Run: m.Run, From: "o"})
	}
	if k := c.Knows(m.Run, "o", true); k.Known || k.Claim == nil || k.Manifest == nil && !k.Held {
		t.Errorf("it says %+v", k)
	}
}

// A run of a peer that was put out ends, one that is refused here or waits on the disk too, and nobody else's.
func TestRevokedOwner(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	take(c, manifest(1, "o"))
	take(c, manifest(2, "p"))
	c.Submit(noon, 0, manifest(3, "self"), nil)
	c.Written(noon, OwnFile, manifest(3, "self").Run, "")
	c.Dormant(noon, manifest(4, "o"), "")
	c.Dormant(noon, manifest(5, "p"), "")
	c.Fetched(noon, &Told{Run: manifest(6, "o").Run, From: "o", Manifest: manifest(6, "o"), Unfit: "unfit"})
	orders := c.Revoked(noon, func(m *Manifest) bool { return m.Owner != "p" })
	if stops := of[Stop](orders); len(stops) != 1 || stops[0].Run != manifest(1, "").Run || !stops[0].Discard {
		t.Errorf("it stops %v", stops)
	}
	if gone := of[Discard](orders); !slices.Equal(gone, []Discard{{manifest(6, "").Run}, {manifest(4, "").Run}}) {
		t.Errorf("it discards %v", gone)
	}
	if r, _ := c.Run(manifest(6, "").Run); r.State != StateCancelled {
		t.Errorf("the refused one is %s", r.State)
	}
	if again := c.Revoked(noon, func(m *Manifest) bool { return m.Owner != "p" }); len(again) > 0 {
		t.Errorf("then %v", again)
	}
}

// An own run that was cancelled does not come back in the next life, though what was written down of it is still
// there: the peer ended between the two.
func TestCancelledDoesNotComeBack(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	gone, there := manifest(1, "self"), manifest(2, "self")
	orders := c.Recall(noon, &Recalled{
		Cancelled: []*Tombstone{{Run: gone.Run, Author: "self", Reason: Cancelled, Until: gone.Expires}},
		Own:       []RecalledOwn{{Own: Own{Manifest: gone}}, {Own: Own{Manifest: there}}},
	})
	if starts := of[Start](orders); len(starts) != 1 || starts[0].Manifest.Run != there.Run {
		t.Errorf("it starts %v", starts)
	}
	if removed := of[Remove](orders); len(removed) != 1 || removed[0].Run != gone.Run {
		t.Errorf("it removes %v", removed)
	}
}

// Whoever takes part asks the owner now and then, for it may have missed the end.
func TestMissedEndIsAskedFor(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	late := noon.Add(DefaultConfig().AskEvery)
	if asks := of[Ask](c.Tick(late.Add(-time.Second))); len(asks) != 0 {
		t.Errorf("too early it asks %v", asks)
	}
	if asks := of[Ask](c.Tick(late)); len(asks) == 0 || asks[0].Whom != "o" {
		t.Errorf("it asks %v", asks)
	}
}

// A run that nobody ends is over when its manifest has expired.
func TestExpiry(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	take(c, manifest(1, "o"))
	own := manifest(2, "self")
	c.Submit(noon, 1, own, nil)
	c.Written(noon, OwnFile, own.Run, "")
	late := time.Unix(own.Expires, 0)
	if stops := of[Stop](c.Tick(late.Add(-time.Second))); len(stops) != 0 {
		t.Errorf("before its time: %v", stops)
	}
	orders := c.Tick(late)
	if stops := of[Stop](orders); len(stops) != 1 || !stops[0].Discard || len(of[Collect](orders)) != 1 {
		t.Errorf("it orders %v", orders)
	}
}

// A run whose checkpoint a restarted peer finds is asked about, taken up after a while without a word, and discarded
// when its owner has ended it.
func TestDormant(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m, over := manifest(1, "o"), manifest(2, "o")
	c.Dormant(noon, m, "")
	c.Dormant(noon, over, "")
	if asks := of[Ask](c.Tick(noon.Add(time.Second))); len(asks) != 2 {
		t.Errorf("it asks %v", asks)
	}
	c.Asked(noon, &Told{Run: m.Run, From: "o", Failed: true})
	c.Asked(noon, &Told{Run: over.Run, From: "o", Failed: true})
	c.Buried(noon, &Tombstone{Run: over.Run, Author: "o", Reason: Cancelled, Until: 1e9})
	if o := of[Discard](c.Tick(noon.Add(2 * time.Second))); len(o) != 1 || o[0].Run != over.Run {
		t.Errorf("it discards %v", o)
	}
	var starts []Start
	now := noon
	for len(starts) == 0 && now.Before(noon.Add(time.Hour)) {
		now = now.Add(time.Second)
		orders := c.Tick(now)
		starts = of[Start](orders)
		for _, a := range of[Ask](orders) {
			c.Asked(now, &Told{Run: a.Run, From: a.Whom, Failed: true})
		}
	}
	if wait := now.Sub(noon); len(starts) != 1 || starts[0].Fresh || wait < 30*time.Second || wait > 40*time.Second {
		t.Errorf("after %s it starts %v", wait, starts)
	}
}
