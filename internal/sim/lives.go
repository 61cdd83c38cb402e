package sim

// strikeLives ends lives without a word, and begins those of peers that come back.
func (w *harm) strikeLives(f *Fault, number int, phase int32) {
	if phase == faultEnds {
		for _, p := range w.struck[number] {
			if !p.alive && !(w.out && p.exile.isIt()) {
				w.revive(p)
			}
		}
		return
	}
	var down []*peer
	for _, p := range w.peers {
		if p.alive && w.strikes(f, p) {
			down = append(down, p)
		}
	}
	for _, p := range down {
		if f.Kind != Blackout && !w.othersUp(p) {
			w.trace.line(w.now, p.id, "is spared: it is the last one")
			continue
		}
		w.crash(p)
		if f.Kind == Restart {
			p.disk = disk{} // gone with it
		}
		if f.For > 0 && f.Kind != Crash && f.Kind != MasterCrash {
			w.struck[number] = append(w.struck[number], p)
		}
	}
}

// strikes says whether a fault takes a peer's life.
func (w *harm) strikes(f *Fault, p *peer) bool {
	switch f.Kind {
	case ClusterCrash:
		return p.cluster == f.Cluster
	case AllButOne:
		return int(p.number) != f.Peer
	case Blackout:
		return true
	case MasterCrash:
		return p == w.master()
	}
	return int(p.number) == f.Peer
}

// crash ends a peer's life at once. The others are not told: silence is all they notice.
func (w *harm) crash(p *peer) {
	p.stop()
	w.counts.Killed++
	p.disk.lose(w.stage)
	w.exit(p)
}

// revive starts a crashed peer again.
func (w *harm) revive(p *peer) {
	w.enter(p)
	w.begin(p)
	w.trace.line(w.now, p.id, "returns")
}

// strikeMembers lets peers come and go, and ends the run.
func (w *harm) strikeMembers(f *Fault, phase int32) {
	switch {
	case f.Kind == JoinFlood:
		if phase == faultJoins {
			w.join(len(w.peers) % len(w.links.Sizes()))
		}
	case phase == faultEnds:
	case f.Kind == Join:
		w.join(f.Cluster)
	case f.Kind == Carry:
		w.spread(f.Cluster)
	case f.Kind == Cancel:
		w.cancel()
	case f.Kind == MasterLeave:
		w.leave(w.master())
	case f.Kind == Leave:
		w.leave(w.peers[f.Peer])
	case f.Kind == ClusterLeave:
		for _, p := range w.peers {
			if p.cluster == f.Cluster {
				w.leave(p)
			}
		}
	}
}

// leave lets a peer begin to go. It stays until its core has said goodbye.
func (w *harm) leave(p *peer) {
	if p == nil || !stays(p) || !w.othersUp(p) {
		return
	}
	p.leaving, p.exile.left = true, p.exile.heard
	w.trace.line(w.now, p.id, "leaves")
	p.driver.Leave(p.local(), w.cfg.Patience)
	p.settle()
}

// gone ends the life of a peer that has said goodbye. Its last messages are sent; it runs nothing any more.
func (w *harm) gone(p *peer) {
	w.trace.line(w.now, p.id, "is gone")
	w.calm.since = max(w.calm.since, w.now)
	p.stop()
	w.exit(p)
}

// join adds a new peer.
func (w *harm) join(cluster int) {
	p := w.add(cluster, w.world)
	w.enter(p)
	w.begin(p)
	w.trace.line(w.now, p.id, "joins cluster %s", clusterID(cluster))
}

func (w *harm) begin(p *peer) {
	p.membersKnown = w.members
	if err := p.start(); err != nil {
		panic(err) // the same configuration was good for the first peers
	}
	w.queue.post(event{at: w.now, what: peerStarts, peer: p.number})
}

// cancel ends the run: everybody who is there hears of it, each at its own time, and whoever comes later knows.
func (w *harm) cancel() {
	if w.rootDone || w.cancelled {
		return
	}
	w.cancelled, w.cancelledAt = true, w.now
	for _, p := range w.peers {
		if p.alive {
			w.queue.post(event{at: w.now + w.random.Int64N(maxGossip), what: cancelHeard, peer: p.number})
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
