package runs

import (
	"slices"
	"testing"
	"time"
)

// stateOf is a run's, "" if the core does not know it.
func stateOf(c *Core, m *Manifest) State {
	i, _ := c.Run(m.Run)
	return i.State
}

// answered has what was refused be written, and says what the command came to.
func answered(t *testing.T, c *Core, out []Order, trouble string) *Refusal {
	t.Helper()
	if len(of[WriteRefused](out)) == 1 {
		out = c.Written(noon, RefusedFile, RunID{}, trouble)
	}
	replies := of[Reply](out)
	if len(replies) != 1 {
		t.Fatalf("the command is answered %d times", len(replies))
	}
	return replies[0].Refusal
}

// A run, or an owner, that the user refuses ends here at once, is not taken up again, in later lives neither, and is
// when that is lifted.
func TestRunsAreRefused(t *testing.T) {
	for name, what := range map[string]Refused{"a run": {Run: manifest(1, "o").Run}, "an owner": {Owner: "o"}} {
		c, _ := coreOf(DefaultConfig())
		m := manifest(1, "o")
		take(c, m)
		out := c.Refuse(noon, 1, what, false)
		if stops := of[Stop](out); len(stops) != 1 || !stops[0].Discard || stateOf(c, m) != StateRefused {
			t.Errorf("%s: it goes on", name)
		}
		if no := answered(t, c, out, ""); no != nil {
			t.Errorf("%s: %v", name, no)
		}
		take(c, m)
		list := of[WriteRefused](out)[0].List
		if !slices.Equal(list, []Refused{what}) || stateOf(c, m) != StateRefused {
			t.Errorf("%s: written down is %v", name, list)
		}
		next, _ := coreOf(DefaultConfig())
		next.Recall(noon, &Recalled{Refused: c.Refused()})
		if starts := of[Start](take(next, m)); len(starts) != 0 || stateOf(next, m) != StateRefused {
			t.Errorf("%s: it is taken up in the next life", name)
		}
		if no := answered(t, next, next.Refuse(noon, 2, what, true), ""); no != nil {
			t.Errorf("%s: %v", name, no)
		}
		if starts := of[Start](take(next, m)); len(starts) != 1 || stateOf(next, m) != StateRunning {
			t.Errorf("%s: it is not taken up although that was lifted", name)
		}
	}
}

// What cannot be refused is said, and what is not on the disk.
func TestRunsThatCannotBeRefused(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Refused = 2
	c, _ := coreOf(cfg)
	c.Submit(noon, 9, manifest(1, "self"), nil)
	for name, x := range map[string]struct {
		what Refused
		lift bool
		kind RefusalKind
	}{
		"itself":            {Refused{Owner: "self"}, false, Refuse},
		"an own run":        {Refused{Run: manifest(1, "self").Run}, false, Refuse},
		"what is not there": {Refused{Owner: "z"}, true, NotFound},
	} {
		if no := answered(t, c, c.Refuse(noon, 1, x.what, x.lift), ""); no == nil || no.Kind != x.kind {
			t.Errorf("%s: %v", name, no)
		}
	}
	no := answered(t, c, c.Refuse(noon, 1, Refused{Owner: "a"}, false), "full")
	if no == nil || no.Kind != Unavailable {
		t.Errorf("a full disk: %v", no)
	}
	c.Refuse(noon, 1, Refused{Owner: "b"}, false)
	if no := answered(t, c, c.Refuse(noon, 1, Refused{Owner: "c"}, false), ""); no == nil || len(c.Refused()) != 2 {
		t.Errorf("too many: %v", no)
	}
}

// Others' runs end here when they are older than they may be, whatever their owners' clocks say; own ones do not.
// They may be taken up again when it was this peer's clock that was wrong.
func TestRunsLiveAsLongAsTheVolunteerAllows(t *testing.T) {
	cfg := DefaultConfig()
	cfg.LongestLife = time.Hour
	c, _ := coreOf(cfg)
	c.Submit(noon, 1, manifest(1, "self"), nil)
	c.Written(noon, OwnFile, manifest(1, "self").Run, "")
	old, young := manifest(2, "o"), manifest(3, "o")
	old.Created -= 3000
	young.Created += 1e5
	take(c, old)
	take(c, young)
	for _, step := range []struct {
		after time.Duration
		want  [3]State
	}{
		{10*time.Minute - 1, [3]State{StateRunning, StateRunning, StateRunning}},
		{10 * time.Minute, [3]State{StateRunning, StateRefused, StateRunning}},
		{time.Hour, [3]State{StateRunning, StateRefused, StateRefused}},
		{time.Minute, [3]State{StateRunning, "", ""}}, // the clock was ahead: both may be heard of again
	} {
		c.Tick(noon.Add(step.after))
		got := [3]State{stateOf(c, manifest(1, "self")), stateOf(c, old), stateOf(c, young)}
		if got != step.want {
			t.Errorf("after %s: %v", step.after, got)
		}
	}
}

