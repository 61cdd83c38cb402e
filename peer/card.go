package peer

import (
	"bytes"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/peer/statement"
)

// rememberAddresses lets the network find a member on demand, at addresses that mean the same to who told of
// them over a link as to this peer; via is nil if the card came by gossip.
func (p *Peer) rememberAddresses(c *statement.SignedCard, via multiaddr.Multiaddr) {
	var addrs []multiaddr.Multiaddr
	for _, a := range c.Addrs {
		if m, err := multiaddr.NewMultiaddr(a); err == nil {
			addrs = append(addrs, m)
		}
	}
	p.net.Peerstore().AddAddrs(c.Peer, p.host.Dialable(addrs, via), peerstore.RecentlyConnectedAddrTTL)
}

// linkTo is where a connected peer is; nil if it has gone.
func (p *Peer) linkTo(id peer.ID) multiaddr.Multiaddr {
	for _, c := range p.net.Network().ConnsToPeer(id) {
		return c.RemoteMultiaddr()
	}
	return nil
}

// ownCard is this peer's card as last signed, or a new one if that proves another membership; nil before the first.
func (p *Peer) ownCard() *statement.SignedCard {
	p.cardMu.Lock()
	c := p.card
	p.cardMu.Unlock()
	if c != nil && !bytes.Equal(c.Proof, p.host.Proof()) {
		return p.renewCard()
	}
	return c
}

// renewCard signs a new card and returns it.
func (p *Peer) renewCard() *statement.SignedCard {
	p.cardMu.Lock() // from the first look to the number: a card must not be newer than what it says
	defer p.cardMu.Unlock()
	here := p.places.mine()
	c := &statement.Card{
		Swarm: p.host.SwarmName(), Incarnation: p.host.Incarnation(), At: p.now().Unix(), Label: p.cfg.Cluster,
		Cluster: here.Name, Why: here.Why,
		Cores: p.cfg.Workers, Software: clip(p.cfg.Software), Leaving: p.leaving.Load(), Networks: localNetworks(),
		Reachable: string(p.reach().State), Position: p.places.position(), Proof: p.host.Proof(),
	}
	if p.pausing.on() {
		c.Cores = 0
	}
	for _, a := range p.net.Addrs() {
		if s := a.String(); len(c.Addrs) < statement.MaxCardAddrs && len(s) < 256 {
			c.Addrs = append(c.Addrs, s)
		}
	}
	c.Apps = p.apps.modules.told()
	for _, a := range p.apps.built {
		if len(c.Apps) < statement.MaxCardApps {
			c.Apps = append(c.Apps, statement.App{Name: a.Name, Version: a.Version})
		}
	}
	p.cardSeq++
	c.Seq = p.cardSeq
	signed, err := c.Sign(p.key)
	if err != nil {
		p.log.Error("own card cannot be signed", "error", err)
		return p.card
	}
	p.card = signed
	return signed
}

// freshenCard tells everybody anew who this peer is, when that has changed or is long ago.
func (p *Peer) freshenCard(now time.Time) {
	p.cardMu.Lock()
	old := p.card
	p.cardMu.Unlock()
	if old != nil && bytes.Equal(old.Proof, p.host.Proof()) && now.Unix()-old.At < int64(cardEvery/time.Second) {
		if p.places.mine().Name == old.Cluster && len(p.net.Addrs()) == len(old.Addrs) &&
			string(p.reach().State) == old.Reachable {
			return
		}
	}
	p.tellCard(p.renewCard())
}
