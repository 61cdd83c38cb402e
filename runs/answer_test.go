package runs

import (
	"testing"
	"time"
)

// An answer that the disk refuses ends with this life: what was computed stays on the disk for the next one, as what
// was written down of the run does.
func TestUnsavedAnswer(t *testing.T) {
	for _, trouble := range []string{"", "full"} {
		c, _ := coreOf(DefaultConfig())
		m := manifest(1, "self")
		c.Submit(noon, 1, m, nil)
		c.Written(noon, OwnFile, m.Run, "")
		c.RootEnded(noon, m.Run, answer("42"))
		orders := c.Written(noon, AnswerFile, m.Run, trouble)
		if stops := of[Stop](orders); len(stops) != 1 || stops[0].Discard != (trouble == "") {
			t.Errorf("trouble %q: it stops %v", trouble, stops)
		}
	}
}

// Guards an answer that came while the disk was full: it is tried again each minute, and once it is there nothing is
// left that would have the next life compute it once more.
func TestAnswerIsKeptWhenThereIsRoom(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m, now := manifest(1, "self"), noon
	c.Submit(now, 1, m, nil)
	c.Written(now, OwnFile, m.Run, "")
	c.RootEnded(now, m.Run, answer("42"))
	c.Written(now, AnswerFile, m.Run, "full")
	for _, trouble := range []string{"still full", ""} {
		now = now.Add(rewriteEvery / 2)
		if w := of[WriteAnswer](c.Tick(now)); len(w) != 0 {
			t.Errorf("half a minute later it writes %v", w)
		}
		now = now.Add(rewriteEvery / 2)
		w := of[WriteAnswer](c.Tick(now))
		if len(w) != 1 || string(w[0].Answer.Outcome.Bytes) != string(answer("42").Bytes) ||
			len(of[WriteAnswer](c.Tick(now))) != 0 {
			t.Fatalf("a minute later it writes %v", w)
		}
		orders := c.Written(now, AnswerFile, m.Run, trouble)
		i, _ := c.Run(m.Run)
		kept := trouble == ""
		if i.Stored != trouble || (i.Unsaved == nil) != kept || i.State != StateDone {
			t.Errorf("trouble %q: %+v", trouble, i)
		}
		if (len(of[Remove](orders)) == 1) != kept || (len(of[Discard](orders)) == 1) != kept {
			t.Errorf("trouble %q: of it goes %v", trouble, orders)
		}
	}
	if w := of[WriteAnswer](c.Tick(now.Add(time.Hour))); len(w) != 0 {
		t.Errorf("what is there is written again: %v", w)
	}
}

// Of an own run that this peer leaves alone nothing stays on the disk when others have answered it: it would be shown
// as one in quarantine.
func TestRefusedIsAnswered(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	m.Deputies = []PeerID{"a"}
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.RootHeld(noon, m.Run, false)
	c.Led(noon, m.Run, "a")
	c.NotStarted(noon, m.Run, "its jobs kill")
	k := &Claim{Run: m.Run, Author: "a", Hash: answer("42").Hash}
	if f := of[FetchAnswer](c.Claimed(noon, k, "a")); len(f) != 1 {
		t.Fatalf("it fetches %v", f)
	}
	c.AnswerFetched(noon, k, answer("42"), "")
	orders := c.Written(noon, AnswerFile, m.Run, "")
	if i, _ := c.Run(m.Run); i.State != StateDone || len(of[Discard](orders)) != 1 {
		t.Errorf("it is %s, and of it goes %v", i.State, orders)
	}
}

// An own run that this peer leaves alone goes on elsewhere, as one of an earlier life: the answer of whoever leads it
// is believed, also where that is none of its deputies.
func TestRefusedBelievesWhoWentOn(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	v.partners = []PeerID{"a", "b"}
	m := manifest(1, "self")
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.RootHeld(noon, m.Run, false)
	c.NotStarted(noon, m.Run, "in quarantine")
	k := &Claim{Run: m.Run, Author: "b", Hash: answer("42").Hash}
	fetched, orders := 0, c.Claimed(noon, k, "b")
	for now := noon; now.Before(noon.Add(time.Hour)); {
		fetched += len(of[FetchAnswer](orders))
		if asked := of[Ask](orders); len(asked) > 0 {
			orders = c.Asked(now, &Told{Run: m.Run, From: asked[0].Whom, Claim: k, Led: true, Known: true})
			continue
		}
		now = now.Add(time.Minute)
		orders = c.Tick(now)
	}
	if fetched == 0 {
		t.Error("nobody's answer is fetched")
	}
}

// Of a run whose outcomes are compared nobody but the owner can have the answer, whoever is silent.
func TestVerifiedAnswers(t *testing.T) {
	for _, verify := range []string{"", "quorum=2"} {
		c, v := coreOf(DefaultConfig())
		m := manifest(1, "z")
		m.Verify = verify
		take(c, m)
		v.silent = []PeerID{"z"}
		c.Claimed(noon, &Claim{Run: m.Run, Author: "y", Hash: Hash{1}, At: noon.Unix(), Until: noon.Unix() + 1e6}, "y")
		c.Tick(noon.Add(time.Minute))
		if i, _ := c.Run(m.Run); i.State.Ended() != (verify == "") {
			t.Errorf("verified by %q: after a claim it is %s", verify, i.State)
		}
	}
}
