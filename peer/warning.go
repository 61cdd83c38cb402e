package peer

import (
	"context"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/switchboard"
)

// A warning is what has to be known at once, and gossip may lose: the proof of a lie by whoever has found it out, and
// the word of whoever may say so that a peer is out. It goes straight to each member that is connected, beside gossip,
// which brings it to the others; whoever does not answer is warned again, as meetings are tried again. It is a meeting
// at which nothing else is said.
const (
	warnProtocol = protocol.ID("/satin/warn/1")

	maxWarning = maxAccusation + host.MaxRevocation + 1<<10
)

func (x *meetings) heed() {
	x.board.Answer(warnProtocol, maxWarning, exchangeTime, func(from peer.ID, b []byte) (any, error) {
		if !x.warned.again(from, alarm.WarnEvery, alarm.WarnBurst, x.Now()) {
			return nil, errTooOften
		}
		var their meeting
		if err := wire.Value().Decode(b, &their); err != nil {
			return nil, err
		}
		if len(their.Out) > 0 {
			x.out.hear(their.Out[0], from, true)
		}
		if len(their.Lies) > 0 && !x.jury.hear(from, their.Lies[0]) {
			return nil, switchboard.ErrBusy // it is said again
		}
		return true, nil
	})
}

// warn tells all members that are connected, at the same time, or some that let this peer wait would keep it from the
// others. It does not block.
func (x *meetings) warn(m *meeting) {
	x.Spawn(func(ctx context.Context) {
		var list []peer.ID
		for _, c := range x.swarm.members.List() {
			if x.board.Connected(c.Peer) {
				list = append(list, c.Peer)
			}
		}
		tellEach(ctx, list, func(id peer.ID) bool {
			var heard bool
			err := x.board.Ask(ctx, id, warnProtocol, m, &heard, 1<<10, exchangeTime)
			return err == nil || !x.board.Connected(id)
		})
	})
}

// tellEach tells each of them something, if need be more than once, and waits for none to tell the others.
func tellEach(ctx context.Context, list []peer.ID, tell func(id peer.ID) bool) {
	var wg sync.WaitGroup
	for _, id := range list {
		wg.Go(func() { untilMet(ctx, func() bool { return tell(id) }) })
	}
	wg.Wait()
}
