package runs

import "testing"

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
