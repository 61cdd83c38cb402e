package peer

import (
	"cmp"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/peer/control"
)

// A run's owner says in its manifest how it is to adapt, and whoever coordinates it keeps to that.

// parseAdapt is what a manifest says of how a run adapts.
func parseAdapt(sub *control.Submission) (string, error) {
	mode, err := adapt.ParseMode(cmp.Or(sub.Adapt, adapt.Volunteers.String()))
	if err == nil {
		cfg := adaptConfig(mode, sub.MinPeers, sub.MaxPeers)
		err = cfg.Validate()
	}
	switch {
	case err != nil:
		return "", control.Errorf(control.ErrBadInput, "%v", err)
	case mode == adapt.Off && sub.MinPeers+sub.MaxPeers > 0:
		return "", control.Errorf(control.ErrBadInput, "a number of peers cannot be kept to by a run that does not adapt")
	case mode == adapt.Off || sub.Verify != "" && sub.Verify != "members":
		return "", nil
	}
	return mode.String(), nil
}

// adaptConfig has the constants for a run; least and most are its numbers of peers, 0 if it has none.
func adaptConfig(mode adapt.Mode, least, most int) adapt.Config {
	cfg := adapt.Default(mode)
	cfg.Period, cfg.Min, cfg.Max = gaugeEvery, max(least, 1), most
	return cfg
}
