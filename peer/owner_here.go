package peer

import (
	"context"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/senses"
)

// A caretaker does what the owner of this machine says, by commands and by his preferences.
type caretaker struct {
	*base
	presence    *presence
	courtesy    *courtesy
	crew        *crew
	checkpoints *checkpoints
	network     *host.Host
}

// obey makes the parts that keep what the owner of the machine says.
func (p *Peer) obey() {
	p.caretaker = &caretaker{base: p.base, checkpoints: p.checkpoints, network: p.host}
	p.presence = &presence{left: make(chan struct{}), changed: func(paused, sated bool) {
		p.crew.arbiter.finish(sated)
		p.crew.arbiter.pause(paused)
		p.card.tellAnew()
	}}
	among := &crowd{sum: func() report.RunStats { return p.work.sum() }, times: senses.Cores}
	p.courtesy = &courtesy{base: p.base, most: p.cfg.Workers,
		look: func(w *preferences.Preferences, slow bool, before preferences.Seen) preferences.Seen {
			s := lookAtMachine(w, slow, before)
			among.look(&s, !p.courtesy.inForce().Crowded.IsZero())
			return s
		},
		allow: func(cores, rest int) { p.crew.arbiter.allow(cores, rest) },
		bound: p.caretaker.bound, told: func() { p.card.tellAnew() },
		verdict: preferences.Verdict{Cores: p.cfg.Workers}}
}

// Left is closed when the peer has left the swarm.
func (k *caretaker) Left() <-chan struct{} { return k.presence.left }

// Pause stops computing. A leaf that runs ends first. Jobs of others that wait here are kept, and may be stolen.
func (k *caretaker) Pause(_ context.Context, d time.Duration) error {
	if d < 0 {
		return control.Errorf(control.ErrBadInput, "a pause of %s: it must not be negative", d)
	}
	until := time.Time{}
	if d > 0 {
		until = k.now().Add(d)
	}
	k.presence.pause(true, until)
	return nil
}

// Finish stops computing when the jobs that are here are done.
func (k *caretaker) Finish(context.Context) error {
	k.presence.finish()
	return nil
}

// Resume ends a pause, or takes Finish back.
func (k *caretaker) Resume(context.Context) error {
	k.presence.pause(false, time.Time{})
	return nil
}

// Prefer changes what the owner of this machine allows, from the next second on at the latest. More cores than the peer
// was started with it has only after its next start.
func (k *caretaker) Prefer(allowed preferences.Preferences) { k.courtesy.prefer(allowed) }

// bound carries out what does not depend on the moment.
func (k *caretaker) bound(of *preferences.Preferences) {
	k.crew.jobMemory.Store(of.Memory)
	k.checkpoints.quota.allow(of.Disk)
	k.network.SetBandwidth(of.Up, of.Down)
}
