package sim

// strikeLives ends lives without a word, and begins those of peers that come back.
func (h *harm) strikeLives(f *Fault, number int, phase int32) {
	if phase == faultEnds {
		for _, p := range h.struck[number] {
			if !p.alive && !(h.world.out && p.exile.isIt()) {
				h.revive(p)
			}
		}
		return
	}
	var down []*peer
	for _, p := range h.world.peers {
		if p.alive && h.strikes(f, p) {
			down = append(down, p)
		}
	}
	for _, p := range down {
		if f.Kind != Blackout && !h.world.othersUp(p) {
			h.world.trace.line(h.world.now, p.id, "is spared: it is the last one")
			continue
		}
		h.crash(p)
		if f.Kind == Restart {
			p.disk = disk{} // gone with it
		}
		if f.For > 0 && f.Kind != Crash && f.Kind != MasterCrash {
			h.struck[number] = append(h.struck[number], p)
		}
	}
}

// strikes says whether a fault takes a peer's life.
func (h *harm) strikes(f *Fault, p *peer) bool {
	switch f.Kind {
	case ClusterCrash:
		return p.cluster == f.Cluster
	case AllButOne:
		return int(p.number) != f.Peer
	case Blackout:
		return true
	case MasterCrash:
		return p == h.world.master()
	}
	return int(p.number) == f.Peer
}

// crash ends a peer's life at once. The others are not told: silence is all they notice.
func (h *harm) crash(p *peer) {
	p.stop()
	h.world.counts.Killed++
	p.disk.lose(h.world.stage)
	h.world.exit(p)
}

// revive starts a crashed peer again.
func (h *harm) revive(p *peer) {
	h.world.enter(p)
	h.begin(p)
	h.world.trace.line(h.world.now, p.id, "returns")
}

// strikeMembers lets peers come and go, and ends the run.
func (h *harm) strikeMembers(f *Fault, phase int32) {
	switch {
	case f.Kind == JoinFlood:
		if phase == faultJoins {
			h.join(len(h.world.peers) % len(h.links.Sizes()))
		}
	case phase == faultEnds:
	case f.Kind == Join:
		h.join(f.Cluster)
	case f.Kind == Carry:
		h.spread(f.Cluster)
	case f.Kind == Cancel:
		h.cancel()
	case f.Kind == MasterLeave:
		h.leave(h.world.master())
	case f.Kind == Leave:
		h.leave(h.world.peers[f.Peer])
	case f.Kind == ClusterLeave:
		for _, p := range h.world.peers {
			if p.cluster == f.Cluster {
				h.leave(p)
			}
		}
	}
}

// leave lets a peer begin to go. It stays until its core has said goodbye.
func (h *harm) leave(p *peer) {
	if p == nil || !stays(p) || !h.world.othersUp(p) {
		return
	}
	p.leaving, p.exile.left = true, p.exile.heard
	h.world.trace.line(h.world.now, p.id, "leaves")
	p.driver.Leave(p.local(), h.world.cfg.Patience)
	p.settle()
}

// gone ends the life of a peer that has said goodbye. Its last messages are sent, but for the rest of long ones; it
// runs nothing any more.
func (h *harm) gone(p *peer) {
	h.world.trace.line(h.world.now, p.id, "is gone")
	h.calm.since = max(h.calm.since, h.world.now)
	p.stop()
	h.world.exit(p)
}

// join adds a new peer.
func (h *harm) join(cluster int) {
	p := h.world.add(cluster, h.world)
	h.world.enter(p)
	h.begin(p)
	h.world.trace.line(h.world.now, p.id, "joins cluster %s", clusterID(cluster))
}

func (h *harm) begin(p *peer) {
	p.membersKnown = h.world.members
	if err := p.start(); err != nil {
		panic(err) // the same configuration was good for the first peers
	}
	h.world.queue.post(event{at: h.world.now, what: peerStarts, peer: p.number})
}

// cancel ends the run: everybody who is there hears of it, each at its own time, and whoever comes later knows.
func (h *harm) cancel() {
	if h.world.rootDone || h.world.cancelled {
		return
	}
	h.world.cancelled, h.world.cancelledAt = true, h.world.now
	for _, p := range h.world.peers {
		if p.alive {
			h.world.queue.post(event{at: h.world.now + h.world.random.Int64N(maxGossip), what: cancelHeard,
				peer: p.number})
		}
	}
}

// stays says whether a peer is there and takes part in the run, for all it knows.
func stays(p *peer) bool { return p.alive && !p.leaving && !p.quit }

// quitRun ends a peer's part in the run.
func (p *peer) quitRun() {
	if p.quit {
		return
	}
	p.quit = true
	p.driver.Cancel(p.local())
	p.settle()
}

// stopped says whether nobody works any more for a run that was cancelled.
func (w *world) stopped() bool {
	last := w.cancelledAt
	busy := (*peer)(nil)
	for _, p := range w.peers {
		last = max(last, p.stalledUntil)
		if p.alive && (!p.quit || p.engine.idle < len(p.engine.workers) || p.engine.queue.len() > 0 ||
			len(p.engine.segments) > 0 || len(p.engine.given) > 0) {
			busy = p
		}
	}
	if busy != nil && w.now > last+int64(cancelGrace) {
		panic(violation(cancelStops, "%s still works for a run that was cancelled", busy.id))
	}
	return busy == nil
}
