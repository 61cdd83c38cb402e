package gossip

import (
	"context"
	"errors"
	"slices"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"
)

// A neighbour is what is kept of a peer that sends to this one.
type neighbour struct {
	rate      bucket
	strangers bucket
	faults    bucket
	ignored   time.Time // nothing is taken from it until then
	topics    []string  // that it says it is in, the last one last
	bytes     *rate.Limiter
}

const (
	maxNeighbours = 1024
	ignoreFor     = time.Minute
	maxHeeded     = 256 // neighbours, from the start on, that are sent no copies of what they say they have
)

// thingBytes is as how many bytes each thing in a neighbour's call counts, besides those that it has: what pubsub makes
// of one, that says nothing.
const thingBytes = 64

// meter is of the bytes that are read of a neighbour, over all its streams.
func (g *Gossip) meter(id peer.ID) *rate.Limiter {
	g.neighbourMu.Lock()
	defer g.neighbourMu.Unlock()
	return g.neighbours.get(id).meter(g.cfg.NeighbourRate)
}

func (n *neighbour) meter(most Rate) *rate.Limiter {
	if n.bytes == nil {
		n.bytes = rate.NewLimiter(rate.Limit(most.PerSecond*sizeUnit), most.Burst*sizeUnit)
	}
	return n.bytes
}

// things counts what is in a call.
func things(rpc *pubsub.RPC) int {
	c := rpc.GetControl()
	n := len(rpc.Publish) + len(rpc.Subscriptions) + len(c.GetIhave()) + len(c.GetIwant()) + len(c.GetGraft()) +
		len(c.GetPrune()) + len(c.GetIdontwant())
	for _, have := range c.GetIhave() {
		n += len(have.MessageIDs)
	}
	for _, want := range c.GetIwant() {
		n += len(want.MessageIDs)
	}
	for _, unwanted := range c.GetIdontwant() {
		n += len(unwanted.MessageIDs)
	}
	for _, p := range c.GetPrune() {
		n += len(p.Peers)
	}
	return n
}

// faultRate is how many envelopes that no honest peer makes or passes on a neighbour may send before it is ignored.
func faultRate() Rate { return Rate{PerSecond: 0.1, Burst: 16} }

var (
	errNotAdmitted = errors.New("not admitted")
	errIgnored     = errors.New("ignored for what it sent")
)

// inspect sees what a neighbour sends before pubsub does, and cuts off what is over its rate: pubsub remembers every
// message that it looks at, so this bounds its memory.
func (g *Gossip) inspect(from peer.ID, rpc *pubsub.RPC) error {
	if !g.cfg.Admitted(from) {
		g.count.notAdmitted.Add(1)
		return errNotAdmitted
	}
	now := time.Now()
	g.neighbourMu.Lock()
	defer g.neighbourMu.Unlock()
	n := g.neighbours.get(from)
	meter := n.meter(g.cfg.NeighbourRate)
	meter.ReserveN(now, min(thingBytes*things(rpc), meter.Burst()))
	if now.Before(n.ignored) {
		g.count.ignored.Add(1)
		return errIgnored
	}
	g.trim(from, rpc.GetControl())
	for i, m := range rpc.Publish {
		if !n.rate.take(g.cfg.NeighbourRate, now, 1+float64(len(m.Data))/sizeUnit) {
			g.count.flooded.Add(uint64(len(rpc.Publish) - i))
			rpc.Publish = rpc.Publish[:i]
			break
		}
	}
	return nil
}

// trim takes out of what a neighbour says what pubsub should not act on. It would dial whomever a neighbour names,
// wherever that is, ask for messages by names of any length, and keep who is not to be in the mesh for as long as it
// says. Of which messages a peer wants no copies pubsub never forgets altogether, so few are heeded. neighbourMu is
// held.
func (g *Gossip) trim(from peer.ID, c *pb.ControlMessage) {
	for _, p := range c.GetPrune() {
		p.Peers = nil
		if p.GetBackoff() > uint64(pubsub.GossipSubPruneBackoff/time.Second) {
			p.Backoff = nil
		}
	}
	for _, have := range c.GetIhave() {
		have.MessageIDs = slices.DeleteFunc(have.MessageIDs, func(id string) bool { return len(id) != identityBytes })
	}
	if len(c.GetIdontwant()) == 0 {
		return
	}
	if len(g.heeded) < maxHeeded {
		g.heeded[from] = true
	}
	if !g.heeded[from] {
		c.Idontwant = nil
	}
}

