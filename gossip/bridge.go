package gossip

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A crossing is an envelope on its way from a topic of one class to one of the other.
type crossing struct {
	to     class
	author peer.ID
	seq    uint64
	data   []byte
	due    time.Time
	second bool // only if the first gateway has not
}

// cross has an envelope repeated in the other class of topics if this peer is a gateway.
func (g *Gossip) cross(from class, data []byte, r *received) {
	if onlyBeacons(r.Items) {
		return
	}
	g.mu.Lock()
	s := g.standing
	g.mu.Unlock()
	if s == standingNone {
		return
	}
	c := crossing{to: near, author: r.author, seq: r.Seq, data: data, due: time.Now()}
	if from == near {
		c.to = wide
	}
	if s == standingSecond {
		c.second = true
		c.due = c.due.Add(g.cfg.StandbyAfter)
	}
	select {
	case g.bridge <- c:
	default: // the queue is full
	}
}

// bridgeLoop repeats envelopes when they are due. An envelope cannot go round: it has the same identity
// whoever repeats it, and each class of topics takes it once.
func (g *Gossip) bridgeLoop() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case c := <-g.bridge:
			if wait := time.Until(c.due); wait > 0 {
				timer.Reset(wait)
				select {
				case <-g.ctx.Done():
					return
				case <-timer.C:
				}
			}
			g.repeat(c)
		}
	}
}

func (g *Gossip) repeat(c crossing) {
	room := g.roomFor(c.to)
	if room == nil || !g.authors.pass(c.author, c.to, c.seq) {
		return
	}
	if err := room.topic.Publish(g.ctx, c.data); err == nil && c.second {
		g.count.stoodIn.Add(1)
	}
}

// roomFor returns the topic of a class in which to repeat, or nil if this peer is in none.
func (g *Gossip) roomFor(c class) *topicRoom {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c == wide {
		return g.rooms[g.names.wide]
	}
	if g.flat {
		return nil
	}
	return g.rooms[g.names.near(g.members.Cluster)]
}
