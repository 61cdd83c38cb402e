package runs

import (
	"slices"
	"testing"
	"time"
)

// A run that was resumed stays so in its owner's next life, whatever is told again of what was before; and whoever has
// missed that it was resumed takes part then, too.
func TestResumedInTheNextLife(t *testing.T) {
	owner, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	owner.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m, Seq: 2}}}})
	suspended := &Tombstone{Run: m.Run, Author: "self", Reason: Suspended, Seq: 1, Until: m.Expires}
	if stops := of[Stop](owner.Buried(noon, suspended)); len(stops) > 0 {
		t.Errorf("by what it said before it stops %v", stops)
	}
	v := &everybody{}
	other := New(DefaultConfig(), "other", v, v)
	other.Fetched(noon, &Told{Run: m.Run, From: "self", Manifest: m})
	other.Buried(noon, suspended)
	if fetches := of[Fetch](other.Announced(noon, m.Run, "self")); len(fetches) != 1 {
		t.Fatalf("it fetches %v", fetches)
	}
	k := owner.Knows(m.Run, "other", true)
	told := &Told{Run: m.Run, From: "self", Manifest: m, Tombstone: k.Tombstone, Known: k.Known}
	if starts := of[Start](other.Fetched(noon, told)); len(starts) != 1 {
		t.Error("who has missed that it goes on takes no part")
	}
	then := &Tombstone{Run: m.Run, Author: "self", Reason: Suspended, Seq: 4, Until: m.Expires}
	other.Buried(noon, then)
	if i, _ := other.Run(m.Run); i.State != StateSuspended {
		t.Errorf("suspended again it is %s", i.State)
	}
}

// A command ends when its own writing has ended, and not with what was being written before.
func TestWritesInOrder(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	c.Fetched(noon, &Told{Run: m.Run, From: "a", Manifest: m}) // what was written down of it is lost
	c.Suspend(noon, 1, m.Run)
	if w := of[WriteOwn](c.Collected(noon, m.Run, nil)); len(w) != 1 || !w[0].Own.Suspended {
		t.Fatalf("it writes %v", w)
	}
	if ended := of[Reply](c.Written(noon, OwnFile, m.Run, "")); len(ended) > 0 {
		t.Errorf("before it is on the disk that the run is suspended: %v", ended)
	}
	if ended := of[Reply](c.Written(noon, OwnFile, m.Run, "full")); len(ended) != 1 || ended[0].Refusal == nil {
		t.Errorf("the disk refuses it: %v", ended)
	}
}

// A run that has been suspended for longer than its manifest counts is no run any more, but nobody takes away what is
// on the disk of it: a new one can go on with that.
func TestSuspendedForTooLong(t *testing.T) {
	m := manifest(1, "self")
	late := time.Unix(m.Expires, 0)
	c, _ := coreOf(DefaultConfig())
	orders := c.Recall(late, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m, Suspended: true}}}})
	orders = append(orders, c.Tick(late)...)
	if i, _ := c.Run(m.Run); i.State != StateSuspended || len(of[Remove](orders)) > 0 {
		t.Errorf("it is %q, and of it goes %v", i.State, orders)
	}
	if no := c.MayResume(m.Run); no == nil {
		t.Error("it is resumed")
	}
	if replies := of[Reply](c.Resume(late, 1, m)); len(replies) != 1 || replies[0].Refusal == nil {
		t.Errorf("it is resumed: %v", replies)
	}
}

