package emulate

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/wan"
)

// The mapped file is words of 64 bits in the machine's own order: a header of one line, and a line of eight
// words, a cache line, for each directed pair of clusters, from*n + to.
const (
	lineWords = 8
	magic     = 0x32_6e61_7720_6e61 // changes with the layout

	headMagic      = 0
	headClusters   = 1
	headOrigin     = 2 // when the scenario began, ns of CLOCK_MONOTONIC
	headGeneration = 3 // changes by Set so far

	linkFree      = 0 // when the link has nothing more to transmit, ns of CLOCK_MONOTONIC
	linkVersion   = 1 // of the change below: odd while it is being written, 0 if there is none
	linkAt        = 2 // when it was made, since the origin
	linkState     = 3 // what was done
	linkBandwidth = 4 // bits of a float64
	linkLatency   = 5 // ns
	linkCarried   = 6 // bytes of the frames that have taken their turn
)

// What a change did to a link.
const (
	changeSet = 1 + iota
	changeRemove
	changeRestore
)

// links is the mapped file.
type links struct {
	words []atomic.Uint64
	n     int
}

func fileWords(n int) int { return lineWords * (1 + n*n) }

// attach looks at a mapped file and checks that it is one.
func attach(words []atomic.Uint64, clusters int, now time.Duration) (*links, error) {
	if len(words) != fileWords(clusters) || words[headMagic].Load() != magic ||
		words[headClusters].Load() != uint64(clusters) {
		return nil, fmt.Errorf(
			"the file of the links does not fit the emulation of %d clusters, or is of another version", clusters)
	}
	l := &links{words, clusters}
	if l.origin() > now {
		return nil, fmt.Errorf("the emulation was made before this machine was started; make another")
	}
	return l, nil
}

func (l *links) origin() time.Duration { return time.Duration(l.words[headOrigin].Load()) }

func (l *links) generation() uint64 { return l.words[headGeneration].Load() }

func (l *links) word(from, to, which int) *atomic.Uint64 {
	return &l.words[lineWords*(1+from*l.n+to)+which]
}

// occupy takes the next turn of so long on a link and returns when it ends. Turns of all processes follow
// each other without overlap: only one of those that saw the same end of the last turn gets the next.
func (l *links) occupy(from, to int, now, turn time.Duration) (end time.Duration) {
	free := l.word(from, to, linkFree)
	for {
		old := free.Load()
		end = max(now, time.Duration(old)) + turn
		if free.CompareAndSwap(old, uint64(end)) {
			return end
		}
	}
}

// carry counts the bytes of a frame on a link.
func (l *links) carry(from, to, bytes int) { l.word(from, to, linkCarried).Add(uint64(max(0, bytes))) }

// A change is what Set, Remove or Restore did to a link.
type change struct {
	from, to   int
	version    uint64
	at         time.Duration // since the origin
	state      uint64
	conditions wan.Conditions
}

// write publishes a change. The caller keeps other writers out, in all processes.
func (l *links) write(c change) {
	version := l.word(c.from, c.to, linkVersion)
	odd := version.Load() | 1 // it is odd already if a writer died here
	version.Store(odd)
	l.word(c.from, c.to, linkAt).Store(uint64(c.at))
	l.word(c.from, c.to, linkState).Store(c.state)
	l.word(c.from, c.to, linkBandwidth).Store(math.Float64bits(c.conditions.Bandwidth))
	l.word(c.from, c.to, linkLatency).Store(uint64(c.conditions.Latency))
	version.Store(odd + 1)
	l.words[headGeneration].Add(1)
}

// read gets the last change of a link: a copy that was whole at some moment. False if there is none, or one
// is being written: its writer raises the generation when it is done, so it will be looked for again.
func (l *links) read(from, to int) (c change, ok bool) {
	version := l.word(from, to, linkVersion)
	c = change{from: from, to: to, version: version.Load()}
	if c.version == 0 || c.version&1 != 0 {
		return c, false
	}
	c.at = time.Duration(l.word(from, to, linkAt).Load())
	c.state = l.word(from, to, linkState).Load()
	c.conditions.Bandwidth = math.Float64frombits(l.word(from, to, linkBandwidth).Load())
	c.conditions.Latency = time.Duration(l.word(from, to, linkLatency).Load())
	return c, version.Load() == c.version
}
