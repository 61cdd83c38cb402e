package runlife

import (
	"time"

	"github.com/satin-peer/satin/internal/wallclock"
)

// In some schedules the clocks on members' walls are wrong for a while: set by some seconds, or by years, forward or
// back, by hand or by a time server, or they begin years back at a start, without a battery.

// epoch is what clocks show at the beginning, in seconds since 1970.
const epoch = 1_800_000_000

// clock is what a member reads: the date on its wall, and how much time has passed.
func (m *member) clock() time.Time {
	return wallclock.Time(time.Unix(epoch, 0).Add(m.w.now+m.off), m.w.now)
}

const (
	day  = 24 * time.Hour
	year = 365 * day
	// doubt is for how long a date must have been there before anything is over by it, and behind how long a clock is
	// behind at most. One that is ahead is so for less than that.
	doubt  = time.Minute
	behind = 2 * doubt
)

// missetting draws by how much a clock is wrong.
func (w *world) missetting() time.Duration {
	most := []time.Duration{10 * time.Second, 2 * time.Hour, 100 * day, 40 * year}[w.clocks.IntN(4)]
	off := time.Duration(w.clocks.Int64N(int64(most)))
	if w.clocks.IntN(2) == 0 {
		return -off
	}
	return off
}

// misset has a member's clock be wrong for a while, unless it is already.
func (w *world) misset(m *member, off time.Duration) {
	if m.off != 0 || w.calm {
		return
	}
	most := behind
	if off > 0 {
		most = doubt - 10*time.Second // and what is known at a start
	}
	m.off = off
	w.counts.Misset++
	w.say("%s: the clock is wrong by %s", m.id, off)
	w.after(time.Second+time.Duration(w.clocks.Int64N(int64(most))), func() {
		m.off = 0
		w.say("%s: the clock is right again", m.id)
	})
}

// discharge has a member's clock be wrong when it starts, perhaps: without a battery it begins years back.
func (w *world) discharge(m *member) {
	if w.clocks == nil || w.clocks.IntN(3) > 0 {
		return
	}
	off := -20*year - time.Duration(w.clocks.Int64N(int64(20*year)))
	if w.clocks.IntN(2) == 0 {
		off = w.missetting()
	}
	w.misset(m, off)
}

// outdated says whether a run was over by its manifest before it began, since its owner's clock was behind.
func (p *project) outdated() bool {
	return p.manifest.Expires <= epoch+int64((troubled+quiet)/time.Second)
}
