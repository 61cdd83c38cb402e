package adapt

import "slices"

// cluster is one of a run's, as its members have measured it. None of several decides what is said of it, whatever it
// says: anybody may name any cluster as its own.
type cluster struct {
	id    ClusterID
	wides []float64
	rates []float64 // of those that have seen another cluster
	wide  float64   // inter-cluster overhead, the median
	rate  float64   // the second best bandwidth that was seen, or that of its only member
}

// clustersOf puts together what was measured, by cluster, in the order in which they are met.
func clustersOf(all []measured) (list []cluster) {
	index := map[ClusterID]int{}
	for i := range all {
		m := &all[i]
		k, known := index[m.Cluster]
		if !known {
			k = len(list)
			index[m.Cluster] = k
			list = append(list, cluster{id: m.Cluster})
		}
		c := &list[k]
		if c.wides = append(c.wides, m.wide); m.rate > 0 {
			c.rates = append(c.rates, m.rate)
		}
	}
	for k := range list {
		c := &list[k]
		c.wide, _ = middle(c.wides)
		slices.Sort(c.rates)
		switch n := len(c.rates); {
		case n > 1:
			c.rate = c.rates[n-2]
		case n == 1 && len(c.wides) == 1:
			c.rate = c.rates[0]
		}
	}
	return list
}

// judgeLinks finds the cluster with the most inter-cluster overhead, among those that have to go if there are any:
// whoever waits most and stays, as it says that its link is good, does not keep others in. The master's
// does not; its link may still be the bad one, and then everybody else's overhead is alike and nobody stands out.
// Nor does a cluster stand out that waits much but has seen as fast a link as the others: in a program of phases
// whoever has come to the end of its part waits, and in a cluster of two that is soon a large share. Nor does one of
// which half of the members or more have not sampled, lest the first to come speaks for those that follow.
func (c *Core) judgeLinks(s *Situation, all []measured) (worst ClusterID, out bool) {
	list, home := clustersOf(all), clusterOf(s)
	bad, most := map[ClusterID]bool{}, -1.0
	for i := range list {
		k := &list[i]
		var others []float64
		for j := range list {
			if j != i {
				others = append(others, list[j].wide)
			}
		}
		if k.id == home || len(others) == 0 || 2*len(k.wides) <= peersOf(s.Members, k.id) {
			continue
		}
		slow, known := slowLink(&c.cfg, list, i)
		low, high := middle(others)
		standsOut := (slow || !known) && k.wide > c.cfg.LinkFactor*(low+high)/2
		bad[k.id] = k.wide > c.cfg.BadLink && standsOut
		goes := k.wide > c.cfg.WorstLink || bad[k.id] && c.bad[k.id]
		if goes && !out || goes == out && k.wide > most {
			worst, most, out = k.id, k.wide, goes
		}
	}
	if most <= 0 {
		worst = "" // nobody waits for the network
	}
	if c.bad = bad; out && len(s.Members)-peersOf(s.Members, worst) < max(c.cfg.Min, 1) {
		out = false
	}
	return worst, out
}

// slowLink says whether the bandwidth of a cluster is clearly less than that of the others, and whether that is known.
func slowLink(cfg *Config, list []cluster, i int) (slow, known bool) {
	var others []float64
	for j := range list {
		if j != i && list[j].rate > 0 {
			others = append(others, list[j].rate)
		}
	}
	known = list[i].rate > 0 && len(others) > 0
	usual, _ := middle(others)
	return known && cfg.LinkFactor*list[i].rate < usual, known
}

func peersOf(members []Member, id ClusterID) (n int) {
	for _, m := range members {
		if m.Cluster == id {
			n++
		}
	}
	return n
}

// exclude lets a whole cluster go, "since bandwidth on the link between this cluster and the Internet backbone may
// be insufficient for the application". A peer that is alone there goes by its own name: else it would be back as soon
// as it says that it is in another, and have the others' turn each time.
func (c *Core) exclude(s *Situation, id ClusterID, all []measured, d *Decision) {
	change := Change{Kind: ClusterExcluded, Cluster: id}
	for _, k := range clustersOf(all) {
		if k.id == id {
			change.Share, change.Rate = k.wide, k.rate
		}
	}
	if peersOf(s.Members, id) == 1 {
		i := slices.IndexFunc(s.Members, func(m Member) bool { return m.Cluster == id })
		change.Peer = s.Members[i].Peer
	}
	c.keepOut(Member{Peer: change.Peer, Cluster: id}, d).Rate = change.Rate
	d.Changes = append(d.Changes, change)
	delete(c.bad, id)
	c.changed = true
}
