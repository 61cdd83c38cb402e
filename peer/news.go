package peer

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// The news of a run, who holds which orphan and who is master, go to everybody by gossip. Members that take
// no part in the run pass them on unread.

// maxNews bounds encoded news, in bytes; what does not fit is told in several parts.
const maxNews = 32 << 10

// tellNews tells everybody what a session has to say. It does not block.
func (v *voice) tellNews(n *steal.News) {
	for _, part := range splitNews(n, maxNews) {
		v.tell(gossip.KindNews, encode(part))
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
		return nil, fmt.Errorf("news of %s from %s", plain.Clip(string(n.From.Peer)), author)
	}
	return n, n.Validate()
}

// hearNews gives news to the session of their run. If it is one that this peer does not know, it is fetched.
func (t *conductor) hearNews(author peer.ID, b []byte) {
	n, err := readNews(author, b)
	if err != nil {
		return // checked before
	}
	if s := t.sessions.of(n.Run); s != nil {
		s.Hear(n)
		if n.Master != nil && !n.Master.Waiting {
			t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Led(now, n.Run, peerName(author)) })
		}
		return
	}
	t.announced(n.Run, author)
}
