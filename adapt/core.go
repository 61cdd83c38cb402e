package adapt

import (
	"cmp"
	"math"
	"slices"
)

// A Core is the coordinator of one run. It has no clock: the master calls Step once a period.
type Core struct {
	cfg Config
	// The roster has what others must know. What follows a next coordinator finds out within a period, does without, as
	// without the trial, or assumes: see succeed.
	bad      map[ClusterID]bool // whose link stood out in the last period
	harmful  map[PeerID]bool    // who did harm in the last period
	trial    *trial             // what the last release was for
	mistakes int                // releases that were taken back
	trust    int                // periods for which they keep everybody else
	patience int                // periods that a release keeps more from being asked for
	hold     int                // of those, the ones that are left
	calm     int                // periods since the last release
	periods  int                // steps of this core
	changed  bool               // the last step let somebody go: the samples of the next period are of both times
}

// New makes a core. The error wraps ErrConfig.
func New(cfg Config) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Core{cfg: cfg, bad: map[ClusterID]bool{}, patience: cfg.Patience}, nil
}

// A Situation is what a coordinator knows at the end of a period.
type Situation struct {
	Roster  Roster
	Master  PeerID
	Members []Member
	Samples []Sample
	// Links are the bandwidths that excluded clusters are known to have at present, in bytes a second; 0, or none:
	// nobody knows.
	Links map[ClusterID]float64
}

// A Decision is the roster from now on: the same as before, number included, if there are no changes.
type Decision struct {
	Roster     Roster
	Changes    []Change
	Efficiency float64 // weighted average; 0 if too few have sampled
	Sampled    int     // members whose samples counted
}

// Step decides. It keeps nothing of what it is given.
func (c *Core) Step(s *Situation) Decision {
	d := Decision{Roster: s.Roster.clone()}
	c.age(s, &d)
	all := measure(&c.cfg, s.Members, s.Samples)
	d.Sampled = len(all)
	if 2*len(all) < len(s.Members) || len(all) == 0 {
		return c.close(&d)
	}
	if d.Efficiency = efficiency(all); c.cfg.Mode == Off {
		return c.close(&d)
	}
	if c.changed { // the samples are of the time before and after
		c.changed = false
		return c.close(&d)
	}
	worst, out := c.judgeLinks(s, all)
	judge(&c.cfg, all, worst)
	var harm map[PeerID]bool
	if c.cfg.Mode == Volunteers {
		harm = c.judgeHarm(s, all)
		if c.takeBack(all, &d); len(d.Changes) > 0 || c.trust > 0 {
			return c.close(&d)
		}
	}
	switch {
	case out:
		c.exclude(s, worst, all, &d)
	case d.Efficiency < c.cfg.EMin:
		c.release(s, all, harm, &d)
	case d.Efficiency > c.cfg.EMax && c.cfg.Mode == Paper:
		c.grow(len(s.Members), &d)
	}
	if c.cfg.Mode == Volunteers {
		c.try(all, &d)
	}
	return c.close(&d)
}

// age lets time pass for those that are out, and readmits.
func (c *Core) age(s *Situation, d *Decision) {
	c.hold, c.trust = max(c.hold-1, 0), max(c.trust-1, 0)
	if c.periods == 0 {
		c.succeed(&s.Roster)
	}
	c.periods++
	if c.calm++; c.calm >= c.cfg.PatienceMost {
		c.patience = c.cfg.Patience
	}
	kept, home := d.Roster.Out[:0], clusterOf(s)
	for _, x := range d.Roster.Out {
		now := s.Links[x.Cluster]
		known := now > 0 && x.Rate > 0
		switch {
		case x.Left == 0 || c.cfg.Mode == Off:
		case x.Peer == "" && x.Cluster == home: // the master has moved there
			x.Left = 0
			d.Changes = append(d.Changes, Change{Kind: ClusterReadmitted, Cluster: home})
		case known && now >= c.enough(&x):
			x.Left = 0
			d.Changes = append(d.Changes, Change{Kind: ClusterReadmitted, Cluster: x.Cluster, Peer: x.Peer, Rate: now})
		case known && c.periods%c.cfg.SlowerBack != 1%c.cfg.SlowerBack: // the first of each master counts
		default:
			if x.Left--; x.Left > 0 {
				break
			}
			kind := PeerReadmitted
			if x.Peer == "" {
				kind = ClusterReadmitted
			}
			d.Changes = append(d.Changes, Change{Kind: kind, Peer: x.Peer, Cluster: x.Cluster})
		}
		kept = append(kept, x)
	}
	d.Roster.Out = kept
}

