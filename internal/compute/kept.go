package compute

import (
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/port"
)

// Bounds on what workers keep for the loop.
const (
	maxKeptWaiting = 1024
	maxKeptBytes   = 8 << 20 // and one outcome more
	// keepShare is the part of the workers' time that encoding what is kept may take, one in so many, after
	// the first keepFree.
	keepShare = 100
	keepFree  = 100 * time.Millisecond
)

// keptQueue holds the outcomes of long jobs that workers have for the loop. It never blocks them: what does
// not fit is dropped.
type keptQueue struct {
	mu      sync.Mutex
	waiting []port.KeptJob
	bytes   int
	spent   time.Duration // by workers, to encode
}

// room says whether there is room and time for one more.
func (q *keptQueue) room(now time.Duration, workers int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) < maxKeptWaiting && q.bytes < maxKeptBytes &&
		q.spent <= keepFree+now*time.Duration(workers)/keepShare
}

// add puts one in, and says whether the loop is to come for it now: else the next pulse is soon enough, since each call
// wakes two processes. Several workers that were told of room for one may each have put theirs in.
func (q *keptQueue) add(took time.Duration, k port.KeptJob) (full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spent += took
	q.waiting = append(q.waiting, k)
	q.bytes += len(k.Partial.Outcome) + len(k.Job.Arg) + 4*(len(k.Partial.Path)+len(k.Job.Path))
	return 2*len(q.waiting) >= maxKeptWaiting || 2*q.bytes >= maxKeptBytes
}

// none says that there is nothing to put in after all.
func (q *keptQueue) none(took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spent += took
}

// take empties the queue.
func (q *keptQueue) take() (list []port.KeptJob) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.waiting, q.bytes = q.waiting, nil, 0
	return list
}
