package steal

// receive checks the envelope, the same for all kinds: right run, right receiver in its right life, a sender
// that has not been superseded. Only then the body counts.
func (c *Core) receive(m *Message) {
	if m.Run != c.run.ID || m.To.Peer != c.self.Peer || m.From.Peer == c.self.Peer {
		c.stats.DroppedForeign++
		return
	}
	if m.Validate() != nil {
		c.stats.DroppedMalformed++
		return
	}
	p := c.partners.meet(m.From.Peer)
	if p == nil {
		c.partners.answerUnknown(m)
		return
	}
	if p.shunned || m.From.Inc < max(p.inc, p.floor) {
		c.stats.DroppedStale++
		return
	}
	if m.From.Inc > p.inc {
		c.liveness.reborn(p, m.From.Inc)
	}
	p.heard, p.silent = c.now, false
	if p.lost {
		p.lost = false
		c.lost.reconsider = true // what it has of others' jobs can be asked for again
		// and what it gave may be begun again
		c.lost.announceSome(func(s *segment) bool { return s.orphan && s.from == p.id })
	}
	if m.To.Inc != 0 && m.To.Inc != c.self.Inc {
		c.stats.DroppedStale++
		if m.To.Inc < c.self.Inc { // it means an earlier life of this peer and should learn of the present one
			c.liveness.sendHeartbeat(p)
		}
		return
	}
	c.dispatch(p, m)
}

// answerUnknown deals with a stranger when there is no room to know it. What it may not lose is answered.
func (ps *partners) answerUnknown(m *Message) {
	ps.stats.DroppedUnexpected++
	stranger := ps.stranger(m.From.Peer)
	stranger.inc = m.From.Inc
	switch {
	case m.Request != nil:
		ps.stats.RequestsRefused++
		ps.send(stranger, &Message{Reply: &StealReply{ID: m.Request.ID}})
	case m.Result != nil:
		ps.send(stranger, &Message{Ack: &ResultAck{Handle: m.Result.Handle}})
	case m.Reply != nil && len(m.Reply.Jobs) > 0:
		ps.send(stranger, &Message{Return: &Return{Handles: handlesOf(m.Reply.Jobs)}})
	case m.Adopt != nil:
		var hs []Handle
		for i := range m.Adopt.Jobs {
			hs = append(hs, m.Adopt.Jobs[i].Handle)
		}
		ps.send(stranger, &Message{Return: &Return{Handles: hs}})
	case m.HandOver != nil:
		ps.send(stranger, &Message{HandOverAck: &HandOverAck{ID: m.HandOver.ID, Leaving: true}})
	}
}

func (c *Core) dispatch(p *peer, m *Message) {
	switch m.Kind() {
	case KindRequest:
		c.victim.onRequest(p, m.Request)
	case KindReply:
		c.thief.onReply(p, m)
	case KindReturn:
		c.book.onReturn(p, m.Return)
	case KindResult:
		c.book.onResult(p, m)
	case KindAck:
		c.book.onAck(p, m.Ack)
	case KindAbort:
		c.losses.onAbort(p, m.Abort)
	case KindHeartbeat:
		c.liveness.onHeartbeat(p, m.Heartbeat)
	case KindHunger:
		c.liveness.onHunger(p, m.Hunger)
	case KindGoodbye:
		c.liveness.onGoodbye(p, m.Goodbye.Parts)
	case KindRelayed:
		c.book.onRelayed(p, m.Relayed)
	case KindAdopt:
		c.adoption.onAdopt(p, m.Adopt)
	case KindDisown:
		c.losses.onDisown(p, m.Disown)
	case KindHandOver:
		c.departure.onHandOver(p, m.HandOver)
	case KindHandOverAck:
		if !c.mirror.acked(p, m.HandOverAck) {
			c.departure.onHandOverAck(p, m.HandOverAck)
		}
	}
}

func handlesOf(grants []Grant) []Handle {
	hs := make([]Handle, len(grants))
	for i := range grants {
		hs[i] = grants[i].Handle
	}
	return hs
}
