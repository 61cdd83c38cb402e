package sim

import "github.com/satin-peer/satin/steal"

// happening says what an event is about.
type happening uint8

const (
	leafDone     happening = iota // a worker has used up the cost of its job
	messageCame                   // a message reaches its receiver
	messageHop                    // a message reaches a cluster on its way
	bulkHop                       // a chunk of a large message reaches a cluster on its way
	bulkCame                      // it reaches the receiver
	bulkAcked                     // its sender hears of that
	tickDue                       // a core wants to be ticked
	takeServed                    // a peer's engine answers a Take order
	sendRefused                   // a transport tells its core that a message was not sent
	membersHeard                  // a peer learns who takes part
	peerStarts                    // a peer's first moment
	faultDue                      // a fault begins or ends
	newsCame                      // what was told to everybody reaches a peer
	cancelHeard                   // a peer hears that the run is cancelled
	lookDue                       // the swarm as a whole is looked at
	adaptDue                      // the coordinator's period is over
	rosterHeard                   // a peer hears that it is not to take part
	recruitComes                  // somebody who was asked for is there
	sharedDue                     // something of what is shared
)

// event is one entry of the queue. What number and message mean depends on what happens.
type event struct {
	at      int64 // virtual nanoseconds
	what    happening
	peer    int32
	worker  int32
	number  uint64
	message *steal.Message
	news    *steal.News
	do      func() // of sharedDue
}

// queue is a heap of events with four children a node: shallower than a binary one, and the four lie together
// in the cache. What is moved about in it is only when an event is due; the events stay in slots, which are
// used again. So posting one allocates nothing once the heap has grown, and tells the garbage collector
// nothing of the moves.
type queue struct {
	heap  []due
	slots []event
	free  []int32
	seq   uint64
}

// due says when an event comes: by time, and first posted, first done in the same moment.
type due struct {
	at   int64
	seq  uint64
	slot int32
}

func (d *due) before(o *due) bool { return d.at < o.at || d.at == o.at && d.seq < o.seq }

func (q *queue) len() int { return len(q.heap) }

// nextAt is when the next event comes; there must be one.
func (q *queue) nextAt() int64 { return q.heap[0].at }

// post adds an event; it takes its place among those of the same moment behind all posted before.
func (q *queue) post(e event) {
	q.seq++
	d := due{e.at, q.seq, q.store(&e)}
	i := len(q.heap)
	q.heap = append(q.heap, d)
	for i > 0 {
		parent := (i - 1) / 4
		if !d.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = d
}

func (q *queue) store(e *event) int32 {
	if len(q.free) == 0 {
		q.slots = append(q.slots, *e)
		return int32(len(q.slots) - 1)
	}
	slot := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	q.slots[slot] = *e
	return slot
}

// next removes and returns the earliest event. The queue must not be empty.
func (q *queue) next() event {
	slot := q.heap[0].slot
	first := q.slots[slot]
	q.slots[slot].message, q.slots[slot].news, q.slots[slot].do = nil, nil, nil // lets go of them
	q.free = append(q.free, slot)
	last := len(q.heap) - 1
	d := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.sink(d)
	}
	return first
}

// sink finds the place of an entry, beginning at the top, whose own entry is gone.
func (q *queue) sink(d due) {
	i, h := 0, q.heap
	for {
		firstChild := 4*i + 1
		if firstChild >= len(h) {
			break
		}
		child := firstChild
		for c := firstChild + 1; c < min(firstChild+4, len(h)); c++ {
			if h[c].before(&h[child]) {
				child = c
			}
		}
		if !h[child].before(&d) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = d
}
