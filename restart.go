package satin

// A Salvager is an Outside that knows of outcomes which restarted jobs need not compute again, because some peer has
// them or is at work on them. A job is restarted if it was given to SubmitRestarted or PutBackRestarted, or descends
// from one that was.
type Salvager interface {
	Outside
	// Salvage says whether there is an outcome of the job at exactly that path (hit), and whether there are any of jobs
	// strictly below it (below). It is asked by whoever is about to begin a restarted job, or to give it away: from many
	// goroutines at a time, often, so it must be quick and take no locks. The path must not be kept. Whenever its answers
	// change, somebody is to call Rewatch.
	Salvage(path Path) (hit, below bool)
	// Found brings a job for which Salvage said hit. It is outside now as though Take had taken it, and ends by Complete,
	// Fail, PutBack, PutBackRestarted or Dropped. Whoever put it back gets it by Found never again. Found is called by a
	// worker or in a call of Take, without locks; it must neither block nor call back into the Pool. Dropped for the
	// same job comes later, never before.
	Found(*Taken)
}

// SubmitRestarted is Submit of a job on which somebody may have worked before: a Salvager is asked before its descendants
// begin.
func (p *Pool) SubmitRestarted(id JobID, fn string, arg any, ended func(result any, err error)) (*Guest, error) {
	return p.submit(&passport{id: id, restarted: true}, fn, arg, ended)
}

// PutBackRestarted is PutBack of a job on which somebody may have worked meanwhile: its thief was lost. A Salvager is asked
// before its descendants begin, and before the job itself begins or leaves, unless it was the one who got it by Found.
func (t *Taken) PutBackRestarted() bool { return t.putBack(true) }

// Rewatch says that the Salvager's answers have changed. Workers ask again, at their next Spawn or Get, whether anything is
// below the restarted jobs that they run; from then on, before each child begins. A worker that waits does so when it
// goes on.
func (p *Pool) Rewatch() {
	p.watches.Add(1)
	p.callAll()
}

// restarted says that r came in, or back, as a restarted job.
func (r *record) restarted() bool { return r.out != nil && r.out.restarted }
