package sharedobj

import (
	"slices"
	"time"
)

// asking keeps what was asked of each peer and not answered. As long as an answer may be on its way the same is not
// asked again, and so many questions of one peer are under way at a time: fewer when they are not answered in time. So
// a link on which messages wait for longer than AskTimeout is not filled with what was asked already, and an answer is
// taken in however late it comes.
type asking struct {
	*base
	of map[PeerID]*unanswered
}

// unanswered are the questions to one peer, the oldest first.
type unanswered struct {
	window window
	list   []question
}

type question struct {
	digest Digest
	first  time.Duration // when it was asked first
	at     time.Duration // and last
	late   bool          // it was waited for as long as it may take
}

// mostAsked is how many questions of one peer are under way at most, as many as a job may name; as many that are late
// are remembered.
const mostAsked = 64

// ask says since when a peer has been asked for a digest: c.now if it is to be asked now; false: too much is under way.
func (c *asking) ask(id PeerID, d Digest) (at time.Duration, ok bool) {
	u := c.of[id]
	if u == nil {
		u = &unanswered{window: window{most: mostAsked, size: mostAsked}}
		c.of[id] = u
	}
	inTime, i := 0, -1
	for j := range u.list {
		q := &u.list[j]
		if !q.late && q.at+u.window.timeout(c.cfg.AskTimeout) <= c.now {
			q.late = true
			u.window.lost()
		}
		if !q.late {
			inTime++
		}
		if q.digest == d {
			i = j
		}
	}
	if i >= 0 && !u.list[i].late {
		return u.list[i].at, true
	}
	if inTime >= u.window.size {
		return 0, false
	}
	q := question{digest: d, first: c.now, at: c.now}
	if i >= 0 {
		q.first = u.list[i].first
		u.list = slices.Delete(u.list, i, i+1)
	} else if len(u.list) == 2*mostAsked {
		u.list = u.list[1:]
	}
	u.list = append(u.list, q)
	return c.now, true
}

// answered says whether a peer was asked for a digest; with the next answer it was not.
func (c *asking) answered(id PeerID, d Digest) bool {
	u := c.of[id]
	if u == nil {
		return false
	}
	i := slices.IndexFunc(u.list, func(q question) bool { return q.digest == d })
	if i < 0 {
		return false
	}
	u.window.answered(c.now - u.list[i].first)
	u.list = slices.Delete(u.list, i, i+1)
	return true
}
