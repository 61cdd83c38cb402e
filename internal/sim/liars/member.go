package liars

import (
	"slices"
	"strconv"
	"time"

	"github.com/satin-peer/satin/peer/alarm"
)

// A member hears of liars, tries what it hears, and tells others.
type member struct {
	w       *spreading
	i       int
	by      *member // who has let it in; nil: the founder
	invites bool
	lies    bool
	tries   bool          // it takes part in the runs, so it can try what is said of their jobs
	busy    bool          // but has no time for it at first
	slow    time.Duration // the longest trial
	loss    float64
	side    int
	of      []link // to others

	docket   alarm.Docket[*statement]
	repeats  alarm.Repeats
	again    alarm.Reminder
	own      []*statement // that somebody is out
	turn     int
	out      map[*member]bool // by what this one has seen itself
	evidence map[*member]bool
	since    map[*member]time.Duration // and when that was so first, by whatever was heard
	heard    []*statement              // that somebody is out
	spent    map[*member]time.Duration
	spared   time.Duration // what trials have taken that were not of a proof
	until    time.Duration // when the last one of them is over
}

// A link is what one has to do with another.
type link struct {
	life    int           // how often they were cut off from each other
	failing time.Duration // what tellings that failed have taken, and pauses after them
	gaveUp  int           // tellings that are not tried again
	bucket  float64       // warnings by the other that were heard lately
	filled  time.Duration
}

// above says whether a member's word puts another out for everybody.
func (m *member) above(other *member) bool {
	for at := other.by; at != nil; at = at.by {
		if at == m {
			return true
		}
	}
	return false
}

// isOut says whether another is out here: by what was seen here, or by the word of one above it.
func (m *member) isOut(other *member) bool {
	if m.out[other] {
		return true
	}
	return slices.ContainsFunc(m.heard, func(x *statement) bool { return x.of == other && x.by.above(other) })
}

// see notes when somebody was first out.
func (m *member) see(other *member) {
	if _, was := m.since[other]; !was && m.isOut(other) {
		m.since[other] = m.w.now
	}
}

func (m *member) connected(other *member) bool { return m.side == other.side }

// move takes a member to another side of a partition. Those whom it finds there it meets.
func (m *member) move(side int) {
	before := m.side
	if m.side = side; side == before {
		return
	}
	for _, other := range m.w.members {
		switch {
		case other == m:
		case other.side == before:
			m.of[other.i].life++
			other.of[m.i].life++
		case other.side == side:
			other.meet(m)
			m.meet(other)
		}
	}
}

// prove is what a member does that has found out a lie.
func (m *member) prove(x *statement) {
	m.evidence[x.of] = true
	for _, other := range m.w.members {
		if other.tries && !other.busy {
			m.w.promise(x.of, soon, byProof, m, other)
		}
		if m.w.open || !other.above(x.of) || other != m && (!other.tries || other.busy) {
			continue
		}
		for _, third := range m.w.members {
			m.w.promise(x.of, soon, byWord, m, other, third)
		}
	}
	m.w.said = append(m.w.said, x)
	m.repeats.Add(m.w.clock(), strconv.Itoa(len(m.w.said)-1))
	m.accuse(x)
	m.banish(x.of)
}

// accuse tells everybody that somebody has lied.
func (m *member) accuse(x *statement) {
	m.gossip(x)
	m.warn(x)
}

// banish puts a peer out, and tells everybody, who may have reason to believe it.
func (m *member) banish(other *member) {
	if !other.lies {
		m.w.fail(errOut, "%d for %d", other.i, m.i)
	}
	if m.out[other] {
		return
	}
	m.out[other] = true
	if m.see(other); m.w.open || !m.invites {
		return
	}
	x := &statement{by: m, of: other}
	m.heard, m.own = append(m.heard, x), append(m.own, x)
	m.again.Set(m.w.clock(), alarm.RevocationsAgain)
	m.gossip(x)
	m.warn(x)
}

