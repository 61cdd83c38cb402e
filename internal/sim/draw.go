package sim

import (
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// randomCore draws periods and bounds. Most are so quick that losses are noticed and made good while the run,
// of a few seconds, is still young; in one of four the bounds are so small that they are reached.
func randomCore(r *rand.Rand) steal.Config {
	c := []steal.Config{steal.Local(), steal.LAN(), steal.WAN()}[r.IntN(3)]
	// so that the dry spells of bad seeds do not take all the time
	c.StealGap = time.Duration(1+r.IntN(5)) * time.Millisecond
	if r.IntN(3) > 0 {
		c.HeartbeatEvery = time.Duration(20+r.IntN(300)) * time.Millisecond
		c.WideHeartbeatEvery = c.HeartbeatEvery * time.Duration(1+r.IntN(4))
		c.MaxHeartbeatEvery = max(c.WideHeartbeatEvery, 2*time.Second)
	}
	if r.IntN(4) == 0 {
		c.MaxBatch, c.MaxWaiting, c.MaxSegments, c.MaxLeases, c.MaxAsks = 1+r.IntN(4), 1+r.IntN(3), 4+r.IntN(8),
			1+r.IntN(8), 1+r.IntN(3)
	}
	if r.IntN(4) == 0 {
		c.MaxTuples, c.MaxTuplesPerNews, c.MaxKept = 1+r.IntN(50), 1+r.IntN(10), 1+r.IntN(30)
		c.MaxKeptBytes, c.MaxHandOver = 1+r.IntN(20_000), 1+r.IntN(5000)
	}
	c.TellEvery = time.Duration(1+r.IntN(100)) * time.Millisecond
	if r.IntN(3) > 0 {
		c.BeaconEvery = time.Duration(50+r.IntN(500)) * time.Millisecond
		c.MasterLease = c.BeaconEvery * time.Duration(2+r.IntN(3))
		c.RankStagger = time.Duration(50+r.IntN(500)) * time.Millisecond
	}
	return c
}

// randomRecovery draws what a run does about losses.
func randomRecovery(r *rand.Rand, c *Config) {
	if r.IntN(8) == 0 {
		c.Recovery = steal.Naive
	}
	c.KeepAfter = []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}[r.IntN(4)]
	c.Patience = time.Duration(1+r.IntN(5000)) * time.Millisecond
	c.Gossip.Delay = time.Duration(r.IntN(300)) * time.Millisecond
	if r.IntN(2) == 0 {
		c.Gossip.Loss, c.Gossip.Repeat = 0.3*r.Float64(), 0.5*r.Float64()
	}
	// A lease that is shorter than news may take, or that one lost beacon uses up, makes masters come and go
	// without an end.
	c.Core.MasterLease = max(c.Core.MasterLease, 3*c.Core.BeaconEvery+c.Gossip.Delay+2*longest(c.Network))
	if r.IntN(2) == 0 {
		c.Checkpoint.Every, c.Checkpoint.Torn = time.Duration(1+r.IntN(2000))*time.Millisecond, true
	}
	if r.IntN(4) == 0 {
		c.Reorder = r.Float64() / 2
	}
}

// longest is the highest latency between two clusters.
func longest(m *wan.Model) (most time.Duration) {
	links := m.Links()
	for a := range links.Clusters() {
		for b := range links.Clusters() {
			if c, ok := links.Conditions(a, b); ok {
				most = max(most, c.Latency)
			}
		}
	}
	return most
}

// randomFaults draws up to seven faults of the given kinds. They begin within the span, about twice the time
// that the run would take without them, and all that last end.
func randomFaults(r *rand.Rand, kinds []FaultKind, peers, clusters int, span time.Duration) (faults []Fault) {
	for range r.IntN(8) {
		kind := kinds[r.IntN(len(kinds))]
		if kind == Cancel && r.IntN(3) > 0 {
			kind = kinds[r.IntN(len(kinds))] // or too few runs would have a result
		}
		faults = append(faults, randomFault(r, kind, peers, clusters, span))
	}
	return faults
}

func randomFault(r *rand.Rand, kind FaultKind, peers, clusters int, span time.Duration) Fault {
	switch kind {
	case LinkDown, LinkSlow, Burst:
		if clusters == 1 {
			kind = Drop
		}
	}
	f := Fault{
		Kind: kind, At: time.Duration(r.Int64N(int64(span))), For: time.Duration(1 + r.Int64N(int64(span))),
		Peer: r.IntN(peers), Cluster: r.IntN(clusters), Other: r.IntN(clusters), Amount: r.Float64(),
	}
	switch kind {
	case ClusterCrash, AllButOne:
		if r.IntN(2) == 0 {
			f.For = 0
		}
	case PartitionShort:
		f.For = time.Duration(1+r.IntN(2000)) * time.Millisecond
	case PartitionLong:
		f.For = time.Duration(4+r.IntN(40)) * time.Second
	case Slow:
		f.Amount = 0.05 + 0.5*f.Amount
	case JoinFlood:
		f.Amount = float64(1 + r.IntN(20))
	case ClockForward, ClockBackward:
		f.Amount *= 20
	case ClockDrift:
		f.Amount += 0.5
	case Delay:
		f.Amount *= 2
	case LinkSlow:
		f.Amount = 1 + 50*f.Amount
	case Burst:
		f.Amount = 1 + 100_000*f.Amount
	}
	if kind == PartitionShort || kind == PartitionLong || kind == PartitionOneWay {
		for p := range peers {
			if r.IntN(2) == 0 {
				f.Peers = append(f.Peers, p)
			}
		}
	}
	if f.Cluster == f.Other {
		f.Other = (f.Cluster + 1) % clusters
	}
	return f
}
