package liars

import (
	"time"

	"github.com/satin-peer/satin/peer/alarm"
)

// gossip tells something to all who are connected, some of whom it never reaches.
func (m *member) gossip(x *statement) {
	for _, other := range m.w.members {
		if other == m || !m.connected(other) {
			continue
		}
		if m.w.loses(m, other) {
			m.w.res.Lost++
			continue
		}
		m.w.after(m.w.some(latest), func() {
			if m.connected(other) {
				other.hear(x, x.by, false)
			}
		})
	}
}

func (s *spreading) loses(a, b *member) bool {
	return s.rng.Float64() < a.loss || s.rng.Float64() < b.loss
}

// warn tells it to each of them straight, and notices who has not heard.
func (m *member) warn(x *statement) {
	for _, other := range m.w.members {
		if other != m && m.connected(other) {
			m.exchange(other, new(telling), func() bool { return other.heeds(m) && other.hear(x, m, true) })
		}
	}
}

// heeds says whether a warning is listened to: see package peer.
func (m *member) heeds(from *member) bool {
	l := &m.of[from.i]
	l.bucket = max(0, l.bucket-float64(m.w.now-l.filled)/float64(alarm.WarnEvery))
	l.filled = m.w.now
	if l.bucket+1 > alarm.WarnBurst {
		m.w.res.Refused++
		return false
	}
	l.bucket++
	return true
}

// meet tells another what this one knows, some in turn.
func (m *member) meet(other *member) {
	if m.lies {
		return
	}
	var list []*statement
	for _, x := range m.w.found {
		if m.evidence[x.of] {
			list = append(list, x)
		}
	}
	if len(list) <= proofsTold && other.tries && !other.busy {
		for _, x := range list {
			m.w.promise(x.of, soon, atMeeting, m, other)
		}
	}
	for _, x := range m.heard {
		if x.by.above(x.of) {
			m.w.promise(x.of, told, atMeeting, m, other)
		}
	}
	m.exchange(other, new(telling), func() bool {
		m.turn += proofsTold
		for i := range min(len(list), proofsTold) {
			other.hear(list[(m.turn+i)%len(list)], m, true)
		}
		for _, x := range m.heard {
			other.hear(x, m, true)
		}
		return true
	})
}

// telling is what one has tried to tell another.
type telling struct {
	alarm.Tries
	n int // that have failed
}

// exchange is one try to tell another something, and those after it: it is heard, or refused, or waited for in vain,
// and then may have been heard.
func (m *member) exchange(other *member, t *telling, hear func() bool) {
	s := m.w
	if !m.connected(other) {
		return
	}
	l := &m.of[other.i]
	again := func(late time.Duration, lost bool) {
		wait, more := t.Failed()
		if lost {
			l.failing += late + wait
		}
		if t.n++; t.n == hopeless {
			l.gaveUp++
		}
		if more {
			s.after(late+wait, func() { m.exchange(other, t, hear) })
		}
	}
	if s.loses(m, other) {
		s.res.Lost++
		late := s.some(latest)
		if s.rng.IntN(2) == 0 {
			late = exchangeTime
			if s.rng.IntN(2) == 0 {
				s.after(s.some(latest), func() {
					if m.connected(other) {
						hear()
					}
				})
			}
		}
		again(late, true)
		return
	}
	s.after(s.some(latest), func() {
		if m.connected(other) && !hear() {
			again(s.some(latest), false)
		}
	})
}

// promise says that the last of some members, each of whom is to tell the next, will have a liar out soon, as long as
// they are connected. What fails on the way takes as long as it takes. Trials that are not of proofs count twice: they
// may leave no room, and then it is told again after twice as long each time.
func (s *spreading) promise(liar *member, within time.Duration, how int, path ...*member) {
	last := path[len(path)-1]
	var links []*link
	for i, m := range path[1:] {
		if m.lies || !m.connected(path[i]) || m.isOut(liar) {
			return // or those after it were told before
		}
		if m != path[i] {
			links = append(links, &path[i].of[m.i])
		}
	}
	if len(links) == 0 {
		return
	}
	state := func() (broken int, delay time.Duration) {
		for _, l := range links {
			broken, delay = broken+l.life+l.gaveUp, delay+l.failing
		}
		for i, m := range path[1:] {
			delay += 2 * (m.spared - max(0, m.until-s.now))
			if i < len(path)-2 && !m.out[liar] && m.isOut(liar) {
				broken++ // it has heard that, and says nothing itself
			}
		}
		return broken, delay
	}
	begun := s.now
	whole, before := state()
	var check func()
	check = func() {
		broken, delay := state()
		delay -= before
		switch due := begun + within + delay; {
		case broken != whole:
		case last.isOut(liar):
			s.res.kept(how, last.since[liar]-begun, delay > 0)
		case s.now < due:
			s.after(due-s.now, check)
		default:
			s.fail(errStays, "%d is in for %d %v after it was to be told, first by %d", liar.i, last.i, s.now-begun,
				path[0].i)
		}
	}
	s.after(within, check)
}
