package adapt

// Nobody knows beforehand whether a run is better off without somebody, and of volunteers it must not be worse off. So
// whoever goes must have done harm in two periods in a row, and every release is on trial: if what the others do
// afterwards is clearly less than all did before, it is taken back, and nobody goes for a while.

// A trial is what a release has to be worth.
type trial struct {
	work float64 // done in the period before it
	was  map[PeerID]measured
	out  []Member // who went; a cluster if there is no peer
}

// workOf is what was done in a period: the cores' time that was useful, by their speeds. Only those count that were
// there before, in the same cluster, with the cores and the speed that they had, so that only what they have done makes
// a difference.
func (t *trial) workOf(all []measured) (sum float64) {
	for i := range all {
		if m, was := &all[i], t.was[all[i].Peer]; m.Cluster == was.Cluster {
			sum += float64(min(m.cores, was.cores) * was.speed * (1 - m.overhead))
		}
	}
	return sum
}

// judgeHarm says who has done harm in two periods in a row: peers that are far too slow, and those that wait for a
// network between clusters that is known to be slow there. Whoever waits for as fast a network as the others have waits
// for work, and takes nothing from anybody.
func (c *Core) judgeHarm(s *Situation, all []measured) map[PeerID]bool {
	tooSlow, home := slowest(&c.cfg, all), clusterOf(s)
	behind := map[ClusterID]bool{}
	list := clustersOf(all)
	for i := range list {
		slow, _ := slowLink(&c.cfg, list, i)
		behind[list[i].id] = slow && list[i].id != home
	}
	now, twice := map[PeerID]bool{}, map[PeerID]bool{}
	for i := range all {
		m := &all[i]
		if m.known && m.speed < tooSlow || m.wide > c.cfg.BadLink && behind[m.Cluster] {
			now[m.Peer] = true
			twice[m.Peer] = c.harmful[m.Peer]
		}
	}
	c.harmful = now
	return twice
}

// try puts what a decision has let go on trial, if it has.
func (c *Core) try(all []measured, d *Decision) {
	t := &trial{was: map[PeerID]measured{}}
	for _, x := range d.Changes {
		if x.Kind == PeerReleased || x.Kind == ClusterExcluded {
			t.out = append(t.out, Member{Peer: x.Peer, Cluster: x.Cluster})
		}
	}
	if len(t.out) == 0 {
		return
	}
	for i := range all {
		t.was[all[i].Peer] = all[i]
	}
	t.work, c.trial = t.workOf(all), t
}

// takeBack ends the trial of the last release.
func (c *Core) takeBack(all []measured, d *Decision) {
	t := c.trial
	if c.trial = nil; t == nil {
		return
	}
	work := t.workOf(all)
	if work >= (1-c.cfg.MostLoss)*t.work {
		return
	}
	for _, m := range t.out {
		i := d.Roster.find(m)
		if i < 0 || d.Roster.Out[i].Left == 0 {
			continue
		}
		d.Roster.Out[i].Left = 0
		kind := PeerReadmitted
		if m.Peer == "" {
			kind = ClusterReadmitted
		}
		d.Changes = append(d.Changes, Change{Kind: kind, Peer: m.Peer, Cluster: m.Cluster, Share: work / t.work})
	}
	c.trust = c.cfg.Absence << min(c.mistakes, mostDoublings)
	c.mistakes++
	c.changed = true
}
