package peer

import (
	"context"

	"github.com/satin-peer/satin/peer/control"
)

// noCheckpoints is why nothing can be suspended or resumed.
func noCheckpoints() error {
	return control.Errorf(control.ErrRefused, "this peer keeps no checkpoints: there would be nothing to resume")
}

// Suspend ends a run everywhere until it is resumed: see control.Daemon.
func (p *Peer) Suspend(_ context.Context, name string) error {
	if _, err := p.ownRun(name); err != nil {
		return err
	}
	return noCheckpoints()
}

// ResumeRun takes a run up again: see control.Daemon.
func (p *Peer) ResumeRun(context.Context, control.Resumption) (control.RunInfo, error) {
	return control.RunInfo{}, noCheckpoints()
}
