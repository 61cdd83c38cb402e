package runs

import (
	"fmt"
	"time"
)

// provision has the owner's command ask for machines, when a run of its own wants more peers than there are: the
// requests to a scheduler of the programming-model paper, 4.5, where it is not published how many are asked for, nor
// when. They are missing for Config.ProvisionAfter first, since members may be on their way; and as long again until
// the next request, since machines take time to come. Of one run no more than Config.Provision are asked for in all.
//
// Only the owner does, while it coordinates: it pays for them, and two that ask would pay twice. What runs under
// paper wants is what its coordinator has measured; under volunteers nobody is asked for, but the least number that
// its owner set.
func (x *musters) provision(r *run) {
	s := &r.rosters
	if !r.mine || s.provisioned >= x.cfg.Provision {
		return // and nobody is counted
	}
	now := x.counting(r)
	wanted := r.m.MinPeers
	if now != nil && r.m.Adapt == "paper" {
		wanted = max(wanted, now.Wanted)
	}
	there := 0
	for _, id := range x.everybody(r) {
		if now == nil || id == x.self || x.view.Computes(id) && !now.Excludes(id, x.view.Cluster(id)) {
			there++
		}
	}
	n := min(wanted-there, x.cfg.Provision-s.provisioned)
	switch {
	case now == nil || n <= 0:
		s.missing = time.Time{}
	case s.missing.IsZero():
		s.missing = x.now
	case x.now.Sub(s.missing) >= x.cfg.ProvisionAfter:
		s.missing = x.now
		s.provisioned += n
		text := fmt.Sprintf("%d machines asked for by the setting provision: %d peers are there, %d wanted", n, there, wanted)
		x.make(r, &Muster{Wanted: now.Wanted, Out: now.Out, Log: []RosterEntry{{At: x.now.Unix(), Text: text}}})
		x.order(Provision{Run: r.m.Run, Machines: n})
	}
}
