package peer

import (
	"context"

	"github.com/satin-peer/satin/peer/control"
)

// reach says whether peers outside the own network can connect to this one.
func (p *Peer) reach() control.Reachability { return control.Reachability{State: control.ReachUnknown} }

// Doctor looks at everything that may keep a peer from being useful: see control.Daemon.
func (p *Peer) Doctor(context.Context) ([]control.Finding, error) { return nil, nil }
