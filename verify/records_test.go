package verify

import (
	"fmt"
	"testing"
)

// recordsOf are those of a machine that knows by whom peers are members that are there: by whom the first letter names.
func recordsOf(away map[PeerID]bool) *Records {
	s := &Records{Hand: func(id PeerID) PeerID {
		if id[0] == '?' || away[id] {
			return ""
		}
		return id[:1]
	}}
	s.Recall(nil)
	return s
}

// Whoever has lied loses its record, and takes with it those of all whom the same member has let in, where that is
// known: else a liar in an open swarm would take everybody's. That one of them is away changes nothing, nor that the
// liar is, also for a machine that was started again and has met neither since.
func TestRecordsFall(t *testing.T) {
	for name, c := range map[string]struct {
		away map[PeerID]bool // when the lie is found out
		liar PeerID
		left string
	}{
		"all are there":           {nil, "a1", "b1 ?1 ?2"},
		"a friend is away":        {map[PeerID]bool{"a2": true}, "a1", "b1 ?1 ?2"},
		"the liar is away":        {map[PeerID]bool{"a1": true}, "a1", "b1 ?1 ?2"},
		"nobody was met":          {map[PeerID]bool{"a1": true, "a2": true, "b1": true}, "a1", "b1 ?1 ?2"},
		"by whom is not known":    {nil, "?1", "a1 a2 b1 ?2"},
		"one without a record":    {nil, "a3", "b1 ?1 ?2"},
		"its hand is of nobody's": {nil, "c1", "a1 a2 b1 ?1 ?2"},
	} {
		away := map[PeerID]bool{}
		s := recordsOf(away)
		s.Pass([]PeerID{"a1", "a2", "b1", "?1", "?2"})
		s.Recall(s.List())
		for id := range c.away {
			away[id] = true
		}
		s.Pass([]PeerID{"a2"}) // which says no more of its hand than before
		s.Fall(c.liar)
		left := ""
		for _, id := range []PeerID{"a1", "a2", "b1", "?1", "?2"} {
			if s.Passed(id) > 0 {
				left += " " + string(id)
			}
		}
		if left != " "+c.left {
			t.Errorf("%s: records are left of%s, want %s", name, left, c.left)
		}
	}
}

// Whoever is a member by another hand than when its record was kept falls with either.
func TestRecordsOfWhoHasMoved(t *testing.T) {
	for _, liar := range []PeerID{"a2", "b2"} {
		s := recordsOf(map[PeerID]bool{})
		s.Recall([]Record{{"b1", 9, "a"}})
		if s.Fall(liar); s.Passed("b1") > 0 {
			t.Errorf("%s has lied, and it is believed", liar)
		}
	}
}

// A crowd of newcomers cannot drive out who has earned a name.
func TestRecordsAreBounded(t *testing.T) {
	s := recordsOf(nil)
	for range 2 {
		s.Pass([]PeerID{"known"})
	}
	for i := range MaxRecords + 100 {
		s.Pass([]PeerID{PeerID(fmt.Sprint("n", i))})
	}
	if list := s.List(); len(list) != MaxRecords || s.Passed("known") != 2 {
		t.Errorf("%d records, %d of the one that is known", len(list), s.Passed("known"))
	}
	if s.Recall(append(s.List(), Record{Peer: "one more"})); len(s.of) != MaxRecords {
		t.Errorf("%d are recalled", len(s.of))
	}
}