// keepUp repeats what may have been lost.
func (m *member) keepUp() {
	now := m.w.clock()
	if name, due := m.repeats.Due(now); due {
		i, _ := strconv.Atoi(name)
		m.gossip(m.w.said[i])
	}
	if m.again.Due(now) {
		for i := range min(len(m.own), alarm.MaxRepeated) {
			m.gossip(m.own[(int(now.Unix())+i)%len(m.own)])
		}
	}
	m.w.after(keepUpEvery, m.keepUp)
}

// hear takes something in; false if it is to be said again. What was said straight that somebody is out is told on.
func (m *member) hear(x *statement, from *member, straight bool) bool {
	switch {
	case m.lies, m.isOut(from):
	case !x.proof:
		if !slices.Contains(m.heard, x) {
			m.heard = append(m.heard, x)
			if m.see(x.of); straight {
				m.gossip(x)
			}
		}
	case x.of == m, m.isOut(x.of), m.evidence[x.of], !m.tries:
	default:
		a := alarm.Accusation[*statement]{Accuser: alarm.PeerID(rune('a' + from.i)), Of: x}
		a.Hand, a.Accused = a.Accuser, alarm.PeerID(rune('a'+x.of.i))
		a.Hash[0], a.Hash[1], a.Hash[2] = byte(x.by.i), byte(x.of.i), byte(x.inPieces)
		begin, heard := m.docket.Hear(m.w.clock(), a)
		if begin {
			m.sit()
		}
		if !heard {
			m.w.res.Refused++
		}
		return heard
	}
	return true
}

// sit tries what waits, one after the other.
func (m *member) sit() {
	a, ok := m.docket.Next()
	if !ok {
		return
	}
	x, from := a.Of, m.w.members[[]rune(string(a.Accuser))[0]-'a']
	took, shown := m.w.some(m.slow), !x.nothing
	if !shown || m.busy && m.w.rng.IntN(2) == 0 {
		took, shown = alarm.TrialTime, false
	}
	if !x.lied || !shown {
		m.spared, m.until = m.spared+took, m.w.now+took
	}
	m.w.res.Tried++
	m.w.after(took, func() {
		c := x.about()
		liar := c.Try(hearing{c, shown, x.of.i%4 == 1})
		m.docket.Tried(a, took, liar == c.By, shown)
		if liar != c.By {
			if m.spent[from] += took; m.w.now < time.Hour && m.spent[from] > alarm.TrialAllowance {
				m.w.fail(errTrials, "%d has taken %v of %d", from.i, m.spent[from], m.i)
			}
		}
		if shown {
			other := x.of
			if liar != c.By {
				other = x.by
			} else {
				m.evidence[other] = true
			}
			m.banish(other)
		}
		m.sit()
	})
}

// about is what a proof shows: two have signed different things of a job, which comes to 1, or the liar has signed
// both. Of some jobs the application judges the outcomes.
func (x *statement) about() alarm.Case {
	c := alarm.Case{By: alarm.PeerID(rune('a' + x.of.i)), Against: alarm.PeerID(rune('a' + x.by.i)),
		Said: alarm.Hash{1}, Truth: alarm.Hash{2}, Alike: true, Judged: x.of.i%4 < 2}
	if x.lied {
		c.Said, c.Truth = c.Truth, c.Said
	}
	if x.lied && x.of.i%4 == 2 {
		c.Against, c.Silent = c.By, true
	}
	return c
}

// hearing is a trial, whose application can tell perhaps what is wrong by itself.
type hearing struct {
	alarm.Case
	shows, knows bool
}

func (h hearing) Judge(truth bool) alarm.Essence {
	word := h.Said
	if truth {
		word = h.Truth
	}
	return alarm.Essence{Hash: word, Wrong: h.knows && word != alarm.Hash{1}, Void: !h.shows}
}

func (h hearing) Run() (alarm.Hash, bool) { return alarm.Hash{1}, h.shows }
