package sharedobj

import "time"

// window says how many pieces may be on their way from one source. It grows by half with each window of pieces that
// come in time, and shrinks when they are lost or queue up on the way: so a link stays full, and what else uses it
// waits little.
type window struct {
	most  int
	size  int
	in    int           // pieces since it last grew
	least time.Duration // the shortest time that a piece took
	usual time.Duration // smoothed
}

// leastWindow is two pieces, 32 KiB: what a steal beside it hardly notices on a slow link.
const leastWindow = 2

// queueing is what a piece may take in any case, however near its source, before the window shrinks; else it is twice
// the shortest time. What takes longer waits in a queue, and a steal behind it.
const queueing = 50 * time.Millisecond

func newWindow(most int) window { return window{most: max(leastWindow, most), size: leastWindow} }

// came is called for a piece that took so long.
func (w *window) came(took time.Duration) {
	if w.least == 0 || took < w.least {
		w.least = took
	}
	w.measure(took)
	if took > max(queueing, 2*w.least) {
		w.size, w.in = max(leastWindow, w.size-1), 0
		return
	}
	if w.in++; w.in >= w.size {
		w.size, w.in = min(w.most, w.size+max(1, w.size/2)), 0
	}
}

// measure smooths how long something takes.
func (w *window) measure(took time.Duration) {
	if w.usual == 0 {
		w.usual = took
	}
	w.usual += (took - w.usual) / 8
}

// answered is called for a question that took so long: how long tells nothing of the link, as who is asked may have to
// ask others.
func (w *window) answered(took time.Duration) {
	w.measure(took)
	w.size = min(w.most, w.size+1)
}

// lost is called for one that did not come.
func (w *window) lost() { w.size, w.in = max(leastWindow, w.size/2), 0 }

// timeout is how long to wait for a piece.
func (w *window) timeout(least time.Duration) time.Duration { return least + min(4*w.usual, mostWait) }

// mostWait bounds it: a source that is slower each time would be waited for ever longer.
const mostWait = 30 * time.Second
