package peer

import (
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
)

// A tab fetches the module of a run that it was given from the gateway's page, compiles it, and says that it is ready,
// or that it cannot. Until then it is no member of the run's session: what is silent for seconds would be given up.

// maxCannot bounds the runs that a tab is known to be unfit for.
const maxCannot = 1024

// isReady has a tab take part in the run that it was given, or never again.
func (g *guest) isReady(r *tab.Ready) {
	v := g.of
	v.mu.Lock()
	here := g.run == r.Run && g.run != (job.RunID{})
	switch {
	case !here:
	case r.Cannot == "":
		g.ready = true
	default:
		if g.cannot == nil || len(g.cannot) >= maxCannot {
			g.cannot = map[job.RunID]bool{}
		}
		g.cannot[r.Run] = true
		g.run, g.has, g.ready = job.RunID{}, nil, false
		v.Log.Info("a tab cannot run a module", "run", r.Run, "why", plain.Line(r.Cannot))
	}
	v.mu.Unlock()
	if here {
		v.changed()
		v.assign()
	}
}

// Module is the bytes of a module that a ticket gives work of: see gateway.House.
func (v *visitors) Module(ticket []byte, h [32]byte) ([]byte, error) {
	t, err := v.open(ticket)
	if err != nil {
		return nil, err
	}
	for _, r := range v.runs.inProgress() {
		m := r.manifest
		if m.Entry == module.Func && m.Version == string(h[:]) && (t.Run == (job.RunID{}) || t.Run == m.Run) {
			if bin := v.modules.lib.Bytes(module.Hash(h)); bin != nil {
				return bin, nil
			}
		}
	}
	return nil, errGuest("no run that the link is for has this module")
}
