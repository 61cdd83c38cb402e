package peer

import (
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/courtesy"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/presence"
)

// A caretaker does what the owner of this machine says, by commands and by his preferences.
type caretaker struct {
	*base.Base
	presence    *presence.Presence
	courtesy    *courtesy.Courtesy
	crew        *crew
	checkpoints *ledger.Store
	network     *host.Host
}

// obey makes the parts of a peer that keep what the owner of the machine says.
func obey(p *Peer) {
	k := &caretaker{Base: p.Base, checkpoints: p.checkpoints, network: p.host}
	p.caretaker = k
	k.presence = presence.New(p.cfg.Host.StateDir, func(paused, sated bool) {
		p.crew.arbiter.Finish(sated)
		p.crew.arbiter.Pause(paused)
	}, func() { p.card.tellAnew() })
	k.courtesy = courtesy.New(courtesy.Config{Log: p.Log, Now: p.Now, Cores: p.cfg.Workers,
		Used:  func() report.RunStats { return p.work.sum() },
		Allow: func(cores, rest int) { p.crew.arbiter.Allow(cores, rest) },
		Bound: k.bound, Told: func() { p.card.tellAnew() }})
}

// pause stops computing. A leaf that runs ends first. Jobs of others that wait here are kept, and may be stolen.
func (k *caretaker) pause(d time.Duration) error {
	if d < 0 {
		return control.Errorf(control.ErrBadInput, "a pause of %s: it must not be negative", d)
	}
	until := time.Time{}
	if d > 0 {
		until = k.Now().Add(d).Round(0) // by the clock on the wall: it goes on while the machine sleeps
	}
	return k.presence.Pause(true, until)
}

// bound carries out what does not depend on the moment.
func (k *caretaker) bound(of *preferences.Preferences) {
	k.crew.jobMemory.Store(of.Memory)
	k.checkpoints.Quota.Allow(of.Disk)
	k.network.SetBandwidth(of.Up, of.Down)
}

// Prefer changes what the owner of this machine allows, from the next second on at the latest. More cores than the peer
// was started with it has only after its next start.
func (p *Peer) Prefer(allowed preferences.Preferences) { p.caretaker.courtesy.Prefer(allowed) }