// blame notes that a neighbour sent what no honest peer does.
func (g *Gossip) blame(from peer.ID) {
	now := time.Now()
	g.neighbourMu.Lock()
	defer g.neighbourMu.Unlock()
	n := g.neighbours.get(from)
	if !n.faults.take(faultRate(), now, 1) {
		n.ignored = now.Add(ignoreFor)
	}
}

// received is what judge leaves for those who take the envelope on.
type received struct {
	envelope
	author peer.ID
}

// judge decides whether an envelope is taken in and passed on. It is pubsub's validator for all topics.
//
// The order is that of cost, and nothing is noted for an author before his signature was checked: else
// anybody could use up his rate or his sequence numbers. The hash in the message's identity (identity in
// topics.go) sees to it that a forged envelope does not make pubsub take the true one for a duplicate.
func (g *Gossip) judge(_ context.Context, from peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	if from == g.self {
		return pubsub.ValidationAccept // made here, or checked when it came through another topic
	}
	if len(m.Data) > g.maxEnvelope {
		g.count.malformed.Add(1)
		g.blame(from)
		return pubsub.ValidationReject
	}
	e, author, err := open(g.codec, m.Data)
	if err != nil {
		g.count.malformed.Add(1)
		g.blame(from)
		return pubsub.ValidationReject
	}
	c := g.classOf(m.GetTopic())
	if g.authors.passed(author, c, e.Seq) {
		g.count.replayed.Add(1)
		return pubsub.ValidationIgnore
	}
	if err := verify(g.cfg.Swarm, author, m.Data); err != nil {
		g.count.forged.Add(1)
		g.blame(from)
		return pubsub.ValidationReject
	}
	if !g.charge(from, author, &e, len(m.Data)) {
		g.count.throttled.Add(1)
		return pubsub.ValidationIgnore
	}
	if !g.acceptable(author, &e) {
		g.count.refused.Add(1)
		return pubsub.ValidationIgnore
	}
	if !g.authors.pass(author, c, e.Seq) {
		g.count.replayed.Add(1)
		return pubsub.ValidationIgnore
	}
	r := &received{e, author}
	if c == wide && g.standsBy(author) {
		g.take(c, m.Data, r)
		return pubsub.ValidationIgnore
	}
	m.ValidatorData = r
	return pubsub.ValidationAccept
}

// standsBy says whether this peer is the second gateway of its cluster, and an author is in another one. Such a gateway
// takes what comes through the wide topic and does not pass it on to other gateways: they get it from the first ones,
// and each copy crosses the wide area. What its own cluster says it passes on: the first gateway may have repeated that
// to this one alone, so that it does not stand in.
func (g *Gossip) standsBy(author peer.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.standing == standingSecond && !slices.Contains(g.election.first, author)
}

// charge takes what an envelope costs. Of strangers, who share what a neighbour may bring by all of them, those are
// excepted who show that they are members: else a few who make authors up would keep newcomers from being heard.
func (g *Gossip) charge(from, author peer.ID, e *envelope, bytes int) bool {
	return g.chargeAs(from, author, e, bytes, true) ||
		!g.authors.member(author) && g.shows(author, e) && g.chargeAs(from, author, e, bytes, false)
}

func (g *Gossip) chargeAs(from, author peer.ID, e *envelope, bytes int, stranger bool) bool {
	g.neighbourMu.Lock()
	defer g.neighbourMu.Unlock()
	var strangers *bucket
	if stranger {
		strangers = &g.neighbours.get(from).strangers
	}
	return g.authors.charge(author, e, bytes, strangers, time.Now())
}

// shows looks at one card, as each costs checks of signatures.
func (g *Gossip) shows(author peer.ID, e *envelope) bool {
	i := slices.IndexFunc(e.Items, func(it item) bool { return it.Kind == KindCard })
	return i >= 0 && g.cfg.Shown != nil && g.cfg.Shown(author, e.Items[i].Payload)
}

// acceptable asks the handlers. One message that is refused is the end of all in the envelope: they have one
// signature.
func (g *Gossip) acceptable(author peer.ID, e *envelope) bool {
	for _, it := range e.Items {
		if len(it.Payload) > g.cfg.MaxPayload {
			return false
		}
		if h := g.handler(it.Kind); h != nil && h.validate != nil && h.validate(author, it.Payload) != nil {
			return false
		}
	}
	return true
}
