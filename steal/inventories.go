package steal

import "slices"

// inventories are what thieves say that they hold, compared with what they should hold.
type inventories struct {
	*shared
	partners *partners
	leases   *leases
	book     *book
}

// take compares what a partner says it holds with what it should hold. A lease that is missing from
// enough consecutive inventories is queued again: its reply was lost. A handle that is listed and not leased
// is aborted: its owner has long given it to somebody else, or does not want it. Beats are how many heartbeats the
// partner has sent, to whomever, since the last that was heard. It returns leases whose copies are not needed any more.
func (in *inventories) take(p *peer, h *Heartbeat, beats uint64) (spare []*lease) {
	var stale []Handle
	var missing []*lease
	i := 0
	for _, held := range h.Held {
		for i < len(p.leases) && p.leases[i].handle < held {
			missing = append(missing, p.leases[i])
			i++
		}
		if i < len(p.leases) && p.leases[i].handle == held {
			l := p.leases[i]
			late := !l.listed && l.overtakenUnderWay()
			l.listed = true
			l.misses = 0
			silent := l.copy != nil && !l.copy.eager // it was only that
			if late || l.outdone() || silent && l.overtaken(in.now, beats) {
				in.book.requeue(l, true, &in.stats.PutBackLostThief)
				stale = append(stale, held)
				continue
			}
			if silent {
				if l.blinks++; l.blinksTooMuch(in.now) {
					l.copy.eager = true
				} else { // the thief is further than the copy
					in.stats.Readopted++
					spare = append(spare, l)
				}
			}
			i++
			continue
		}
		stale = append(stale, held)
	}
	in.miss(p, append(missing, p.leases[i:]...), h.Seen)
	if len(stale) > 0 {
		in.answerStale(p, stale)
	}
	return spare
}

// miss counts leases that were not in an inventory of their thief, who had seen that heartbeat of ours. One that was
// adopted and was in none is asked for once more before it is given up: who has not got it says so, so the question
// was lost, and the holder may be at work on the job still.
func (in *inventories) miss(p *peer, missing []*lease, seen uint64) {
	lost := false
	for _, l := range missing {
		if seen < l.after {
			continue // sent before the reply could have been there
		}
		switch l.misses++; {
		case l.misses < in.cfg.InventoryMisses:
		case l.adopted && !l.listed && !l.again:
			l.again, l.misses, l.after = true, 0, in.partners.beats+1
			in.leases.ask(Address{Peer: p.id, Inc: l.life}, l)
		default:
			lost = true
			in.book.requeue(l, true, &in.stats.PutBackInventory)
		}
	}
	if lost {
		p.credit.failed(in.now, &in.cfg)
	}
}

// answerStale tells a thief about handles that it lists and that are not leased.
func (in *inventories) answerStale(p *peer, hs []Handle) {
	var disowned, aborted []Handle
	for _, h := range hs {
		if slices.Contains(p.disowned, h) {
			disowned = append(disowned, h)
		} else {
			aborted = append(aborted, h)
		}
	}
	if len(aborted) > 0 {
		in.send(p, &Message{Abort: &Abort{Handles: aborted}})
	}
	if len(disowned) > 0 {
		in.send(p, &Message{Disown: &Disown{Handles: disowned}})
	}
}
