package objects

import (
	"fmt"

	"github.com/satin-peer/satin/sharedobj"
)

// Some peers are guests: one peer each, their host, knows them, trades jobs with them and tells them what it hears.

func (w *World) addGuests() {
	hosts := len(w.peers)
	for i := range w.cfg.Guests {
		host := w.peers[w.rnd.IntN(hosts)]
		if host.liar {
			host = w.peers[0]
		}
		w.peers = append(w.peers, &peer{world: w, number: len(w.peers), cluster: host.cluster, host: host,
			id: sharedobj.PeerID(fmt.Sprintf("g%02d", i))})
	}
	if last := len(w.peers) - 1; w.liar() == nil {
		w.peers[last].liar = w.cfg.Liar
	}
}

// meets says whether two peers know each other.
func (p *peer) meets(q *peer) bool {
	return p == q || p.host == q || q.host == p || p.host == nil && q.host == nil
}

// relay has a host tell its guests what it has heard.
func (w *World) relay(host *peer, n *sharedobj.News) {
	for _, g := range w.peers {
		if g.host == host && g.up && !g.liar {
			g.absorb(g.core.Hear(w.now, host.id, n))
		}
	}
}
