package pipe

import (
	"container/list"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// A queue is the orders that wait to be written. What others send without having been asked comes to the engine as
// shared values (Here), and is forgotten again when more of it comes: of an engine that gets no core both would wait
// without end. So a value that is forgotten before it was begun is taken out, and Forget with it: of values there wait
// no more than are held, for whose bytes their senders pay (sharedobj/senders.go). What a job in the middle of its work
// waits for (Awaited) stays, and so does what the engine may have made itself meanwhile.
type queue struct {
	list   list.List // of waiting
	values map[sharedobj.Digest]*list.Element
	bytes  int
}

type waiting struct {
	frames []byte
	value  sharedobj.Digest // zero: this is not taken out
}

// add queues an order, of which the frames, or the rest of them if it was begun, are to be written.
func (q *queue) add(o *port.Order, frames []byte, begun bool) {
	w := waiting{frames: frames}
	value := o.Kind == port.Here && o.Shared.Ticket == 0
	if value && !o.Shared.Awaited && !begun {
		w.value = o.Shared.Digest
	}
	at := q.list.PushBack(w)
	q.bytes += len(frames)
	switch {
	case w.value != (sharedobj.Digest{}):
		if q.values == nil {
			q.values = make(map[sharedobj.Digest]*list.Element)
		}
		q.values[w.value] = at
	case value:
		delete(q.values, o.Shared.Digest) // both are written, as is what forgets them
	}
}

// drop takes a value out that an order forgets; false if none of it waits.
func (q *queue) drop(o *port.Order) bool {
	if o.Kind != port.Forget {
		return false
	}
	at := q.values[o.Shared.Digest]
	if at != nil {
		q.take(at)
	}
	return at != nil
}

// made has what is told of a version wait until it is written: the engine has it.
func (q *queue) made(d sharedobj.Digest) { delete(q.values, d) }

func (q *queue) take(at *list.Element) []byte {
	w := q.list.Remove(at).(waiting)
	q.bytes -= len(w.frames)
	if q.values[w.value] == at {
		delete(q.values, w.value)
	}
	return w.frames
}

// next gives what is to be written next: about as much as one frame may have, one order at least; nil for nothing.
func (q *queue) next() (orders [][]byte) {
	for n := 0; n < partSize && q.list.Len() > 0; {
		orders = append(orders, q.take(q.list.Front()))
		n += len(orders[len(orders)-1])
	}
	return orders
}
