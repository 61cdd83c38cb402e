package driver

// fifo is a queue that reuses its memory: it is empty at the end of each call.
type fifo[T any] struct {
	list []T
	next int
}

func (q *fifo[T]) push(x T) { q.list = append(q.list, x) }

// pop takes the oldest. It is valid until the next pop, whatever is pushed meanwhile.
func (q *fifo[T]) pop() (*T, bool) {
	if q.next == len(q.list) {
		clear(q.list) // nothing is kept alive by it
		q.list, q.next = q.list[:0], 0
		return nil, false
	}
	q.next++
	return &q.list[q.next-1], true
}