// A run that nobody has ended by then is suspended, in this life or in the next one, for the clock may be wrong: with
// that set right it can be resumed. Where nothing is kept of runs it ends. The others are told, whose clocks may be
// right, and nothing comes of a clock that is set right when the peer has begun.
func TestExpiredIsSuspended(t *testing.T) {
	m := manifest(1, "self")
	late := time.Unix(m.Expires, 0)
	for _, no := range []*Refusal{nil, {Refuse, "checkpoints are switched off"}} {
		c, _ := coreOf(DefaultConfig())
		c.Submit(noon, 1, m, nil)
		c.Written(noon, OwnFile, m.Run, "")
		c.Tick(late)
		orders := c.Collected(late, m.Run, no)
		orders = append(orders, c.Written(late, OwnFile, m.Run, "")...)
		want := StateSuspended
		if no != nil {
			want = StateCancelled
		}
		stops := of[Stop](orders)
		if i, _ := c.Run(m.Run); i.State != want || len(stops) != 1 || stops[0].Discard != (no != nil) {
			t.Errorf("it is %s, after %v", i.State, orders)
		}
	}
	for _, first := range []time.Time{late, noon} {
		c, _ := coreOf(DefaultConfig())
		orders := slices.Concat(c.Recall(late, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m}}}}), c.Tick(first),
			c.Tick(first.Add(c.cfg.Doubt)))
		if len(of[Remove](orders)) > 0 {
			t.Errorf("in the next life it is lost: %v", orders)
		}
		if first == noon {
			if i, _ := c.Run(m.Run); i.State != StateRunning || len(of[Collect](orders)) > 0 {
				t.Errorf("with the clock set right it is %s, after %v", i.State, orders)
			}
			continue
		}
		c.Collected(late, m.Run, nil)
		told := of[Bury](c.Written(late, OwnFile, m.Run, ""))
		if i, _ := c.Run(m.Run); i.State != StateSuspended || len(told) != 1 || told[0].Tombstone.Reason != Suspended {
			t.Errorf("in the next life it is %q, and the others are told %v", i.State, told)
		}
		if c.MayResume(m.Run) == nil {
			t.Error("it can be resumed")
		}
		c.Tick(noon)
		if no := c.MayResume(m.Run); no != nil {
			t.Errorf("with the clock set right it cannot be resumed: %v", no)
		}
	}
}

// An owner that ended before it could tell that its run is suspended says so in its next life to whoever asks: else the
// others would go on with it.
func TestSuspendedInTheNextLife(t *testing.T) {
	owner, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	owner.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m, Suspended: true, Seq: 1}}}})
	if s := owner.Knows(m.Run, "a", false).Tombstone; s == nil || s.Reason != Suspended || s.Seq != 1 {
		t.Errorf("it says %+v", s)
	}
}

// A run that has expired, and cannot be suspended since the disk is full or its checkpoint still being opened, goes on,
// and that is tried again each minute: it is not cancelled with all that is kept of it.
func TestExpiredIsTriedAgain(t *testing.T) {
	m := manifest(1, "self")
	late := time.Unix(m.Expires, 0)
	for what, fail := range map[string]func(c *Core, now time.Time) []Order{
		"the checkpoint": func(c *Core, now time.Time) []Order {
			return c.Collected(now, m.Run, &Refusal{Unavailable, "full"})
		},
		"its file": func(c *Core, now time.Time) []Order {
			return append(c.Collected(now, m.Run, nil), c.Written(now, OwnFile, m.Run, "full")...)
		},
	} {
		c, _ := coreOf(DefaultConfig())
		c.Submit(noon, 1, m, nil)
		c.Written(noon, OwnFile, m.Run, "")
		tries := 0
		for s := range 61 {
			now := late.Add(time.Duration(s) * time.Second)
			if len(of[Collect](c.Tick(now))) == 0 {
				continue
			}
			tries++
			orders := fail(c, now)
			if i, _ := c.Run(m.Run); i.State != StateRunning || len(of[Stop](orders)) > 0 {
				t.Errorf("%s is refused: it is %s, after %v", what, i.State, orders)
			}
		}
		if tries != 2 {
			t.Errorf("%s is refused: in a minute it is tried %d times, not twice", what, tries)
		}
	}
}

// Guards that an owner which has forgotten its run, and hears from others that it has suspended it, says so anew: its
// last word may have been that it goes on, and whoever has heard that would go on for ever.
func TestSuspensionThatWasForgotten(t *testing.T) {
	for _, early := range []bool{true, false} { // whether that is heard before the run
		cfg := DefaultConfig()
		cfg.Life = 2
		c, _ := coreOf(cfg)
		m := manifest(1, "self")
		said := &Tombstone{Run: m.Run, Author: "self", Reason: Suspended, Seq: 1<<32 + 1, Until: m.Expires}
		resumed := &Tombstone{Run: m.Run, Author: "self", Reason: Resumed, Seq: 1<<32 + 2, Until: m.Expires}
		if early {
			c.Buried(noon, said)
		}
		orders := take(c, m)
		if !early {
			orders = c.Buried(noon, said)
		}
		told, written := of[Bury](orders), of[WriteOwn](orders)
		if stateOf(c, m) != StateSuspended || len(told) != 1 || !told[0].Tombstone.Supersedes(resumed) {
			t.Fatalf("it is %q, and says %v", stateOf(c, m), told)
		}
		if n := len(written); n == 0 || !written[n-1].Own.Suspended || written[n-1].Own.Seq != told[0].Tombstone.Seq {
			t.Errorf("what is written down is %+v, and what is said %+v", written, told[0].Tombstone)
		}
	}
}

