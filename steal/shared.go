package steal

import (
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// shared is what all machines of a core have in common: who they are, what they were told of the world around them,
// the time of the present input, and the output, to which each adds its orders and messages when it has its turn.
type shared struct {
	cfg     Config
	self    Address
	cluster ClusterID
	run     Run
	rand    Rand
	members *Members
	links   linkTable
	purse   *purse
	load    Load
	reports uint64        // reports of the engine so far
	still   time.Duration // since when it may use no core, if that is so
	now     time.Duration
	idled   time.Duration // how long the workers here have been idle: the mean over them
	dry     time.Duration // the same of late: each second that they work takes one of it away
	leaving bool          // from Leave on
	stance  Stance
	left    bool // the goodbye is said
	// handOvers numbers those of this peer: a transport takes two of one number for the same
	handOvers uint64
	stats     Stats
	out       Output
	onKept    func(outcome []byte, kept bool)
}

// standsStill says whether the engine has been without a core for so long, as its user has paused it, for instance. One
// that has reported nothing may be about to be ready, and one that has a core in turns has one again soon.
func (s *shared) standsStill(d time.Duration) bool {
	return s.reports > 0 && !s.stance.Turns && s.load.Workers == 0 && s.now-s.still >= d
}

// adviser is the policy, and what it may look at.
type adviser struct {
	policy policy.Policy
	view   *view
}

// OnKept has a function hear of every outcome that is kept here from now on, and again when it is kept no more. It must
// not call the core.
func (s *shared) OnKept(heard func(outcome []byte, kept bool)) { s.onKept = heard }

func (s *shared) order(o Order) { s.out.Orders = append(s.out.Orders, o) }

// send addresses the body in m and counts it.
func (s *shared) send(p *peer, m *Message) { s.sendTo(p.addr(), p, m) }

// sendTo is for a life of p that may not have been heard yet.
func (s *shared) sendTo(to Address, p *peer, m *Message) {
	m.Run, m.From, m.To = s.run.ID, s.self, to
	s.out.Messages = append(s.out.Messages, m)
	size := uint64(m.Size())
	s.stats.SentByKind[m.Kind()]++
	if p.cluster == s.cluster {
		s.stats.MessagesSentLocal++
		s.stats.BytesSentLocal += size
	} else {
		s.stats.MessagesSentWide++
		s.stats.BytesSentWide += size
	}
}

// tellAll addresses news and has them told.
func (s *shared) tellAll(n *News) {
	n.Run, n.From = s.run.ID, s.self
	s.stats.NewsSent++
	s.order(Order{Kind: Tell, News: n})
}

func (s *shared) isMember(id PeerID) bool {
	_, is := s.members.Find(id)
	return is
}

// isOther says whether a peer is a member, and not this one.
func (s *shared) isOther(id PeerID) bool { return id != s.self.Peer && s.isMember(id) }

// salvaging says whether lost work is made use of.
func (s *shared) salvaging() bool { return s.run.Recovery == Salvage }
