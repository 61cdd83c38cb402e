package sim

import (
	"fmt"
	"time"
)

// FaultKind is one of the ways in which a swarm goes wrong.
type FaultKind uint8

// The fault list. Kinds are grouped by what they hit: a peer, the membership, a clock, messages, links. Which
// fields of a Fault a kind uses is said beside it; For is how long it lasts, and 0 for ever, unless something
// else is said.
const (
	// Crash: Peer stops in the middle of everything and is never heard of again. No fault but Blackout takes
	// the last peer that is up.
	Crash FaultKind = iota
	// Restart: Peer crashes and begins a new life For later, knowing nothing of its first.
	Restart
	// Return: the same, and it finds its checkpoint.
	Return
	// ClusterCrash: all peers of Cluster crash in the same moment, and return For later if that is not 0.
	ClusterCrash
	// AllButOne: all peers but Peer crash in the same moment, and return For later if that is not 0.
	AllButOne
	// Blackout: all peers crash, and return For later: nothing is left but what is on the disks.
	Blackout
	// Carry: the checkpoints of dead peers of Cluster are read by live ones.
	Carry
	// MasterCrash, MasterLeave and MasterStall hit the peer that holds the root at that moment; the last one
	// is over after For.
	MasterCrash
	MasterLeave
	MasterStall
	// Stall: Peer freezes for For (SIGSTOP, a closed lid). Messages to it wait.
	Stall
	// Slow: Peer computes at Amount times its speed for For.
	Slow

	// PartitionShort: nothing gets through between Peers and the rest for For, which is too short to be
	// noticed: less than the silence that makes a partner lost.
	PartitionShort
	// PartitionLong: the same, long enough for both sides to give each other up.
	PartitionLong
	// PartitionOneWay: what Peers send is lost for For; what is sent to them arrives.
	PartitionOneWay
	// PartitionCluster: what crosses the border of Cluster is lost for For, in silence.
	PartitionCluster

	// Drop: each message is lost with probability Amount for For.
	Drop
	// Delay: each message takes Amount seconds longer for For.
	Delay
	// Duplicate: each message arrives twice with probability Amount for For, the copy up to a second later.
	Duplicate
	// Reorder: each message takes up to Amount seconds longer for For, at random, so that they overtake each other.
	Reorder
	// Corrupt: each message arrives damaged with probability Amount for For: without a body, for another run,
	// or for an earlier life. The core must drop it.
	Corrupt

	// Join: a new peer takes part in Cluster.
	Join
	// JoinFlood: Amount new peers take part, in all clusters in turn, within For.
	JoinFlood
	// Leave: Peer hands over what it has, says goodbye and is gone.
	Leave
	// ClusterLeave: all peers of Cluster begin to leave in the same moment.
	ClusterLeave
	// Cancel: the run is over, and everybody hears of it.
	Cancel

	// ClockForward: the clock of Peer jumps Amount seconds ahead.
	ClockForward
	// ClockBackward: it jumps Amount seconds back.
	ClockBackward
	// ClockDrift: it runs Amount times as fast as it should for For.
	ClockDrift

	// LinkDown: the link between Cluster and Other is missing for For; messages are routed round it if there
	// is a way.
	LinkDown
	// LinkSlow: that link has 1/Amount of its bandwidth and Amount times its latency for For.
	LinkSlow
	// GatewayLoss: Cluster has lost all its links for For; senders are told that there is no route.
	GatewayLoss
	// AsymmetricLoss: messages from Peer to every other are lost with probability Amount for For.
	AsymmetricLoss
	// Burst: Amount bytes of other traffic fill the link from Cluster to Other, whose queue holds no more
	// than that for For: messages are lost while it is full.
	Burst
	// ReplyUnwritable: a steal reply with jobs cannot be written, with probability Amount for For; its sender
	// is told.
	ReplyUnwritable
	// Pause: Peer has no core for For, since its user wants them, but hears and says what it always does. A leaf that
	// runs ends first.
	Pause

	faultKinds
)

var faultNames = [faultKinds]string{
	"crash", "restart", "return", "cluster-crash", "all-but-one", "blackout", "carry",
	"master-crash", "master-leave", "master-stall", "stall", "slow",
	"partition-short", "partition-long", "partition-one-way", "partition-cluster",
	"drop", "delay", "duplicate", "reorder", "corrupt",
	"join", "join-flood", "leave", "cluster-leave", "cancel",
	"clock-forward", "clock-backward", "clock-drift",
	"link-down", "link-slow", "gateway-loss", "asymmetric-loss", "burst", "reply-unwritable", "pause",
}

