package sim

// An allotment is the cores of a peer that the run may use: all, but where it competes with others.
type allotment struct {
	of    *peer
	cores int
	since int64 // had is what it was then
	had   int64 // nanoseconds of cores that the run might use
}

// rests says whether the run has no core here.
func (a *allotment) rests() bool { return a.of.pauses > 0 || a.cores == 0 }

// free is how many of the cores have nothing to run.
func (a *allotment) free() int {
	if a.rests() {
		return 0
	}
	return a.cores - a.of.engine.running()
}

// running is how many workers have a job and a core.
func (g *engine) running() int { return len(g.workers) - g.idle - g.held }

// change says how many cores the run may use from now on. Real jobs are small and stop where they spawn, of which a
// modelled leaf stands for many: so leaves in excess stop at once, and go on before others begin.
func (a *allotment) change(cores int) {
	a.count()
	a.cores = cores
	g := &a.of.engine
	for i := range g.workers {
		if w := &g.workers[i]; w.runs() && g.running() > cores {
			a.of.pause(i)
			w.token++
			w.held = true
			g.held++
		}
	}
	a.goOn()
}

// halt books what all workers have done so far, if they are there.
func (a *allotment) halt() {
	p := a.of
	if !p.alive {
		return
	}
	for i := range p.engine.workers {
		if p.engine.workers[i].runs() {
			p.pause(i)
		}
	}
}

// goOn has frames have what came home while they rested, if that is over.
func (a *allotment) goOn() {
	p := a.of
	if !a.rests() {
		came := p.cameHome
		p.cameHome = nil
		for i := range came {
			p.deliver(&came[i])
		}
	}
	p.settle()
}

// resume has workers go on that have been stopped.
func (a *allotment) resume() {
	g := &a.of.engine
	for i := 0; i < len(g.workers) && g.held > 0 && a.free() > 0; i++ {
		if w := &g.workers[i]; w.held {
			w.held = false
			g.held--
			a.of.run(i)
		}
	}
}

// count counts the time of the cores that the run might use.
func (a *allotment) count() int64 {
	now := a.of.world.now
	a.had += (now - a.since) * int64(a.cores)
	a.since = now
	return a.had
}

// dry says whether the run has no work here at the moment, as package peer does.
func (a *allotment) dry() bool {
	l := a.of.load()
	return a.of.driver.Held() == 0 && a.of.driver.Given() == 0 && l.Queued == 0 && l.Idle == l.Workers
}