// An owner that has lost what it wrote down of a run, and goes on with it or cannot, hears from others that it had
// suspended or cancelled it, and again if that came while it was writing something down.
func TestHearsWhatItSaid(t *testing.T) {
	m := manifest(1, "self")
	for reason, want := range map[Reason]State{Suspended: StateSuspended, Cancelled: StateCancelled} {
		said := &Tombstone{Run: m.Run, Author: "self", Reason: reason, Seq: 1, Until: m.Expires}
		for _, unfit := range []string{"", "its module is not here"} {
			c, _ := coreOf(DefaultConfig())
			c.Fetched(noon, &Told{Run: m.Run, From: "a", Manifest: m, Unfit: unfit})
			c.Written(noon, OwnFile, m.Run, "")
			orders := c.Asked(noon, &Told{Run: m.Run, From: "a", Tombstone: said})
			if i, _ := c.Run(m.Run); i.State != want {
				t.Errorf("unfit %q: what it had %s is %s", unfit, want, i.State)
			}
			if w := of[WriteOwn](orders); reason == Suspended && (len(w) != 1 || !w[0].Own.Suspended) {
				t.Errorf("unfit %q: it writes %v", unfit, w)
			}
		}
	}
	c, _ := coreOf(DefaultConfig())
	c.Fetched(noon, &Told{Run: m.Run, From: "a", Manifest: m})
	c.RootEnded(noon, m.Run, Outcome{Bytes: []byte{1}})
	said := &Tombstone{Run: m.Run, Author: "self", Reason: Suspended, Seq: 1, Until: m.Expires}
	c.Asked(noon, &Told{Run: m.Run, From: "a", Tombstone: said})
	if c.graves.by(m.Run, "self") != nil {
		t.Error("what comes while an answer is being written is taken for done")
	}
}

// Guards that an own run which is suspended, and that others know to be cancelled, as that could not be written down,
// is so for its owner: nobody else would take it up again.
func TestSuspendedHearsThatItIsCancelled(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	c.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m, Suspended: true, Seq: 1}}}})
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "self", Reason: Cancelled, Seq: 2, Until: m.Expires})
	if got := stateOf(c, m); got != StateCancelled || c.MayResume(m.Run) == nil {
		t.Errorf("it is %s, and may be resumed: %t", got, c.MayResume(m.Run) == nil)
	}
}

// Guards an answer that comes while a run is to be suspended, as it has expired, and that is impossible, as nothing is
// kept of it: it is not cancelled.
func TestExpiredIsAnswered(t *testing.T) {
	for _, written := range []bool{true, false} { // before it is known that it is impossible
		c, _ := coreOf(DefaultConfig())
		m := manifest(1, "self")
		late := time.Unix(m.Expires, 0)
		c.Submit(noon, 1, m, nil)
		c.Written(noon, OwnFile, m.Run, "")
		if len(of[Collect](c.Tick(late))) != 1 {
			t.Fatal("it is not to be suspended")
		}
		c.RootEnded(late, m.Run, answer("42"))
		if written {
			c.Written(late, AnswerFile, m.Run, "")
		}
		orders := c.Collected(late, m.Run, &Refusal{Refuse, "there are no checkpoints"})
		if !written {
			orders = append(orders, c.Written(late, AnswerFile, m.Run, "")...)
		}
		if stateOf(c, m) != StateDone || slices.Contains(of[Remove](orders), Remove{AnswerFile, m.Run}) {
			t.Errorf("written before: %t: it is %s, after %v", written, stateOf(c, m), orders)
		}
	}
}
