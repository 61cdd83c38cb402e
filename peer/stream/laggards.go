package stream

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Room for a long result is set aside when it begins, so whoever brings one slowly keeps others from theirs. A transfer
// is late when it has had lateAfter, and the time that all which its sender has begun takes at latePace. As long as
// nobody lacks its room it goes on; when somebody does, its stream is cut off. As it would begin again at once, its
// sender is remembered for slowFor: what it brings then is late from its beginning, and while anybody has lacked room
// within lackFor it may have no more than leaves half of all to others.
const (
	lateAfter = time.Minute
	latePace  = 64 << 10 // bytes a second
	slowFor   = time.Hour
	lackFor   = time.Minute // somebody who was refused tries again twice meanwhile
	maxSlow   = 4096
)

// laggards are those who were late, and the streams on which long results come.
type laggards struct {
	mu      sync.Mutex
	readers map[*bulkReader]struct{}
	slow    map[peer.ID]time.Time // until then
	lack    time.Time             // when somebody else was refused
}

func (l *laggards) enter(r *bulkReader) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == nil {
		l.readers, l.slow = map[*bulkReader]struct{}{}, map[peer.ID]time.Time{}
	}
	l.readers[r] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, r)
	}
}

// knows says whether a peer was late, and lacks whether somebody else lacked room lately.
func (l *laggards) knows(id peer.ID) (slow, lacks bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return now.Before(l.slow[id]), now.Sub(l.lack) < lackFor
}

// cut cuts off the streams that are late, as somebody lacks room.
func (l *laggards) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lack = time.Now()
	for id, until := range l.slow {
		if l.lack.After(until) {
			delete(l.slow, id)
		}
	}
	for r := range l.readers {
		if r.late() {
			if len(l.slow) < maxSlow {
				l.slow[r.p.id] = l.lack.Add(slowFor)
			}
			_ = r.stream.Reset()
		}
	}
}

// clock is the time that a reader has had for what comes: without that in which what came waited here.
func (r *bulkReader) clock() int64 { return r.p.t.clock() - r.waited.Load() }

func (r *bulkReader) late() bool {
	due := r.due.Load()
	return due != 0 && !r.waits.Load() && r.clock() > due
}

// waiting does what may have the sender wait.
func (r *bulkReader) waiting(f func()) {
	began := time.Now()
	r.waits.Store(true)
	f()
	r.waited.Add(int64(time.Since(began)))
	r.waits.Store(false)
}

// allow is until when, by the reader's clock, a transfer is not late that begins now.
func (r *bulkReader) allow() int64 {
	if slow, _ := r.p.t.late.knows(r.p.id); slow {
		return r.clock()
	}
	return r.clock() + int64(lateAfter) + r.p.memory.Load()*int64(time.Second)/latePace
}

// dueNext notes when the first of what is coming is late.
func (r *bulkReader) dueNext() {
	due := int64(0)
	for _, in := range r.coming {
		if due == 0 || in.due < due {
			due = in.due
		}
	}
	r.due.Store(due)
}
