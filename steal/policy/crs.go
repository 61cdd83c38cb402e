package policy

// ClusterAware is CRS, and with more than one credit CMRS.
//
// CRS (CRS paper, 2.2; programming model, 4.1.2): an idle peer first sends one steal request to a peer of
// another cluster and does not wait for it. While that is out it steals inside its own cluster, as RS does.
// The reply to the wide-area request puts its job into the queue whenever it comes. So the latency of the
// wide-area network is hidden behind local stealing, and at most one request of each peer is on it. The
// remote peer is drawn from all outside peers alike, so that machines in small clusters are not favoured
// (3.3). In a cluster of one there is nothing to hide behind, and CRS is RS.
//
// CMRS (3.5) lets a peer have several wide-area requests out, to different clusters. It does worse than CRS
// in all the paper's measurements: the first answer is usually enough, and the others spend scarce bandwidth
// and drain the clusters behind fast links faster still.
type ClusterAware struct {
	// Credits is how many wide-area requests a peer may have out, each to another cluster; 0 means 1.
	Credits int
}

// Name is "crs", or "cmrs" with several credits.
func (c ClusterAware) Name() string {
	if c.Credits > 1 {
		return "cmrs"
	}
	return "crs"
}

// Plan sends the wide-area request first and one local request for every idle worker.
func (c ClusterAware) Plan(v View, p *Plan) {
	if v.Idle() == 0 {
		return
	}
	_, wide := v.InFlight()
	if c.Credits <= 1 {
		if wide == 0 {
			if victim, ok := RandomRemote(v); ok {
				p.Steal(victim, 1, 0)
			}
		}
	} else {
		c.spendCredits(v, p, wide)
	}
	stealLocally(v, p)
}

// spendCredits sends wide-area requests to clusters that have none yet: each draw is over all outside peers,
// as in CRS, and one that hits a cluster with a request out is passed over.
func (c ClusterAware) spendCredits(v View, p *Plan, wide int) {
	busy := make(map[ClusterID]bool, c.Credits)
	for _, f := range v.Flights() {
		busy[f.Cluster] = true
	}
	for tries := 4 * c.Credits; tries > 0 && wide < c.Credits; tries-- {
		victim, ok := RandomRemote(v)
		if !ok {
			return
		}
		if m, _ := v.Members().Find(victim); !busy[m.Cluster] {
			busy[m.Cluster] = true
			p.Steal(victim, 1, 0)
			wide++
		}
	}
}

// Give gives one job to whoever asks.
func (ClusterAware) Give(View, Ask) int { return 1 }

// stealLocally keeps one request inside the cluster out for every idle worker: the synchronous half of CRS.
func stealLocally(v View, p *Plan) {
	local, _ := v.InFlight()
	for n := v.Idle() - local; n > 0; n-- {
		victim, ok := RandomLocal(v)
		if !ok {
			return
		}
		p.Steal(victim, 1, 0)
	}
}