// succeed has a core go on with what others have decided. It cannot know when somebody was released last, nor which
// releases were taken back, so it assumes what makes it change least: the latest time, the longest patience, and that
// all were mistakes, the last of which was found out just now if somebody has come back.
func (c *Core) succeed(r *Roster) {
	for i := range r.Out {
		x := &r.Out[i]
		away := c.cfg.Absence << min(max(x.Times-1, 0), mostDoublings)
		if c.mistakes = max(c.mistakes, x.Times); x.Left == 0 {
			c.trust = max(c.trust, away)
		}
		if since := max(away-x.Left, 0); x.Peer != "" && since < c.cfg.PatienceMost {
			c.hold, c.patience = max(c.hold, c.cfg.PatienceMost-since), c.cfg.PatienceMost
		}
	}
}

// enough is the bandwidth that brings an excluded cluster back. Whoever came back and had to go again needs twice as
// much each time: links may look well as long as nothing goes over them.
func (c *Core) enough(x *Exclusion) float64 {
	return c.cfg.ReadmitFactor * x.Rate * float64(int(1)<<min(max(x.Times-1, 0), mostDoublings))
}

// mostDoublings bounds how often it doubles what is to be waited for, or to be had.
const mostDoublings = 10

// close numbers a decision.
func (c *Core) close(d *Decision) Decision {
	d.Roster.order()
	if len(d.Changes) > 0 {
		d.Roster.Number++
	}
	return *d
}

// grow asks for "the higher the weighted average efficiency, the more processors": as many as would bring it to
// EMax if there was no more work than now.
func (c *Core) grow(n int, d *Decision) {
	if c.hold > 0 {
		return
	}
	wanted := min(n+whole(float64(n)*(d.Efficiency/c.cfg.EMax-1)), whole(c.cfg.MostGrowth*float64(n)))
	wanted = max(wanted, c.cfg.Min)
	if c.cfg.Max > 0 {
		wanted = min(wanted, c.cfg.Max)
	}
	if wanted <= max(n, d.Roster.Wanted) {
		return // as many are wanted already, and some are on their way
	}
	d.Roster.Wanted = wanted
	d.Changes = append(d.Changes, Change{Kind: AskedForMore, Number: wanted - n, Share: d.Efficiency})
}

// whole gives the whole peers in a number of them, which rounding may have made a little too small.
func whole(x float64) int { return int(math.Floor(x + 1e-9)) }

// release lets the worst go: "the lower the efficiency, the more nodes are removed".
func (c *Core) release(s *Situation, all []measured, harm map[PeerID]bool, d *Decision) {
	n := len(s.Members)
	most := min(whole(c.cfg.MostRelease*float64(n)), n-max(c.cfg.Min, 1))
	count := min(whole(float64(n)*(1-d.Efficiency/c.cfg.EMin)), most)
	worst := slices.Clone(all)
	slices.SortStableFunc(worst, func(a, b measured) int { return cmp.Compare(b.badness, a.badness) })
	gone := 0
	for i := range worst {
		m := &worst[i]
		if gone >= count {
			break
		}
		if m.Peer == s.Master || c.cfg.Mode == Volunteers && !harm[m.Peer] {
			continue
		}
		gone++
		c.sendAway(m, d)
	}
	if gone == 0 {
		return
	}
	if c.cfg.Mode == Paper {
		d.Roster.Wanted = n - gone
	}
	c.changed, c.calm, c.hold = true, 0, c.patience+1 // this period's samples do not count
	c.patience = min(2*c.patience, c.cfg.PatienceMost)
}

// sendAway puts a peer on the list, for twice as long as the last time.
func (c *Core) sendAway(m *measured, d *Decision) {
	c.keepOut(m.Member, d).Rate = 0
	d.Changes = append(d.Changes, Change{Kind: PeerReleased, Peer: m.Peer, Cluster: m.Cluster, Share: d.Efficiency,
		Speed: m.speed, Wide: m.wide})
}

// keepOut puts a peer, or a cluster, on the list, for twice as long as the last time.
func (c *Core) keepOut(m Member, d *Decision) *Exclusion {
	i := d.Roster.find(m)
	if i < 0 {
		i = len(d.Roster.Out)
		d.Roster.Out = append(d.Roster.Out, Exclusion{Peer: m.Peer, Cluster: m.Cluster})
	}
	x := &d.Roster.Out[i]
	x.Cluster, x.Left = m.Cluster, c.cfg.Absence<<min(x.Times, mostDoublings)
	x.Times++
	return x
}

// clusterOf is the master's cluster.
func clusterOf(s *Situation) ClusterID {
	for _, m := range s.Members {
		if m.Peer == s.Master {
			return m.Cluster
		}
	}
	return ""
}
