package gossip

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

// names makes the names of a swarm's topics.
//
// Clusters are hashed to 65,536 names: pubsub keeps every name of a topic it ever heard, so there must not be
// more than a bounded number of them. Two clusters with the same hash share a topic, which is slower but
// right.
type names struct {
	wide string
	any  *regexp.Regexp
}

func namesOf(swarm string) names {
	h := sha256.Sum256([]byte("satin gossip swarm\x00" + swarm))
	prefix := fmt.Sprintf("satin/%x/", h[:8])
	return names{wide: prefix + "wide", any: regexp.MustCompile("^" + prefix + "(wide|near/[0-9a-f]{4})$")}
}

func (n names) near(cluster string) string {
	h := sha256.Sum256([]byte("satin gossip cluster\x00" + cluster))
	return fmt.Sprintf("%snear/%x", n.wide[:len(n.wide)-len("wide")], h[:2])
}

// CanSubscribe says whether a topic is one of the swarm's.
func (n names) CanSubscribe(topic string) bool { return n.any.MatchString(topic) }

// filter is for what neighbours say they are in.
type filter struct {
	names
	g *Gossip
}

// FilterIncomingSubscriptions drops what is about other topics, and has a neighbour leave those that it said it is in
// before the last few: pubsub keeps who is in each.
func (f filter) FilterIncomingSubscriptions(from peer.ID, subs []*pb.RPC_SubOpts) ([]*pb.RPC_SubOpts, error) {
	subs = pubsub.FilterSubscriptions(subs, f.CanSubscribe)
	f.g.neighbourMu.Lock()
	defer f.g.neighbourMu.Unlock()
	n := f.g.neighbours.get(from)
	for _, sub := range subs {
		n.topics = slices.DeleteFunc(n.topics, func(in string) bool { return in == sub.GetTopicid() })
		if sub.GetSubscribe() {
			n.topics = append(n.topics, sub.GetTopicid())
		}
	}
	for ; len(n.topics) > maxTopics; n.topics = n.topics[1:] {
		subs = append(subs, &pb.RPC_SubOpts{Topicid: &n.topics[0]})
	}
	return subs, nil
}

func (g *Gossip) classOf(topic string) class {
	if topic == g.names.wide {
		return wide
	}
	return near
}

// identity is what pubsub knows a message by: topic and content. The topic is in it because a gateway repeats
// the same bytes in another topic, and pubsub has one table for all; the whole content, because a part of it
// (author and sequence number) could be copied into a forgery that comes before the true one.
func identity(m *pb.Message) string {
	h := sha256.New()
	h.Write([]byte(m.GetTopic()))
	h.Write([]byte{0})
	h.Write(m.GetData())
	return string(h.Sum(nil)[:identityBytes])
}

const identityBytes = 20

// A topicRoom is a topic that this peer is in.
type topicRoom struct {
	class    class
	topic    *pubsub.Topic
	sub      *pubsub.Subscription
	stop     context.CancelFunc
	unwanted time.Time // since when it should be left; zero if it should not
}

// lingerFor is how long a peer stays in a topic that it should leave: others learn of the change later or earlier.
const lingerFor = 5 * time.Second

// reconcile joins the topics this peer should be in and leaves others. Only Open and keepLoop call it. It waits for
// pubsub's event loop, not for the network.
func (g *Gossip) reconcile(now time.Time) error {
	g.mu.Lock()
	wanted := map[string]bool{}
	if g.flat || g.standing != standingNone {
		wanted[g.names.wide] = true
	}
	if !g.flat {
		wanted[g.names.near(g.members.Cluster)] = true
	}
	var leave []*topicRoom
	for name, r := range g.rooms {
		switch {
		case wanted[name]:
			r.unwanted = time.Time{}
			delete(wanted, name)
		case r.unwanted.IsZero():
			r.unwanted = now
		case now.Sub(r.unwanted) >= lingerFor:
			leave = append(leave, r)
			delete(g.rooms, name)
		}
	}
	g.mu.Unlock()
	for _, r := range leave {
		r.stop()
		r.sub.Cancel()
		_ = r.topic.Close() // the subscription is gone by now, so it can be joined again
	}
	for name := range wanted {
		if err := g.join(name); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gossip) join(name string) error {
	topic, err := g.ps.Join(name)
	if err != nil {
		return fmt.Errorf("gossip: join: %w", err)
	}
	sub, err := topic.Subscribe(pubsub.WithBufferSize(g.cfg.Queue))
	if err != nil {
		return fmt.Errorf("gossip: join: %w", err)
	}
	ctx, stop := context.WithCancel(g.ctx)
	r := &topicRoom{class: g.classOf(name), topic: topic, sub: sub, stop: stop}
	g.mu.Lock()
	g.rooms[name] = r
	g.mu.Unlock()
	g.done.Go(func() { g.listen(ctx, r) })
	return nil
}

// topics are those that pubsub says this peer is in, sorted; none when it is closed.
func (g *Gossip) topics() []string {
	select {
	case <-g.opened:
		return slices.Sorted(slices.Values(g.ps.GetTopics()))
	case <-g.ctx.Done():
		return nil
	}
}

// joined lists the topics this peer is in, the cluster's first.
func (g *Gossip) joined() []*topicRoom {
	g.mu.Lock()
	defer g.mu.Unlock()
	rooms := make([]*topicRoom, 0, len(g.rooms))
	for c := range classes {
		for _, r := range g.rooms {
			if r.class == c {
				rooms = append(rooms, r)
			}
		}
	}
	return rooms
}

// listen takes what comes in one topic.
func (g *Gossip) listen(ctx context.Context, r *topicRoom) {
	for {
		m, err := r.sub.Next(ctx)
		if err != nil {
			return
		}
		if rec, ok := m.ValidatorData.(*received); ok { // else it is this peer's own, or repeated by it
			g.take(r.class, m.Data, rec)
		}
	}
}

// take has an envelope repeated and delivered, as far as it should be. It does not block.
func (g *Gossip) take(c class, data []byte, r *received) {
	if hasBeacon(r.Items) {
		g.heard(r.author)
	}
	g.cross(c, data, r)
	if !g.authors.deliver(r.author, r.Seq) {
		return
	}
	select {
	case g.arrivals <- r:
	default:
		g.count.undelivered.Add(1)
	}
}
