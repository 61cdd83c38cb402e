package volunteers

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/campaign"
)

// noted are the shares of all work at which the campaign's estimate is noted.
var noted = [...]float64{0.01, 0.1, 0.5}

// whole says that the piece of a part is whole, where it is to be checked, or to be had by those who do.
func (w *world) whole(s *share) {
	p := s.part
	cost := w.Parts[p.number] * w.Checking
	if w.Verdicts == 0 {
		core := 0
		for i, free := range w.owner.cores {
			if free < w.owner.cores[core] {
				core = i
			}
		}
		w.owner.cores[core] = max(w.now, w.owner.cores[core]) + span(cost)
		w.report.Checked += cost
		w.agenda.Post(w.owner.cores[core], func() { w.prove(s) })
		return
	}
	w.report.LostChecks += float64(p.verdicts) * cost // whoever had it is gone, and it is another now
	p.tries++
	p.by, p.verdicts = p.by[:0], 0
	for range w.Verdicts {
		w.assign(&check{share: s, try: p.tries, cost: cost})
	}
}

// valid says whether the piece is still whole where a check has it from.
func (c *check) valid() bool { return c.try == c.share.part.tries }

// assign sends a piece to a host that has not made it, and does not check it already.
func (w *world) assign(c *check) {
	const again = time.Minute // if nobody is there
	p := c.share.part
	from, maker := &w.owner.out, (*host)(nil)
	if w.Direct {
		maker = c.share.host
		from = &maker.link
	}
	for range len(w.hosts) {
		h := w.hosts[w.chance.IntN(len(w.hosts))]
		if !h.up || h == maker || slices.Contains(p.by, h) {
			continue
		}
		p.by = append(p.by, h)
		bytes := (c.share.done + c.share.safe) * w.Bytes
		w.agenda.Post(from.send(w.now, bytes), func() {
			if w.Direct {
				w.report.Between += bytes
			} else {
				w.report.Out += bytes
			}
			w.arrive(h, c)
		})
		return
	}
	w.after(again, func() {
		if c.valid() {
			w.assign(c)
		}
	})
}

// arrive gives a host a piece to check, which it does before all else.
func (w *world) arrive(h *host, c *check) {
	switch {
	case !c.valid():
	case !h.up:
		w.another(h, c)
	default:
		h.todo = append(h.todo, c)
		if h.checking == nil {
			w.stop(h) // it goes on afterwards
			w.rest(h, false)
			w.seek(h)
		}
	}
}

// another has another host check what one did not.
func (w *world) another(h *host, c *check) {
	if c.valid() {
		c.share.part.by = slices.DeleteFunc(c.share.part.by, func(x *host) bool { return x == h })
		w.assign(c)
	}
}

// check has a host follow a piece, and say what it thinks of it.
func (w *world) check(h *host, c *check) {
	h.checking, h.todo = c, h.todo[1:]
	h.turn++
	h.checked = w.now
	turn := h.turn
	w.after(span(c.cost), func() {
		if h.turn != turn {
			return
		}
		h.checking = nil
		w.report.Checked += c.cost
		if c.valid() {
			if c.share.part.verdicts++; c.share.part.verdicts == w.Verdicts {
				w.prove(c.share)
			}
		} else {
			w.report.LostChecks += c.cost
		}
		w.seek(h)
	})
}

// leaveChecks has others check what a host that goes did not.
func (w *world) leaveChecks(h *host) {
	if c := h.checking; c != nil {
		h.turn++
		spent := (w.now - h.checked).Seconds()
		w.report.Checked += spent
		w.report.LostChecks += spent
		h.todo = append(h.todo, c)
	}
	todo := h.todo
	h.checking, h.todo = nil, nil
	for _, c := range todo {
		w.another(h, c)
	}
}

// prove counts a part as proved.
func (w *world) prove(s *share) {
	number := s.part.number
	s.release()
	w.report.Proved += s.done + s.safe
	w.state.Pieces[number] = &campaign.Piece{Part: number + 1, Conflicts: uint64(w.Parts[number])}
	w.going--
	before := w.proved / w.all
	w.proved += w.Parts[number]
	for _, at := range noted {
		if before < at && w.proved/w.all >= at {
			if said, ok := w.state.Left(); ok {
				w.report.Estimates = append(w.report.Estimates, Estimate{Done: w.proved / w.all, Left: w.all - w.proved,
					Said: said.Conflicts, Error: said.StandardError})
			}
		}
	}
	w.wake(1) // who begins another
}
