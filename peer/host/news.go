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
	ears    []*ear
	more    chan struct{}
}

// An ear is somebody who listens.
type ear struct {
	hear func(id peer.ID, up bool)
	told map[peer.ID]uint64 // the incarnation of those who were told to be there; of the goroutine that tells
}

func newNews(h *Host) *news { return &news{host: h, more: make(chan struct{}, 1)} }

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

// listen adds a listener, who is told of those who are there already, too.
func (n *news) listen(hear func(id peer.ID, up bool)) {
	n.mu.Lock()
	n.ears = append(n.ears, &ear{hear, map[peer.ID]uint64{}})
	n.mu.Unlock()
	for _, id := range n.host.visitors.admitted() {
		n.tell(id) // whoever comes from now on is told of anyway
	}
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
	ears := n.ears
	n.mu.Unlock()
	said := n.host.visitors.get(id)
	for _, e := range ears {
		e.tell(id, said)
	}
	return true
}

// tell says what has changed about a peer since it was spoken of last; said is what it says of itself, nil if it is not
// there.
func (e *ear) tell(id peer.ID, said *hello) {
	was, wasUp := e.told[id]
	if wasUp && (said == nil || said.Incarnation != was) {
		delete(e.told, id)
		wasUp = false
		e.hear(id, false)
	}
	if said != nil && !wasUp {
		e.told[id] = said.Incarnation
		e.hear(id, true)
	}
}
