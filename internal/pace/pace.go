// Package pace estimates when a job tree is done, from how its share that is done has grown.
//
// The share of a tree is an estimate itself: a job counts as its part of its parent's share, whatever becomes of it.
// So equal shares cost different times, and how different says how far an estimate may be off. [Meter] divides what is
// done into equal stretches; the rest is as many more of them, at the mean of their times, and the spread of these
// times makes a range of that. In random trees the range holds in three of four cases. Its ends are a factor of about
// two apart where the subtrees of a tree are alike, and of more where they are not (TestRangeHolds).
// Below [Least] of the tree nothing is said: the first leaves of an uneven tree have nothing to do with the others.
// Nor is a range that says nothing: its ends are far apart, and the run may go on for long.
package pace

import (
	"math"
	"slices"
	"time"
)

// Least is how much of a tree must be done for an estimate.
const Least = 0.05

// stretches is into how many parts what is done is divided: few, so that each has large subtrees in it.
const stretches = 4

// width is how many standard deviations the range has on each side: as few stretches know their spread badly.
const width = 2.5

// step is what of a tree must be done for a Meter to remember another time: it remembers at most so many.
const step = 1. / 256

// A range whose ends are more than a factor of tooWide apart is told only if the rest takes at most a part of the time
// that has passed already, one of soon: then it is nearly over.
const tooWide, soon = 10, 10

// MaxLeft is the longest time that is told.
const MaxLeft = 1000 * time.Hour

// A Left is how long a run will still take, at least and at most.
type Left struct{ Least, Most time.Duration }

// A Meter is told how much of one tree is done, now and then. Its zero value knows nothing.
type Meter struct {
	points []point // a step or more apart
	last   point
}

type point struct {
	at    time.Duration
	share float64
}

// Add says that so much of the tree, 0 to 1, was done at a time since its begin. What is less than before, in
// time or share, is ignored.
func (m *Meter) Add(at time.Duration, share float64) {
	if at <= m.last.at || !(share > m.last.share) || share > 1 {
		return
	}
	m.last = point{at, share}
	if n := len(m.points); n == 0 || share >= m.points[n-1].share+step {
		m.points = append(m.points, m.last)
	}
}

// Left estimates from that how long the rest takes from now on; false if that cannot be said yet, or not so
// that it helps.
func (m *Meter) Left(now time.Duration) (Left, bool) {
	left, known := m.estimate(now)
	if !known || left.Most/tooWide > left.Least && left.Most > now/soon {
		return Left{}, false
	}
	return left, true
}

// estimate is Left, however far the ends are apart.
func (m *Meter) estimate(now time.Duration) (left Left, known bool) {
	last := m.last
	if last.share < Least || len(m.points) < stretches {
		return Left{}, false
	}
	// A tree whose share has not grown for a while is in the middle of a large job: the time counts.
	now = max(now, last.at)
	mean := now.Seconds() / stretches
	squares, before := 0.0, 0.0
	for i := range stretches {
		reached := now.Seconds()
		if i < stretches-1 {
			reached = m.when(last.share * float64(i+1) / stretches)
		}
		squares += (reached - before - mean) * (reached - before - mean)
		before = reached
	}
	rest := stretches * (1 - last.share) / last.share // stretches to come
	spread := math.Sqrt(squares/(stretches-1)) / mean
	off := math.Exp(width * spread * math.Sqrt(1/max(rest, 1./stretches)+1./stretches))
	return Left{Least: bounded(rest * mean / off), Most: bounded(rest * mean * off)}, true
}

// when is the second in which a share was reached.
func (m *Meter) when(share float64) float64 {
	i, _ := slices.BinarySearchFunc(m.points, share, func(p point, share float64) int {
		if p.share < share {
			return -1
		}
		return 1
	})
	from, to := point{}, m.last
	if i < len(m.points) {
		to = m.points[i]
	}
	if i > 0 {
		from = m.points[i-1]
	}
	if to.share <= from.share {
		return to.at.Seconds()
	}
	return from.at.Seconds() + (to.at-from.at).Seconds()*(share-from.share)/(to.share-from.share)
}

func bounded(seconds float64) time.Duration {
	if !(seconds < MaxLeft.Seconds()) {
		return MaxLeft
	}
	return time.Duration(seconds * float64(time.Second))
}
