package peer

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// exclusion has statements of revocation travel: package host says which count and for whom. They go by gossip, and
// at each meeting, for those who were not there; one that comes at a meeting is told on, because where it comes from
// may have been cut off from here.
type exclusion struct {
	*base.Base
	host    *host.Host
	members *members.Members
	runs    *conductor
	voice   *voice
	warn    func(*meeting) // meetings.warn

	turn atomic.Int64 // of what is told at meetings

	mu       sync.Mutex
	again    alarm.Reminder // of this peer's own
	reviewed time.Time      // when all were looked at last
	due      bool           // something was said since
}

const (
	// maxOutTold bounds the statements of one meeting, and of those that are repeated.
	maxOutTold = 64
	// reviewEvery is how often all members' certificates are looked at because of what others say, who may take back
	// and say again who is out as often as they like.
	reviewEvery = time.Second
)

// hear takes one in, from anywhere.
func (e *exclusion) hear(b []byte, from peer.ID, tellOn bool) {
	news, err := e.host.Roll().Hear(b)
	switch {
	case err != nil:
		e.Log.Debug("revocation refused", "from", from, "error", err)
	case news:
		e.reviewDue(e.Now(), true)
		if tellOn {
			e.voice.tell(gossip.KindRevocation, b)
		}
	}
}

// reviewDue reviews if something was said since that was done last, or now, and that was not just now.
func (e *exclusion) reviewDue(now time.Time, news bool) {
	e.mu.Lock()
	e.due = e.due || news
	due := e.due && now.Sub(e.reviewed) >= reviewEvery
	if due {
		e.due, e.reviewed = false, now
	}
	e.mu.Unlock()
	if due {
		e.review()
	}
}

// review forgets who is no member any more, ends the runs of those who are out, and takes from them what they have in
// others: what they have computed counts no more.
func (e *exclusion) review() {
	e.members.Review(func(c *statement.SignedCard) bool {
		_, err := e.host.Vouch(c.Peer, c.Proof)
		return err == nil
	})
	for _, r := range e.runs.inProgress() {
		if r.session != nil {
			r.session.Shun(e.runs.crew.vouch.Outcasts())
		}
	}
	e.runs.input(func(c *runs.Core, now time.Time) []runs.Order {
		return c.Revoked(now, func(m *runs.Manifest) bool {
			_, err := ownerProof(e.host, m)
			return err != nil
		})
	})
}

// Revoked says whether a peer is out of the swarm as far as this one knows: by its own word, by the founder's, or by
// that of one above it. It is false for what is no peer's ID.
func (p *Peer) Revoked(name string) bool {
	id, err := peer.Decode(plain.Clip(name))
	return err == nil && p.host.Roll().Outcast(id)
}

// statements are what a member hears at a meeting.
func (e *exclusion) statements() [][]byte {
	return e.host.Roll().Told(maxOutTold, int(e.turn.Add(1)))
}

// tell tells everybody what this peer has said last of whoever is out.
func (e *exclusion) tell() {
	if own := e.host.Roll().Own(); len(own) > 0 {
		e.voice.tell(gossip.KindRevocation, own[len(own)-1])
		e.warn(&meeting{Out: own[len(own)-1:]})
		e.mu.Lock()
		e.again.Set(e.Now(), alarm.RevocationsAgain)
		e.mu.Unlock()
	}
}

// keepUp repeats what this peer has said, a few at a time.
func (e *exclusion) keepUp(now time.Time) {
	e.reviewDue(now, false)
	e.mu.Lock()
	due := e.again.Due(now)
	e.mu.Unlock()
	if !due {
		return
	}
	own := e.host.Roll().Own()
	for i := range min(len(own), alarm.MaxRepeated) {
		e.voice.tell(gossip.KindRevocation, own[(int(now.Unix())+i)%len(own)])
	}
}
