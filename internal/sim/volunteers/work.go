package volunteers

import "slices"

// tried is how many hosts an idle one looks at, to take from the one that has most before it.
const tried = 8

// seek gives a host something to do: a piece to check, what nobody has, a part that was not begun, or half of what
// another has.
func (w *world) seek(h *host) {
	if !h.up || h.work != nil || h.checking != nil || h.idle {
		return
	}
	for len(h.todo) > 0 {
		if c := h.todo[0]; c.valid() {
			w.check(h, c)
			return
		}
		h.todo = h.todo[1:] // the piece is not whole any more
	}
	if i := slices.IndexFunc(h.held, func(s *share) bool { return s.left > 0 }); i >= 0 {
		w.goOn(h, h.held[i], 0) // what it left to check another's
		return
	}
	for len(w.queue) > 0 {
		s := w.queue[0]
		w.queue = w.queue[1:]
		if w.take(h, s); h.work != nil {
			return
		}
	}
	if w.going < w.AtOnce && len(w.order) > 0 {
		p := &part{number: w.order[0]}
		w.order = w.order[1:]
		w.going++
		w.take(h, &share{part: p, left: w.Parts[p.number]})
		return
	}
	if !w.steal(h) {
		w.rest(h, true)
	}
}

// rest has a host wait to be woken, or not any more.
func (w *world) rest(h *host, on bool) {
	switch {
	case on:
		w.idle = append(w.idle, h)
	case h.idle:
		w.idle = slices.DeleteFunc(w.idle, func(x *host) bool { return x == h })
	}
	h.idle = on
}

// steal takes half of what another host has before it.
func (w *world) steal(h *host) bool {
	var victim *host
	most := 2 * w.Grain / w.Solving
	for range min(tried, len(w.busy)) {
		v := w.busy[w.chance.IntN(len(w.busy))]
		if left := v.work.left - w.conflicts(v.work); left >= most {
			victim, most = v, left
		}
	}
	if victim == nil {
		return false
	}
	s := victim.work
	w.stop(victim)
	half := &share{part: s.part, from: s, left: s.left / 2}
	s.left -= half.left
	s.out++
	w.goOn(victim, s, 0)
	h.held = append(h.held, half)
	half.host = h
	w.goOn(h, half, w.Steal)
	return true
}

// take gives a host a share that nobody has. There may be nothing left of it to do.
func (w *world) take(h *host, s *share) {
	s.host = h
	h.held = append(h.held, s)
	if s.left > 0 {
		w.goOn(h, s, w.Steal)
	} else {
		w.ready(s)
	}
}

// goOn has a host work on a share, from a moment on.
func (w *world) goOn(h *host, s *share, in float64) {
	h.work = s
	h.turn++
	s.since = w.now + span(in)
	turn := h.turn
	w.agenda.Post(s.since+span(s.left*w.Solving), func() {
		if h.turn != turn {
			return
		}
		w.stop(h)
		s.done, s.left = s.done+s.left, 0
		w.ready(s)
		w.seek(h)
	})
	if s.left >= 2*w.Grain/w.Solving {
		h.busy = len(w.busy)
		w.busy = append(w.busy, h)
		w.wake(2) // those who wait may take of it, and wake others
	}
}

// conflicts is how far a host has come with a share since it went on with it.
func (w *world) conflicts(s *share) float64 {
	return min(s.left, max(0, (w.now-s.since).Seconds())/w.Solving)
}

// stop has a host leave what it does, and notes what it has done of it.
func (w *world) stop(h *host) {
	h.turn++
	s := h.work
	if s == nil {
		return
	}
	done := w.conflicts(s)
	s.left -= done
	s.done += done
	w.report.Solved += done * w.Solving
	h.work = nil
	if h.busy >= 0 {
		last := w.busy[len(w.busy)-1]
		w.busy[h.busy], last.busy = last, h.busy
		w.busy = w.busy[:len(w.busy)-1]
		h.busy = -1
	}
}

// wake has so many of those that wait look for work.
func (w *world) wake(n int) {
	for ; n > 0 && len(w.idle) > 0; n-- {
		h := w.idle[0]
		w.idle = w.idle[1:]
		h.idle = false
		w.after(0, func() { w.seek(h) })
	}
}

// ready sends a share to whom it came from, if all of it is done.
func (w *world) ready(s *share) {
	if s.host == nil || s.left > 0 || s.out > 0 {
		return
	}
	if s.from == nil && w.Verdicts > 0 && w.Direct {
		w.whole(s)
		return
	}
	bytes := (s.done + s.safe) * w.Bytes
	s.sent++
	sent := s.sent
	at := s.host.link.send(w.now, bytes)
	w.agenda.Post(at, func() {
		if s.sent != sent {
			return // whoever sent it is gone
		}
		s.release()
		if s.from == nil {
			w.report.Home += bytes
			w.agenda.Post(w.owner.in.send(w.now, bytes), func() { w.whole(s) })
			return
		}
		w.report.Between += bytes
		s.from.safe += s.done + s.safe
		s.from.out--
		w.ready(s.from)
	})
}

// release takes a share from its host.
func (s *share) release() {
	if h := s.host; h != nil {
		h.held = slices.DeleteFunc(h.held, func(x *share) bool { return x == s })
		s.host = nil
	}
}

// goes ends a host's time, until it comes again.
func (w *world) goes(h *host) {
	abrupt := w.chance.Float64() < w.Abrupt
	if abrupt {
		w.report.Deaths++
	} else {
		w.report.Goodbyes++
	}
	w.stop(h)
	w.leaves(h)
	w.rest(h, false)
	for _, s := range h.held {
		s.host = nil
		s.sent++
		s.part.tries++ // a piece that was whole here is not any more
		if abrupt {
			w.report.Lost += s.done * w.Solving
			w.report.Between += s.safe * w.Bytes
			s.left += s.done
		} else {
			w.report.Between += (s.done + s.safe) * w.Bytes
			s.safe += s.done
		}
		s.done = 0
		w.queue = append(w.queue, s)
	}
	h.held = nil
	w.leaveChecks(h)
	w.wake(len(w.queue))
	w.after(w.Down.draw(w.chance), func() { w.come(h) })
}