func (k FaultKind) String() string {
	if k < faultKinds {
		return faultNames[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// FaultKinds lists all kinds.
func FaultKinds() []FaultKind {
	all := make([]FaultKind, faultKinds)
	for i := range all {
		all[i] = FaultKind(i)
	}
	return all
}

// FaultNamed finds a kind by its name.
func FaultNamed(name string) (FaultKind, bool) {
	for i, n := range faultNames {
		if n == name {
			return FaultKind(i), true
		}
	}
	return 0, false
}

// Fault is one thing that goes wrong.
type Fault struct {
	Kind    FaultKind
	At      time.Duration // virtual time since the start of the run
	For     time.Duration
	Peer    int   // number, from 0
	Peers   []int // of partitions
	Cluster int   // number, from 0
	Other   int   // another cluster
	Amount  float64
}

func (f Fault) String() string {
	s := fmt.Sprintf("%v at %v", f.Kind, f.At)
	if f.For > 0 {
		s += fmt.Sprintf(" for %v", f.For)
	}
	switch f.Kind {
	case Crash, Restart, Return, AllButOne, Stall, Slow, Leave, ClockForward, ClockBackward, ClockDrift, AsymmetricLoss,
		Pause:
		s += fmt.Sprintf(", peer p%03d", f.Peer)
	case PartitionShort, PartitionLong, PartitionOneWay:
		s += fmt.Sprintf(", peers %v", f.Peers)
	case PartitionCluster, ClusterCrash, Carry, Join, ClusterLeave, GatewayLoss:
		s += fmt.Sprintf(", cluster %d", f.Cluster+1)
	case LinkDown, LinkSlow, Burst:
		s += fmt.Sprintf(", link %d-%d", f.Cluster+1, f.Other+1)
	}
	if f.Amount != 0 {
		s += fmt.Sprintf(", amount %.3g", f.Amount)
	}
	return s
}

// storms says whether a fault of that kind lasts and is in the way of masters that look for each other.
func (k FaultKind) storms() bool {
	switch k {
	case Stall, MasterStall, PartitionOneWay, Drop, Delay, Duplicate, Reorder, Corrupt, ClockDrift, LinkDown,
		LinkSlow, GatewayLoss,
		AsymmetricLoss, Burst, ReplyUnwritable, Pause:
		return true
	}
	return false
}

// check says what is wrong with a fault for a network of that many peers and clusters.
func (f *Fault) check(peers, clusters int) error {
	bad := func(what string, value any, want string) error {
		return fmt.Errorf("%w: fault %v: %s is %v; %s", ErrConfig, f.Kind, what, value, want)
	}
	switch {
	case f.Kind >= faultKinds:
		return fmt.Errorf("%w: %v is not a kind of fault", ErrConfig, f.Kind)
	case f.At < 0 || f.For < 0:
		return bad("a time", min(f.At, f.For), "times are not negative")
	case f.Kind == Blackout && f.For == 0:
		return bad("its length", f.For, "somebody must come back")
	case f.Peer < 0 || f.Peer >= peers:
		return bad("the peer", f.Peer, fmt.Sprintf("peers are 0 to %d", peers-1))
	case f.Cluster < 0 || f.Cluster >= clusters || f.Other < 0 || f.Other >= clusters:
		return bad("a cluster", max(f.Cluster, f.Other), fmt.Sprintf("clusters are 0 to %d", clusters-1))
	}
	for _, p := range f.Peers {
		if p < 0 || p >= peers {
			return bad("a peer", p, fmt.Sprintf("peers are 0 to %d", peers-1))
		}
	}
	switch f.Kind {
	case Drop, Duplicate, Corrupt, AsymmetricLoss, ReplyUnwritable:
		if !(f.Amount >= 0 && f.Amount <= 1) {
			return bad("the probability", f.Amount, "0 to 1 is possible")
		}
	case Slow, ClockDrift, LinkSlow:
		if !(f.Amount >= 0.001 && f.Amount <= 1000) {
			return bad("the factor", f.Amount, "0.001 to 1000 is possible")
		}
	case Delay, Reorder, ClockForward, ClockBackward:
		if !(f.Amount >= 0 && f.Amount <= 1e6) {
			return bad("the number of seconds", f.Amount, "0 to 1,000,000 is possible")
		}
	case JoinFlood:
		if !(f.Amount >= 1 && f.Amount <= 10_000) {
			return bad("the number of peers", f.Amount, "1 to 10,000 is possible")
		}
	case Burst:
		if !(f.Amount >= 1 && f.Amount <= 1e9) {
			return bad("the number of bytes", f.Amount, "1 to 1,000,000,000 is possible")
		}
	}
	switch f.Kind {
	case LinkDown, LinkSlow, Burst:
		if f.Cluster == f.Other {
			return bad("the link's other end", f.Other+1, "a link joins two clusters")
		}
	}
	return nil
}
