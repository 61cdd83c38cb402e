package peer

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// The news of a run, who holds which orphan and who is master, go to everybody by gossip. Members that take
// no part in the run pass them on unread.

// maxNews bounds encoded news, in bytes; what does not fit is told in several parts.
const maxNews = 32 << 10

// tellNews tells everybody what a session has to say. It does not block.
func (p *Peer) tellNews(n *steal.News) {
	for _, part := range splitNews(n, maxNews) {
		p.publish(gossip.KindNews, encode(part))
	}
}

// splitNews makes several of news that are too long. A tuple that is too long by itself is left out: its job
// will be computed again.
func splitNews(n *steal.News, most int) []*steal.News {
	if n.Size() <= most {
		return []*steal.News{n}
	}
	if len(n.Tuples) <= 1 {
		if n.Master == nil {
			return nil
		}
		return []*steal.News{{Run: n.Run, From: n.From, Master: n.Master}}
	}
	half := len(n.Tuples) / 2
	left := &steal.News{Run: n.Run, From: n.From, Master: n.Master, Tuples: n.Tuples[:half]}
	right := &steal.News{Run: n.Run, From: n.From, Tuples: n.Tuples[half:]}
	return append(splitNews(left, most), splitNews(right, most)...)
}

// checkNews accepts news of their author.
func checkNews(author peer.ID, b []byte) error {
	_, err := readNews(author, b)
	return err
}

func readNews(author peer.ID, b []byte) (*steal.News, error) {
	if len(b) > maxNews {
		return nil, fmt.Errorf("news of %d bytes, at most %d are accepted", len(b), maxNews)
	}
	n := &steal.News{}
	if err := wire.Control().Decode(b, n); err != nil {
		return nil, err
	}
	if n.From.Peer != steal.PeerID(author.String()) {
		return nil, fmt.Errorf("news of %s from %s", clip(string(n.From.Peer)), author)
	}
	return n, n.Validate()
}

// hearNews gives news to the session of their run. If it is one that this peer does not know, it is fetched.
func (p *Peer) hearNews(author peer.ID, b []byte) {
	n, err := readNews(author, b)
	if err != nil {
		return // checked before
	}
	if s := p.runs.sessionOf(n.Run); s != nil {
		s.Hear(n)
		if n.Master != nil {
			p.runs.heardMaster(n.Run, author)
		}
		return
	}
	p.runs.announced(n.Run, author)
}

// heardMaster notes who holds a run's root job, for people: package steal has its own account.
func (t *conductor) heardMaster(run job.RunID, id peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.parts[run]; r != nil {
		r.master, r.masterHeard = id, t.now()
	}
}

// masterOf is who holds the root job, as far as this peer knows; "" if nobody was heard of lately. The
// conductor's mutex is held.
func (p *Peer) masterOf(i *runs.Info, r *part, now time.Time) string {
	switch {
	case i.Answered != nil:
		return string(i.Answered.Author)
	case i.State.Ended() || r == nil:
		return string(i.Manifest.Owner)
	case r.session.Stats().Master:
		return p.host.ID().String()
	case i.Mine:
		return "" // it came back, and another peer, it does not know which, goes on
	case r.master != "" && now.Sub(r.masterHeard) < p.cfg.Steal.MasterLease:
		return r.master.String()
	case r.master == "" && now.Sub(r.began) < p.cfg.Steal.MasterLease:
		return string(i.Manifest.Owner)
	}
	return ""
}
