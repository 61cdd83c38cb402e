package peer

import (
	"bytes"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/depot"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/statement"
)

// An ownCard is who this peer is, as it tells everybody.
type ownCard struct {
	*base.Base
	key crypto.PrivKey
	// facts are what is to be told now; facts, proof and tell are given by the peer.
	facts func() *statement.Card
	proof func() []byte
	tell  func(b []byte)
	every func() time.Duration // how often it is told anew though nothing has changed

	// skip has the next start of this peer be a later one than that.
	skip func(incarnation uint64) error

	mu     sync.Mutex
	last   *statement.SignedCard
	seq    uint64
	double *statement.SignedCard // of this peer, by another process; nil: there is none
}

// seen looks at a card of this peer that somebody tells. One that is later than all that this process has signed is by
// another one, which has its key: on a copy of the state directory, or before an older one was put back. Others take
// the later one for this peer, so the next start here is to be later still.
func (o *ownCard) seen(c *statement.SignedCard) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil || !c.Newer(o.last) || o.double != nil && !c.Newer(o.double) {
		return
	}
	if o.double == nil {
		o.Log.Error(twoLives, "start_here", o.last.Incarnation, "start_there", c.Incarnation,
			"addresses", len(c.Addrs), "fix", oneLife)
	}
	o.double = c
	if err := o.skip(c.Incarnation); err != nil {
		o.Log.Warn("the number of starts is not raised", "error", err)
	}
}

// What there is to say where another process has this peer's key.
const (
	twoLives = "another process has this peer's key: its state directory was copied, or an older one was put back"
	oneLife  = "of two that run, leave one and start it with a state directory of its own; else leave and start once more"
)

// isDouble says whether another process was seen that has this peer's key.
func (o *ownCard) isDouble() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.double != nil
}

// current is the card as last signed, or a new one if that proves another membership; nil before the first.
func (o *ownCard) current() *statement.SignedCard {
	o.mu.Lock()
	c := o.last
	o.mu.Unlock()
	if c != nil && !bytes.Equal(c.Proof, o.proof()) {
		return o.renew()
	}
	return c
}

// renew signs a new card and returns it.
func (o *ownCard) renew() *statement.SignedCard {
	o.mu.Lock() // from the first look to the number: a card must not be newer than what it says
	defer o.mu.Unlock()
	c := o.facts()
	o.seq++
	c.At, c.Networks, c.Proof, c.Seq = o.Now().Unix(), places.LocalNetworks(), o.proof(), o.seq
	signed, err := c.Sign(o.key)
	if err != nil {
		o.Log.Error("own card cannot be signed", "error", err)
		return o.last
	}
	o.last = signed
	return signed
}

// tellAnew signs a new card and tells everybody.
func (o *ownCard) tellAnew() {
	if c := o.renew(); c != nil {
		o.tell(c.Bytes)
	}
}

// keepUp tells everybody anew who this peer is, when that has changed or is long ago, or the clock was set back since:
// others would forget this peer before it came to that time again.
func (o *ownCard) keepUp(now time.Time) {
	o.mu.Lock()
	old := o.last
	o.mu.Unlock()
	if old != nil && bytes.Equal(old.Proof, o.proof()) && old.At <= now.Unix() &&
		now.Unix()-old.At < int64(o.every()/time.Second) {
		c := o.facts()
		if c.Cluster == old.Cluster && len(c.Addrs) == len(old.Addrs) && c.Reachable == old.Reachable {
			return
		}
	}
	o.tellAnew()
}

// facts are who this peer is.
func (p *Peer) facts(apps *catalog) *statement.Card {
	here := p.places.Mine()
	c := &statement.Card{
		Swarm: p.host.SwarmName(), Incarnation: p.host.Incarnation(), Label: p.cfg.Cluster, Cluster: here.Name,
		Why: here.Why, Cores: p.caretaker.courtesy.Allowed(), Software: plain.Clip(p.cfg.Software),
		Name: shown(p.cfg.Name), Leaving: p.caretaker.presence.Leaving(),
		Reachable: string(reach(p.host).State), Position: p.places.Position(), Gateway: p.sharing.at(),
	}
	if paused, _ := p.caretaker.presence.Paused(); paused {
		c.Cores = 0
	}
	for _, a := range p.host.Network().Addrs() {
		if s := a.String(); len(c.Addrs) < statement.MaxCardAddrs && len(s) < 256 {
			c.Addrs = append(c.Addrs, s)
		}
	}
	c.Apps = append(apps.modules.told(), depot.KeepsDeposits)
	for _, x := range apps.programs {
		c.Apps = append(c.Apps, statement.App{Name: executableApp, Version: x.Hash})
	}
	for _, a := range apps.built {
		if len(c.Apps) < statement.MaxCardApps {
			c.Apps = append(c.Apps, statement.App{Name: a.Name, Version: a.Version})
		}
	}
	return c
}

// shown is a name as all can see it: letters, signs and no blanks, as much as a card takes.
func shown(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			r = '-'
		}
		if b.Len()+utf8.RuneLen(r) > statement.MaxCardName {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
