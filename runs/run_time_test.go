package runs

import (
	"testing"
	"time"
)

// How long a run took is the owner's word, whenever others hear of its begin and end.
func TestAllTellTheSameTime(t *testing.T) {
	owner, v := coreOf(DefaultConfig())
	m := manifest(1, "self")
	owner.Submit(noon, 1, m, nil)
	owner.Written(noon, OwnFile, m.Run, "")
	owner.RootEnded(noon.Add(28*time.Second), m.Run, answer("42"))
	told := of[Bury](owner.Written(noon.Add(28*time.Second), AnswerFile, m.Run, ""))
	if len(told) != 1 || told[0].Tombstone.Took != 28*time.Second {
		t.Fatalf("the owner tells %+v", told)
	}
	for _, claimed := range []bool{false, true} {
		other := New(DefaultConfig(), "b", v, v)
		other.Announced(noon.Add(20*time.Second), m.Run, "x")
		other.Fetched(noon.Add(20*time.Second), &Told{Run: m.Run, From: "x", Manifest: m})
		if claimed { // it has believed a deputy before
			other.do(noon.Add(40*time.Second), func() { other.end(other.runs[m.Run], StateDone, "answered", true) })
		}
		other.Buried(noon.Add(47*time.Second), &told[0].Tombstone)
		if i, _ := other.Run(m.Run); i.Took != 28*time.Second {
			t.Errorf("claimed %v: another peer says that the run took %v", claimed, i.Took)
		}
	}
}

// How long a run took is the same for all, too, when its owner was lost and a deputy has answered it, whenever each has
// joined, heard of that and believed it; and while a run that was resumed goes on.
func TestAllTellTheSameTimeWithoutItsOwner(t *testing.T) {
	m, at := manifest(1, "o"), func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	m.Deputies = []PeerID{"d"}
	claim := &Claim{Run: m.Run, Author: "d", Hash: Hash{1}, At: at(28).Unix(), Until: m.Expires}
	for _, joined := range []int{1, 20} {
		for _, heard := range []int{28, 40} {
			c, v := coreOf(DefaultConfig())
			c.Fetched(at(joined), &Told{Run: m.Run, From: "x", Manifest: m})
			v.silent = []PeerID{"o"}
			c.Led(at(27), m.Run, "d")
			c.Claimed(at(heard), claim, "d")
			if i, _ := c.Run(m.Run); i.State != StateDone || i.Took != 28*time.Second {
				t.Errorf("who joined after %d s and heard of the end after %d s: %s after %v", joined, heard, i.State, i.Took)
			}
		}
	}
	owner, _ := coreOf(DefaultConfig())
	mine := manifest(2, "self")
	mine.Deputies = m.Deputies
	owner.Recall(at(50), &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: mine, Began: noon.UnixNano()}}}})
	asked := *claim
	asked.Run = mine.Run
	fetch := of[FetchAnswer](append(owner.Claimed(at(51), &asked, "d"), owner.Tick(at(55))...))
	if len(fetch) != 1 {
		t.Fatalf("the owner fetches %+v", fetch)
	}
	owner.AnswerFetched(at(56), &asked, answer("42"), "")
	if told := of[Bury](owner.Written(at(56), AnswerFile, mine.Run, "")); len(told) != 1 ||
		told[0].Tombstone.Took != 28*time.Second {
		t.Errorf("an owner that comes back tells %+v", told)
	}
	c, _ := coreOf(DefaultConfig())
	c.Fetched(at(99), &Told{Run: m.Run, From: "x", Manifest: m,
		Tombstone: &Tombstone{Run: m.Run, Author: "o", Reason: Resumed, At: at(60).Unix(), Until: m.Expires}})
	if i, _ := c.Run(m.Run); !i.Began.Equal(at(60)) {
		t.Errorf("a run that was resumed after 60 s began at %v", i.Began)
	}
}
