package peer

import (
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// Speeds can be compared only if all have timed the same. So a run that adapts has one yardstick: the small instance
// that its application names, or else a job that has run where the root is, whose function and argument travel with
// what that peer tells of its part. A next holder of the root keeps to it. What a false one could do is bounded where
// it is timed, as it is for any job: by the child process, and by the share of the time that there is for it.

// A yardstick is a job as it travels.
type yardstick struct {
	Function string `cbor:"1,keyasint"`
	Arg      []byte `cbor:"2,keyasint,omitempty"`
}

func (y *yardstick) sound() bool {
	return y == nil || y.Function != "" && len(y.Function) <= port.MaxYardstickName && len(y.Arg) <= port.MaxYardstick
}

// gaugeBy has this peer time a yardstick from now on. The conductor's mutex is held.
func (r *part) gaugeBy(function string, arg []byte) {
	id := job.Identify(function, arg)
	if r.final != nil || r.yardstick != nil && id == r.measures {
		return
	}
	r.yardstick, r.measures = &yardstick{function, arg}, id
	r.session.Measure(&steal.Job{Function: function, Arg: arg})
}

// findYardstick sees to it that a run that adapts has one, if this peer can name it: leaf is a job that has run here.
// It gives the one to tell the others of. The conductor's mutex is held.
func (r *part) findYardstick(master bool, leaf *steal.Job) *yardstick {
	m := r.manifest
	switch own := compute.Small(m.Entry); {
	case m.Adapt == "" || m.Entry == module.Func:
		return nil
	case own:
		r.gaugeBy(m.Entry, nil)
		return nil // each knows it
	case !master:
		return nil
	case r.yardstick == nil && leaf != nil:
		r.gaugeBy(leaf.Function, leaf.Arg)
	}
	return r.yardstick
}

// hearYardstick takes in what the holder of the root has named, and nobody else. The conductor's mutex is held.
func (r *part) hearYardstick(from peer.ID, y *yardstick) {
	if y == nil || r.final != nil || r.manifest.Adapt == "" || compute.Small(r.manifest.Entry) {
		return
	}
	if s := r.session.Stats(); !s.Master && from == r.master(&s) {
		r.gaugeBy(y.Function, y.Arg)
	}
}

// yardstickOf is what the holder of the root measures itself by.
func yardstickOf(master peer.ID, all []told) job.Identity {
	for i := range all {
		if all[i].peer == master {
			return all[i].speed.Yardstick
		}
	}
	return job.Identity{}
}

// A gauged speed is what one peer has measured last, and how much of the processors it had in that period.
type gauged struct {
	runs  uint64
	share float64
}

// speedOf is how fast a core of a peer was in a period, in yardsticks a second; 0: it has not measured that. What has
// been measured before the period is scaled by what its threads have had of the processors since, then and now: a
// machine whose jobs wait for something else has as little of them as before, one that others use has less.
func (g *gauge) speedOf(x *told, grown *report.RunStats) float64 {
	if x.speed.Took <= 0 {
		return 0
	}
	share := 0.0
	if held := grown.HeldTime.Seconds(); held >= leastHeld*grown.Total().Seconds() && held > 0 {
		share = grown.CPUTime.Seconds() / held
	}
	speed := 1 / x.speed.Took.Seconds()
	then, known := g.then[x.peer]
	if !known || then.runs != x.speed.Runs || then.share <= 0 {
		if g.then == nil {
			g.then = map[peer.ID]gauged{}
		}
		g.then[x.peer] = gauged{x.speed.Runs, share}
		return speed
	}
	if share > 0 {
		speed *= share / then.share
	}
	return speed
}

// leastHeld is the part of a period in which threads must have run that their share of the processors says anything.
const leastHeld = 0.05