// A peer that cannot compute a run complains of it for a minute after it was heard of last, however it was, and again
// when it is heard of again: of a run whose owner and helpers are gone nobody says that it is over.
func TestRefusalsEndWithTheRun(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m, unwanted := manifest(1, "z"), manifest(2, "z")
	c.Refuse(noon, 1, Refused{Run: unwanted.Run}, false)
	take(c, unwanted)
	told := &Told{Run: m.Run, From: "x", Manifest: m, Unfit: "it is another version"}
	c.Announced(noon, m.Run, "x")
	c.Fetched(noon, told)
	asked := func(now time.Time, known bool) {
		c.Asked(now, &Told{Run: m.Run, From: "z", Known: known, Failed: !known})
	}
	for _, x := range []struct {
		after time.Duration
		hear  func(now time.Time)
		want  State
	}{
		{50 * time.Second, func(now time.Time) { c.Announced(now, m.Run, "x") }, StateRefused},
		{100 * time.Second, func(now time.Time) {}, StateRefused},
		{105 * time.Second, func(now time.Time) { asked(now, true) }, StateRefused},
		{160 * time.Second, func(now time.Time) { asked(now, false) }, StateRefused},
		{165 * time.Second, func(now time.Time) {}, StateCancelled},
		{170 * time.Second, func(now time.Time) {
			c.Announced(now, m.Run, "x")
			c.Fetched(now, told)
		}, StateRefused},
	} {
		now := noon.Add(x.after)
		x.hear(now)
		c.Tick(now)
		if got := stateOf(c, m); got != x.want {
			t.Errorf("after %s it is %s, want %s", x.after, got, x.want)
		}
	}
	if got := stateOf(c, unwanted); got != StateRefused {
		t.Errorf("what the user does not want is %s", got)
	}
}

// A refused run is taken up after all: another's when it is heard of next, and nothing else is touched.
func TestRetry(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "z")
	c.Announced(noon, m.Run, "x")
	told := &Told{Run: m.Run, From: "x", Manifest: m}
	if orders := c.Fetched(noon, told); len(of[Start](orders)) != 1 {
		t.Fatalf("the orders are %+v", orders)
	}
	if orders := c.NotStarted(noon, m.Run, ""); len(orders) != 0 || len(c.Runs()) != 1 {
		t.Errorf("of a run in progress: %+v", orders)
	}
	stops := of[Stop](c.NotStarted(noon, m.Run, "its jobs killed"))
	if len(stops) != 1 || stops[0].Discard {
		t.Errorf("it goes on, or what is kept of it does not: %+v", stops)
	}
	if list := c.Runs(); len(list) != 1 || list[0].State != StateRefused || list[0].Why != "its jobs killed" {
		t.Errorf("the runs are %+v", list)
	}
	c.NotStarted(noon, m.Run, "")
	c.Announced(noon, m.Run, "x")
	if orders := c.Fetched(noon, told); len(of[Start](orders)) != 1 {
		t.Errorf("after the retry: %+v", orders)
	}
}

// A run that is refused here is over when it is over for those who take part, however this peer learns of it; until
// then the peer asks after it.
func TestRefusedRunsEnd(t *testing.T) {
	refuse := func() (*Core, *everybody, *Manifest) {
		c, v := coreOf(DefaultConfig())
		m := manifest(1, "z")
		c.Announced(noon, m.Run, "x")
		c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m, Unfit: "it is another version"})
		return c, v, m
	}
	want := func(c *Core, state State) {
		t.Helper()
		if list := c.Runs(); len(list) != 1 || list[0].State != state {
			t.Errorf("the runs are %+v, not one that is %s", list, state)
		}
	}
	c, _, m := refuse()
	want(c, StateRefused)
	if asks := of[Ask](c.Tick(noon.Add(DefaultConfig().AskEvery))); len(asks) != 1 || asks[0].Whom != "z" {
		t.Errorf("asked after it are %+v", asks)
	}
	orders := c.Buried(noon, &Tombstone{Run: m.Run, Author: "z", Reason: Finished, Seq: 1, Until: m.Expires})
	if want(c, StateDone); len(of[Stop](orders)) > 0 || len(of[Over](orders)) != 1 {
		t.Errorf("the orders are %+v", orders)
	}
	c, _, m = refuse()
	c.Tick(time.Unix(m.Expires, 0))
	want(c, StateCancelled)
	c, v, m := refuse()
	v.silent = []PeerID{"z"}
	c.Claimed(noon, &Claim{Run: m.Run, Author: "y", Hash: Hash{1}}, "y")
	c.Tick(noon.Add(DefaultConfig().Vacant))
	want(c, StateDone)
}
