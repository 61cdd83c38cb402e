package wan

import (
	"fmt"
	"math"
	"time"
)

// MaxClusters bounds the number of clusters of a network: a model keeps a record for every pair.
const MaxClusters = 256

// Ranges of what a link may be given; the parser refuses the rest.
const (
	minBandwidth = 1.0           // bytes/s: a slower link would need more than a lifetime for a page
	maxBandwidth = 1e12          // bytes/s
	maxLatency   = 1 * time.Hour // one way
	maxPeers     = 1 << 20       // in one cluster
)

// Never is the time of a change that does not come.
const Never = time.Duration(math.MaxInt64)

// Conditions of a link at some moment.
type Conditions struct {
	Bandwidth float64       // bytes per second, 1 to 1e12
	Latency   time.Duration // one way, 0 to an hour
}

// Transmission is how long a message of that many bytes occupies the link.
func (c Conditions) Transmission(bytes int) time.Duration {
	return time.Duration(math.Ceil(float64(bytes) * (1e9 / c.Bandwidth)))
}

func (c Conditions) check() error {
	// The comparisons are written so that NaN fails them.
	if !(c.Bandwidth >= minBandwidth && c.Bandwidth <= maxBandwidth) {
		return fmt.Errorf("bandwidth %v is outside %v to %v bytes per second", c.Bandwidth, minBandwidth, maxBandwidth)
	}
	if c.Latency < 0 || c.Latency > maxLatency {
		return fmt.Errorf("latency %v is outside 0 to %v seconds", c.Latency.Seconds(), maxLatency.Seconds())
	}
	return nil
}

// link is one direction between two clusters.
type link struct {
	nominal Conditions // as last set; what vary multiplies
	now     Conditions
	exists  bool
	queue   int           // bytes the queue holds before it drops; 0 = no limit
	busy    time.Duration // until then the link transmits what it has accepted
}

// Links is the state of a network that upcalls change. Clusters are numbered from 0 here, from 1 in files.
type Links struct {
	n          int
	local      Conditions
	links      []link // row-major: from*n + to
	generation int    // raised when a link appears or disappears: routes are stale
}

func newLinks(n int, local Conditions) *Links {
	return &Links{n: n, local: local, links: make([]link, n*n)}
}

func (l *Links) at(from, to int) *link { return &l.links[from*l.n+to] }

// Set gives the directed link these conditions, nominally and now, and makes it exist.
// It panics if a cluster does not exist or the conditions are out of range.
func (l *Links) Set(from, to int, c Conditions) {
	if from == to {
		panic(fmt.Sprintf("wan: no link from cluster %d to itself", from))
	}
	if err := c.check(); err != nil {
		panic("wan: " + err.Error())
	}
	k := l.at(from, to)
	k.nominal, k.now = c, c
	l.exist(k, true)
}

// change gives other conditions to a link without bringing it back if it was removed.
func (l *Links) change(from, to int, c Conditions) {
	k := l.at(from, to)
	if k.nominal.Bandwidth == 0 {
		l.exist(k, true)
	}
	k.nominal, k.now = c, c
}

// Remove takes the directed link away: messages are routed round it.
func (l *Links) Remove(from, to int) { l.exist(l.at(from, to), false) }

// Restore brings back a link that was removed. A link that was never set stays away.
func (l *Links) Restore(from, to int) {
	if k := l.at(from, to); k.nominal.Bandwidth > 0 {
		l.exist(k, true)
	}
}

func (l *Links) exist(k *link, exists bool) {
	if k.exists != exists {
		k.exists = exists
		l.generation++
	}
}

// Scale sets the present conditions to multiples of the nominal ones, within what is possible. It brings no link back
// that was removed.
func (l *Links) Scale(from, to int, bandwidth, latency float64) {
	k := l.at(from, to)
	k.now.Bandwidth = min(max(k.nominal.Bandwidth*bandwidth, minBandwidth), maxBandwidth)
	k.now.Latency = min(time.Duration(float64(k.nominal.Latency)*latency), maxLatency)
}

// Bound limits the queue of a directed link, in bytes; a message that finds more than that waiting is dropped.
// Zero removes the limit.
func (l *Links) Bound(from, to, bytes int) { l.at(from, to).queue = bytes }

// Conditions of the directed link now, and whether it exists. Between peers of one cluster they are the local ones.
func (l *Links) Conditions(from, to int) (Conditions, bool) {
	if from == to {
		return l.local, true
	}
	k := l.at(from, to)
	return k.now, k.exists
}

// Clusters is the number of clusters.
func (l *Links) Clusters() int { return l.n }

// An Upcall changes the conditions of links as time passes.
type Upcall interface {
	// Advance applies, in order, every change that is due at or before now, and returns when the next one is due
	// (Never if none is known). It is called with times that do not decrease.
	Advance(now time.Duration, links *Links) (next time.Duration)
}
