package policy

// MasterWorker lets only the master give jobs away: the workers ask it and nobody else, one job for every
// idle worker. It is the baseline of the field (fault tolerance paper, 1): the master's link and its time
// bound what the swarm can do, and a job that a worker got is never shared.
type MasterWorker struct {
	Master PeerID
}

// Name is "master".
func (MasterWorker) Name() string { return "master" }

// Plan asks the master.
func (m MasterWorker) Plan(v View, p *Plan) {
	if idle := v.Idle(); idle > 0 && v.Usable(m.Master) {
		p.Steal(m.Master, idle, v.MaxPatience())
	}
}

// Give gives one job for each idle worker that the request speaks for, if this peer is the master.
func (m MasterWorker) Give(v View, a Ask) int {
	if v.Self() != m.Master {
		return 0
	}
	return a.Max
}
