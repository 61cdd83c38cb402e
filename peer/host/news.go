package host

import (
	"context"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// news tells those who asked which peers have come and gone. It keeps names, not events, so it is bounded by
// the number of connections however slowly they listen: a peer that came and went in between is not mentioned.
type news struct {
	host *Host

	mu      sync.Mutex
	pending []peer.ID
	told    map[peer.ID]uint64 // the incarnation of those who were told to be there
	ears    []func(id peer.ID, up bool)
	more    chan struct{}
}

func newNews(h *Host) *news {
	return &news{host: h, told: map[peer.ID]uint64{}, more: make(chan struct{}, 1)}
}

// tell notes that something about a peer has changed.
func (n *news) tell(id peer.ID) {
	n.mu.Lock()
	for _, p := range n.pending {
		if p == id {
			n.mu.Unlock()
			return
		}
	}
	n.pending = append(n.pending, id)
	n.mu.Unlock()
	select {
	case n.more <- struct{}{}:
	default:
	}
}

func (n *news) listen(ear func(id peer.ID, up bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ears = append(n.ears, ear)
}

// run calls the listeners, one at a time, in one goroutine.
func (n *news) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.more:
		}
		for n.next(ctx) {
		}
	}
}

func (n *news) next(ctx context.Context) bool {
	n.mu.Lock()
	if len(n.pending) == 0 || ctx.Err() != nil {
		n.mu.Unlock()
		return false
	}
	id := n.pending[0]
	n.pending = n.pending[1:]
	was, wasUp := n.told[id]
	ears := n.ears
	n.mu.Unlock()

	said, _ := n.host.visitors.get(id)
	up := said != nil
	say := func(up bool) {
		for _, ear := range ears {
			ear(id, up)
		}
	}
	if wasUp && (!up || said.Incarnation != was) {
		say(false)
		wasUp = false
	}
	if up && !wasUp {
		say(true)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if delete(n.told, id); up {
		n.told[id] = said.Incarnation
	}
	return true
}
