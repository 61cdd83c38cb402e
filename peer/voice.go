package peer

import (
	"errors"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
)

// A voice is what this peer tells everybody, and what it hears from everybody. Each kind of news has two handlers: one
// that says whether the payload may be passed on, which must be quick and has no effect, and one that takes it in.
type voice struct {
	*base.Base
	cfg  gossip.Config
	host *host.Host
	ears []ear

	mu     sync.Mutex
	gossip interface { // nil: not open yet, or not any more
		Publish(k gossip.Kind, b []byte) error
		SetMembers(m gossip.Members)
		Close() error
	}
	speaks string // the swarm that gossip was opened for
	spoke  uint64 // how often it was opened
}

type ear struct {
	kind  gossip.Kind
	check func(author peer.ID, b []byte) error
	take  func(author peer.ID, b []byte)
}

// hear says what is done with a kind of news; before open.
func (v *voice) hear(kind gossip.Kind, check func(peer.ID, []byte) error, take func(peer.ID, []byte)) {
	v.ears = append(v.ears, ear{kind, check, take})
}

// open begins to talk to the swarm that the host belongs to.
func (v *voice) open() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	cfg := v.cfg
	// Sequence numbers must be higher than all before, in this life too: it may come back to a swarm that it was in.
	v.spoke++
	cfg.Swarm, cfg.Incarnation, cfg.Admitted = v.host.SwarmName(), v.host.Incarnation()<<8+v.spoke%(1<<8),
		v.host.Admitted
	cfg.Shown = func(author peer.ID, card []byte) bool { return showsMember(v.host.Roll(), author, card) }
	g, err := gossip.Open(v.Ctx, v.host.Network(), cfg)
	if err != nil {
		return err
	}
	for _, e := range v.ears {
		g.Handle(e.kind, e.check, e.take)
	}
	v.gossip, v.speaks = g, cfg.Swarm
	return nil
}

// showsMember says whether a card proves that its author is a member; in an open swarm none does.
func showsMember(r *host.Roll, author peer.ID, card []byte) bool {
	c, err := statement.OpenCard(card)
	if err != nil || c.Peer != author {
		return false
	}
	proof, err := r.Shown(author, c.Proof)
	return err == nil && len(proof) > 0
}

// move goes over to the swarm that the host has become a member of, if it is another one than before: an invitation
// names it. It says whether it is.
func (v *voice) move() bool {
	v.mu.Lock()
	g := v.gossip
	if g == nil || v.speaks == v.host.SwarmName() {
		v.mu.Unlock()
		return false
	}
	v.gossip = nil // whoever else would move has nothing to do
	v.mu.Unlock()
	_ = g.Close()
	// A member notices some time later that our old streams have ended, and then forgets what we are subscribed to,
	// even if we have said it anew by then. With new connections the end comes before the beginning.
	for _, id := range v.host.Network().Network().Peers() {
		_ = v.host.Disconnect(id)
	}
	if err := v.open(); err != nil {
		v.Log.Error("gossip in the new swarm", "error", err)
	}
	return true
}

func (v *voice) close() {
	v.mu.Lock()
	g := v.gossip
	v.gossip = nil
	v.mu.Unlock()
	if g != nil {
		_ = g.Close()
	}
}

// setMembers tells gossip who is in which cluster, which decides on topics and gateways.
func (v *voice) setMembers(m gossip.Members) {
	v.mu.Lock()
	g := v.gossip
	v.mu.Unlock()
	if g != nil {
		g.SetMembers(m)
	}
}

// tell tells everybody. It does not block.
func (v *voice) tell(k gossip.Kind, b []byte) {
	v.mu.Lock()
	g := v.gossip
	v.mu.Unlock()
	if g == nil {
		return
	}
	if err := g.Publish(k, b); err != nil {
		v.Log.Debug("not told to the swarm", "kind", k, "error", err)
	}
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
	if err := wire.Figures().Decode(b, &l); err != nil {
		return err
	}
	if l.Workers < 0 || l.Workers > satin.MaxWorkers || l.Busy < 0 || l.Busy > l.Workers || l.Queued < 0 ||
		l.Share < 0 || l.Share > wholeShare || l.Rate < 0 || l.Rate > maxLinkRate ||
		l.Efficiency < 0 || l.Efficiency > wholeShare || l.Speed.Took < 0 || !l.Yardstick.sound() {
		return errLoad
	}
	return nil
}
