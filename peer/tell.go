package peer

import (
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

// What this peer tells everybody, and what it makes of what others tell. Each handler has two halves: one
// that says whether the payload may be passed on, which must be quick and has no effect, and one that takes
// it in.

// openGossip begins to talk to the swarm that the host belongs to.
func (p *Peer) openGossip() error {
	p.gossipMu.Lock()
	defer p.gossipMu.Unlock()
	cfg := p.cfg.Gossip
	// Sequence numbers must be higher than all before, in this life too: it may come back to a swarm that it was in.
	p.spoke++
	cfg.Swarm, cfg.Incarnation, cfg.Admitted = p.host.SwarmName(), p.host.Incarnation()<<8+p.spoke%(1<<8),
		p.host.Admitted
	g, err := gossip.Open(p.ctx, p.net, cfg)
	if err != nil {
		return err
	}
	g.Handle(gossip.KindCard, p.checkCard, func(_ peer.ID, b []byte) { _ = p.hearCard(b, nil) })
	g.Handle(gossip.KindRun, checkAnnouncement, func(author peer.ID,
		b []byte) {
		p.runs.announced(job.RunID(b), author)
	})
	g.Handle(gossip.KindTombstone, checkTombstone, func(author peer.ID, b []byte) {
		if err := p.runs.buried(b); err != nil {
			p.log.Debug("tombstone refused", "from", author, "error", err)
		}
	})
	g.Handle(gossip.KindLoad, checkLoad, p.hearLoad)
	g.Handle(gossip.KindNews, checkNews, p.hearNews)
	g.Handle(gossip.KindAnswered, checkAnswered, func(author peer.ID, b []byte) {
		if err := p.runs.claimed(b, author); err != nil {
			p.log.Debug("statement of an answer refused", "from", author, "error", err)
		}
	})
	p.gossip, p.speaks = g, cfg.Swarm
	return nil
}

// settle goes over to the swarm that the host has become a member of, if it is another one than before: an
// invitation names it.
func (p *Peer) settle() {
	p.gossipMu.Lock()
	same := p.speaks == p.host.SwarmName() || p.gossip == nil
	p.gossipMu.Unlock()
	if same {
		return
	}
	p.closeGossip()
	if err := p.openGossip(); err != nil {
		p.log.Error("gossip in the new swarm", "error", err)
	}
	p.renewCard()
	p.tellGossipMembers()
}

func (p *Peer) closeGossip() {
	p.gossipMu.Lock()
	g := p.gossip
	p.gossip = nil
	p.gossipMu.Unlock()
	if g != nil {
		_ = g.Close()
	}
}

// tellGossipMembers tells gossip who is in which cluster, which decides on topics and gateways.
func (p *Peer) tellGossipMembers() {
	m := gossip.Members{Cluster: p.places.mine().Name}
	for _, c := range p.members.list() {
		m.Peers = append(m.Peers, gossip.Member{
			ID: c.Peer, Cluster: p.places.of(c.Peer).Name, Reachable: c.Reachable == string(control.ReachPublic),
		})
	}
	p.gossipMu.Lock()
	g := p.gossip
	p.gossipMu.Unlock()
	if g != nil {
		g.SetMembers(m)
	}
}

// checkCard accepts a card of its author.
func (p *Peer) checkCard(author peer.ID, b []byte) error {
	c, err := statement.OpenCard(b)
	switch {
	case err != nil:
		return err
	case c.Peer != author:
		return fmt.Errorf("a card of %s from %s", c.Peer, author)
	case c.Swarm != p.host.SwarmName():
		return fmt.Errorf("a card of the swarm %q", clip(c.Swarm))
	}
	return nil
}

// checkAnnouncement accepts the ID of a run. Its author is asked for the manifest.
func checkAnnouncement(_ peer.ID, b []byte) error {
	if len(b) != len(job.RunID{}) {
		return fmt.Errorf("an announcement of %d bytes, want a run's ID", len(b))
	}
	return nil
}

func checkTombstone(_ peer.ID, b []byte) error {
	_, _, err := statement.OpenTombstone(b)
	return err
}

// checkAnswered accepts a statement of its author.
func checkAnswered(author peer.ID, b []byte) error {
	a, err := statement.OpenAnswered(b)
	if err == nil && a.Author != author {
		return fmt.Errorf("a statement of %s from %s", a.Author, author)
	}
	return err
}

// errLoad is why a load is refused.
var errLoad = errors.New("a load out of range")

func checkLoad(_ peer.ID, b []byte) error {
	if len(b) > maxLoad {
		return errLoad
	}
	var l load
	if err := wire.Control().Decode(b, &l); err != nil {
		return err
	}
	if l.Workers < 0 || l.Workers > satin.MaxWorkers || l.Busy < 0 || l.Busy > l.Workers || l.Queued < 0 {
		return errLoad
	}
	return nil
}

func (p *Peer) publish(k gossip.Kind, b []byte) {
	p.gossipMu.Lock()
	g := p.gossip
	p.gossipMu.Unlock()
	if g == nil {
		return // not open yet, or not any more
	}
	if err := g.Publish(k, b); err != nil {
		p.log.Debug("not told to the swarm", "kind", k, "error", err)
	}
}

func (p *Peer) announce(run job.RunID)    { p.publish(gossip.KindRun, run[:]) }
func (p *Peer) publishTombstone(b []byte) { p.publish(gossip.KindTombstone, b) }
func (p *Peer) publishAnswered(b []byte)  { p.publish(gossip.KindAnswered, b) }
func (p *Peer) publishLoad(l *load)       { p.publish(gossip.KindLoad, encode(l)) }

func (p *Peer) tellCard(c *statement.SignedCard) {
	if c != nil {
		p.publish(gossip.KindCard, c.Bytes)
	}
}
