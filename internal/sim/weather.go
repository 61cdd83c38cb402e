package sim

import (
	"slices"

	"github.com/satin-peer/satin/steal"
)

// weather is what presently happens to messages.
type weather struct {
	*stage
	active []*Fault
}

func (x *weather) change(f *Fault, begins bool) {
	if begins {
		x.active = append(x.active, f)
	} else if i := slices.Index(x.active, f); i >= 0 {
		x.active = slices.Delete(x.active, i, i+1)
	}
}

// fate of one message.
type fate struct {
	copies  int   // 0: lost
	delay   int64 // nanoseconds
	shuffle int64 // up to so many more, drawn for each copy
	refuse  bool  // the sender is told that it was not sent
	damage  bool
}

const duplicateWithin = int64(1e9)

// fate decides what happens to a message, or to news if it is nil, asking the active faults in the order in
// which they began.
func (x *weather) fate(from, to *peer, m *steal.Message) fate {
	d := fate{copies: 1}
	if len(x.active) == 0 {
		return d
	}
	if x.blocked(from, to) {
		return fate{}
	}
	for _, f := range x.active {
		switch f.Kind {
		case Drop:
			if x.happens(f.Amount) {
				return fate{}
			}
		case AsymmetricLoss:
			if int(from.number) == f.Peer && x.happens(f.Amount) {
				return fate{}
			}
		case Delay:
			d.delay += int64(f.Amount * 1e9)
		case Reorder:
			d.shuffle += 1 + int64(f.Amount*1e9)
		case Duplicate:
			if x.happens(f.Amount) {
				d.copies, d.shuffle = 2, d.shuffle+duplicateWithin
			}
		case Corrupt:
			d.damage = d.damage || x.happens(f.Amount)
		case ReplyUnwritable:
			if m != nil && m.Reply != nil && len(m.Reply.Jobs) > 0 && x.happens(f.Amount) {
				return fate{refuse: true}
			}
		}
	}
	return d
}

// blocked says whether a partition lies between two peers, in this direction.
func (x *weather) blocked(from, to *peer) bool {
	for _, f := range x.active {
		switch f.Kind {
		case PartitionShort, PartitionLong:
			if slices.Contains(f.Peers, int(from.number)) != slices.Contains(f.Peers, int(to.number)) {
				return true
			}
		case PartitionOneWay:
			if slices.Contains(f.Peers, int(from.number)) && !slices.Contains(f.Peers, int(to.number)) {
				return true
			}
		case PartitionCluster:
			if (from.cluster == f.Cluster) != (to.cluster == f.Cluster) {
				return true
			}
		}
	}
	return false
}

// damaged returns a message as a receiver sees it whose check has failed to notice the damage. The original
// is not changed: other copies share it.
func (x *weather) damaged(m *steal.Message) *steal.Message {
	c := *m
	switch x.random.IntN(4) {
	case 0: // no body
		c = steal.Message{Run: m.Run, From: m.From, To: m.To}
	case 1:
		c.Run[0] ^= 1
	case 2:
		c.From.Inc-- // an earlier life of the sender
	case 3:
		c.To.Inc += 1000 // a life the receiver has not lived
	}
	return &c
}
