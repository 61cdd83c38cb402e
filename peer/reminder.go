package peer

import "time"

// A reminder says when what gossip may lose is said again: some time after it was said, and then after twice as
// long each time, up to outEvery. So whoever was out of reach for a while hears of it at the latest after as long a
// time again, and what is old costs little. It is a pure core: it is told the time, and does nothing.
type reminder struct {
	next time.Time
	wait time.Duration
}

func (r *reminder) set(now time.Time, wait time.Duration) { r.wait, r.next = wait, now.Add(wait) }

func (r *reminder) due(now time.Time) bool {
	if now.Before(r.next) {
		return false
	}
	r.set(now, min(2*r.wait, outEvery))
	return true
}

// repeats are the last statements of a kind that this peer has made, which are told again in turn: the newest after
// tellAgain, for whoever has missed it or had no time to try it, then after twice as long each time, up to outEvery.
type repeats struct {
	list [][]byte
	turn int
	reminder
}

const tellAgain = 5 * time.Second

func (r *repeats) add(now time.Time, b []byte) {
	r.list = append(r.list, b)
	r.list = r.list[max(0, len(r.list)-maxProofsRepeated):]
	r.turn = len(r.list) - 2
	r.set(now, tellAgain)
}

// due is the one to be told now; nil if none is.
func (r *repeats) due(now time.Time) []byte {
	if len(r.list) == 0 || !r.reminder.due(now) {
		return nil
	}
	r.turn++
	return r.list[r.turn%len(r.list)]
}
