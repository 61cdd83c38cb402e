package satin

// A Keeper is an Outside that wants the outcomes of long jobs which ran in this process, so that they need not be computed
// again if a peer is lost that waits for an ancestor of them.
type Keeper interface {
	Outside
	// Kept brings the outcome of a job that took about Config.KeepAfter or more on one core of this process and was spawned
	// here. It is called by the worker before the job's parent sees the result, which the parent may then change: encode
	// it at once, and do not block. It is not called for a job that panicked or was aborted, nor for one from Submit or Run,
	// whose outcome goes elsewhere anyway.
	Kept(id JobID, fn string, arg, result any, err error)
}

// Pulse asks the workers to look at the time that their pending jobs take, when they come to them; the jobs that have
// begun are not looked at any more. Between two calls only some jobs are looked at. To be called now and
// then by whoever has a Keeper, every 5 KeepAfter or so; without one it does nothing.
func (p *Pool) Pulse() {
	if p.keeper == nil {
		return
	}
	p.pulses.Add(1)
	p.callAll()
}
