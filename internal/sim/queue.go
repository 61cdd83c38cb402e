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
)

// event is one entry of the queue. What number and message mean depends on what happens.
type event struct {
	at      int64  // virtual nanoseconds
	seq     uint64 // order among events of the same moment: first posted, first done
	what    happening
	peer    int32
	worker  int32
	number  uint64
	message *steal.Message
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is a heap of events with four children a node: shallower than a binary one, and the four lie together in the
// cache. Events are values, so posting one allocates nothing once the heap has grown.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) len() int { return len(q.heap) }

// post adds an event; it takes its place among those of the same moment behind all posted before.
func (q *queue) post(e event) {
	q.seq++
	e.seq = q.seq
	i := len(q.heap)
	q.heap = append(q.heap, e)
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

// next removes and returns the earliest event. The queue must not be empty.
func (q *queue) next() event {
	first := q.heap[0]
	last := len(q.heap) - 1
	e := q.heap[last]
	q.heap[last] = event{} // lets go of the message
	q.heap = q.heap[:last]
	if last == 0 {
		return first
	}
	i := 0
	for {
		firstChild := 4*i + 1
		if firstChild >= last {
			break
		}
		child := firstChild
		for c := firstChild + 1; c < min(firstChild+4, last); c++ {
			if q.heap[c].before(&q.heap[child]) {
				child = c
			}
		}
		if !q.heap[child].before(&e) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = e
	return first
}
