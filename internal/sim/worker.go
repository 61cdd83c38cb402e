package sim

// begin starts a job: a leaf occupies an idle worker for its cost, an inner job only owes its own.
func (p *peer) begin(e entry) {
	g := &p.engine
	p.world.audit.begins(p, &e)
	cost, isLeaf := g.spawn(&e)
	if !isLeaf {
		p.debt += p.inflated(cost)
		return
	}
	for i := range g.workers {
		w := &g.workers[i]
		if w.busy {
			continue
		}
		w.busy, w.job, w.took = true, e, 0
		w.left = p.inflated(cost) + p.debt + p.backlog.delays(p, e.node)
		p.debt = 0
		g.idle--
		p.run(i)
		return
	}
	panic("sim: a job began without an idle worker")
}

// inflated is a cost with the overhead of the programming model.
func (p *peer) inflated(cost int64) int64 {
	overhead := p.world.cfg.SpawnOverhead
	if a := p.world.cfg.Adapt; a != nil {
		overhead += a.Benchmark
	}
	return int64(float64(cost) * (1 + overhead))
}

// run lets a worker go on from now at the present speed.
func (p *peer) run(i int) {
	w := &p.engine.workers[i]
	w.since = p.world.now
	w.token++
	at := max(p.world.now, p.stalledUntil) + int64(float64(w.left)/p.speed)
	p.world.queue.post(event{at: at, what: leafDone, peer: p.number, worker: int32(i), number: w.token})
}

// pause books the work a worker has done so far, before the speed changes or the peer stalls.
func (p *peer) pause(i int) {
	w := &p.engine.workers[i]
	from := max(w.since, min(p.stalledUntil, p.world.now))
	w.left = max(0, w.left-int64(float64(p.world.now-from)*p.speed))
	w.took += p.world.now - from
	p.occupied(from)
}

// occupied adds the time since then to what workers were busy.
func (p *peer) occupied(since int64) {
	p.usage.busy += p.world.now - since
	p.world.timeline.add(p.number, since, p.world.now)
}

// leafDone is the end of a worker's job.
func (p *peer) leafDone(i int, token uint64) {
	w := &p.engine.workers[i]
	if token != w.token {
		return
	}
	from := max(w.since, min(p.stalledUntil, p.world.now))
	p.occupied(from)
	w.busy = false
	e, took := w.job, w.took+p.world.now-from
	g := &p.engine
	p.backlog.takeOver(p)
	g.idle++
	if w.spent {
		w.spent = false
		g.spent--
		p.settle()
		return
	}
	g.books.executed++
	p.usage.work += e.cost
	g.ended(e.node, e.answer)
	p.world.audit.leaf(p, &e)
	result, names := g.sharing.leaf(&e, p.world.cfg.Quorum.spoils(p, e.node, e.answer))
	p.complete(child{place: e.place, node: e.node, result: result, took: took, own: took, names: names})
	p.settle()
}

// setSpeed changes how fast the peer computes.
func (p *peer) setSpeed(speed float64) {
	p.cores.halt()
	p.speed = speed
	for i := range p.engine.workers {
		if p.engine.workers[i].runs() {
			p.run(i)
		}
	}
}

// stall freezes the peer for a while: it computes nothing, hears nothing, says nothing; messages wait.
func (p *peer) stall(until int64) {
	p.cores.halt()
	p.stalledUntil = max(p.stalledUntil, until)
	for i := range p.engine.workers {
		if p.engine.workers[i].runs() {
			p.run(i)
		}
	}
}

// rest takes a peer's cores from it, or gives them back when all pauses are over. What came home meanwhile its frames
// go on with only then.
func (w *harm) rest(p *peer, by int) {
	p.pauses += by
	if !p.alive {
		return
	}
	p.cores.goOn()
}

// charge makes the jobs of a busy peer pay for a message; an idle one has nothing better to do.
func (p *peer) charge(bytes int) {
	if p.engine.idle < len(p.engine.workers) {
		p.debt += int64(p.world.cfg.MessageCost) + int64(bytes)*int64(p.world.cfg.ByteCost)
	}
}

// keep adds a life that ends to the books.
func (u *usage) keep(p *peer) {
	u.books.add(p.engine.books)
	addStats(&u.stats, p.core.Stats())
}
