package peer

import (
	"cmp"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/runs"
)

// A run's owner says in its manifest how it is to adapt, and whoever coordinates it keeps to that.

// parseAdapt is what a manifest says of how a run adapts.
func parseAdapt(sub *control.Submission) (string, error) {
	mode, err := adapt.ParseMode(cmp.Or(sub.Adapt, adapt.Volunteers.String()))
	if err == nil {
		cfg := adaptConfig(mode, sub.MinPeers, sub.MaxPeers, time.Second)
		err = cfg.Validate()
	}
	verified := sub.Verify != "" && sub.Verify != "members"
	switch {
	case err != nil:
		return "", control.Errorf(control.ErrBadInput, "%v", err)
	case mode == adapt.Off && sub.MinPeers+sub.MaxPeers > 0:
		return "", control.Errorf(control.ErrBadInput, "a number of peers cannot be kept to by a run that does not adapt")
	case verified && mode != adapt.Off && (sub.Adapt != "" || sub.MinPeers+sub.MaxPeers > 0):
		return "", control.Errorf(control.ErrBadInput, "--adapt and --peers cannot go with --verify %s: a run that is "+
			"verified does not adapt, as its owner divides all others among those who check each other", sub.Verify)
	case mode == adapt.Off || verified:
		return "", nil
	}
	return mode.String(), nil
}

// adaptConfig has the constants for a run; least and most are its numbers of peers, 0 if it has none.
func adaptConfig(mode adapt.Mode, least, most int, period time.Duration) adapt.Config {
	cfg := adapt.Default(mode)
	cfg.Period, cfg.Min, cfg.Max = max(period, time.Second), max(least, 1), most
	return cfg
}

// rosterFor is a roster as package adapt has it, and outOf what it excludes.
func rosterFor(r *runs.Roster) (a adapt.Roster) {
	if r == nil {
		return a
	}
	a.Number, a.Wanted = r.Number, r.Wanted
	for _, o := range r.Out {
		a.Out = append(a.Out, adapt.Exclusion{Cluster: adapt.ClusterID(o.Cluster), Peer: adapt.PeerID(o.Peer),
			Rate: o.Rate, Left: o.Left, Times: o.Times})
	}
	return a
}

func outOf(a *adapt.Roster) (out []runs.Outsider) {
	for _, x := range a.Out {
		out = append(out, runs.Outsider{Cluster: string(x.Cluster), Peer: runs.PeerID(x.Peer), Rate: x.Rate,
			Left: x.Left, Times: x.Times})
	}
	return out
}
