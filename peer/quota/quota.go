// Package quota bounds how much of this machine's disk, or of its memory, what others compute may take: no run, owner
// or member can fill it alone. It counts, and says what may be written and what makes way; package peer writes and
// removes. Everything may be called from any goroutine and does not block.
package quota

import (
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// A Quota says how much of the disk what others compute may take here: in all, a half of that for the runs of one
// owner, and for what one other peer has computed in whatever runs, and a quarter for one run. What a run has taken is
// estimated as it is written, and measured when it is at its bound, since compacting makes it less; whose it is of what
// was there when it was opened is found when that is read. Of this peer's own runs only the part of each other peer
// that has computed for them is bounded. What is left here of others' runs in which this peer takes no part now counts
// too, and makes way for those in which it does.
type Quota struct {
	Most   int64           // bytes; 0: as much as there is
	Memory bool            // it is not of the disk, but of the index of what is there
	Remove func(job.RunID) // has what rests of a run removed; it does not block

	mu     sync.Mutex
	of     map[job.RunID]*portion
	rested uint64 // runs, so far
}

// A portion is what one run has of it.
type portion struct {
	owner   runs.PeerID
	own     bool // it is this peer
	bytes   int64
	by      map[peer.ID]int64              // of bytes, by whoever has computed it; this peer is not in it
	measure func() (bytes int64, all bool) // what it has in truth; all: nothing waits to be written
	refused bool                           // that was said
	rests   uint64                         // the higher the later; 0: it is being written
}

// OwnersPart and RunsPart are which parts of a quota the runs of one owner, and one run, may have.
const (
	OwnersPart  = 2
	sendersPart = 2
	RunsPart    = 4
)

// Enter begins to count a run; own says that it is this peer's.
func (q *Quota) Enter(run job.RunID, owner runs.PeerID, own bool, measure func() (int64, bool)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count(run, owner, measure)
	q.of[run].own = own
}

func (q *Quota) count(run job.RunID, owner runs.PeerID, measure func() (int64, bool)) {
	if q.of == nil {
		q.of = map[job.RunID]*portion{}
	}
	has, _ := measure()
	q.of[run] = &portion{owner: owner, bytes: has, by: map[peer.ID]int64{}, measure: measure}
}

// Allow changes how much of the disk it may be. What is there already stays.
func (q *Quota) Allow(most int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.Most = most
	for _, p := range q.of {
		p.refused = false
	}
}

// Lend takes bytes for what is no run's: what a name stands for, and all such together, are as a run and its owner are.
func (q *Quota) Lend(name job.RunID, n int64) (why string) {
	q.mu.Lock()
	if q.of[name] == nil {
		q.count(name, "", func() (int64, bool) { return 0, false })
	}
	q.mu.Unlock()
	if why, _ = q.Take(name, "", n); why != "" {
		q.Back(name, 0)
	}
	return why
}

// Back gives back some of what was lent.
func (q *Quota) Back(name job.RunID, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.of[name]; p != nil {
		if p.bytes -= n; p.bytes == 0 {
			delete(q.of, name)
		}
	}
}

// Found says of what was there of a run when it was opened who had computed it.
func (q *Quota) Found(run job.RunID, by map[peer.ID]int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.of[run]; p != nil {
		for id, n := range by {
			p.by[id] += n
		}
	}
}

// Rest counts on what stays here of another's run that nobody writes any more.
func (q *Quota) Rest(run job.RunID, owner runs.PeerID, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	measure := func() (int64, bool) { return bytes, true }
	if q.of[run] == nil {
		q.count(run, owner, measure)
	}
	p := q.of[run]
	if p.own {
		delete(q.of, run)
		return
	}
	q.rested++
	p.bytes, p.measure, p.rests = bytes, measure, q.rested
}

// Has is what is counted of a run, in bytes, and whether anything is.
func (q *Quota) Has(run job.RunID) (bytes int64, counted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.of[run]
	if p == nil {
		return 0, false
	}
	return p.bytes, true
}

// Len is how many runs and names are counted.
func (q *Quota) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.of)
}

// makeWay has what has rested for the longest removed, of what counts against somebody; false if there is none.
func (q *Quota) makeWay(against func(*portion) bool) bool {
	var gone job.RunID
	for run, p := range q.of {
		if p.rests > 0 && against(p) && (q.of[gone] == nil || p.rests < q.of[gone].rests) {
			gone = run
		}
	}
	if q.of[gone] == nil {
		return false
	}
	delete(q.of, gone)
	q.Remove(gone)
	return true
}

// Leave gives back what a run had.
func (q *Quota) Leave(run job.RunID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.of, run)
}

// Take takes so many bytes for a run, of what a peer has computed, "" for this one; why is not "" if it may not have
// them, and news the first time.
func (q *Quota) Take(run job.RunID, by peer.ID, n int64) (why string, news bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.of[run]
	if p == nil {
		return "", false
	}
	why, against := q.exceeded(p, by, n)
	if why != "" {
		p.remeasure() // it costs no more than that
		why, against = q.exceeded(p, by, n)
	}
	for why != "" && q.makeWay(against) {
		why, against = q.exceeded(p, by, n)
	}
	if why == "" {
		p.bytes += n
		if by != "" {
			p.by[by] += n
		}
		return "", false
	}
	news, p.refused = !p.refused, true
	return why, news
}

// remeasure finds out what a run has in truth. Whose it is of what compacting has left is anybody's guess: each has its
// share.
func (p *portion) remeasure() {
	has, all := p.measure()
	if !all || p.bytes == 0 {
		return
	}
	for id, n := range p.by {
		p.by[id] = int64(float64(n) * float64(has) / float64(p.bytes))
	}
	p.bytes = has
}

// exceeded says which bound so many bytes more would break, and what counts against that; "" if none.
func (q *Quota) exceeded(p *portion, by peer.ID, n int64) (why string, against func(*portion) bool) {
	all, owners, senders := n, n, n
	for _, other := range q.of {
		senders += other.by[by]
		if other.own {
			continue
		}
		all += other.bytes
		if other.owner == p.owner {
			owners += other.bytes
		}
	}
	says := func(whose string, most int64) string {
		if q.Memory {
			return fmt.Sprintf("the index of %s would be more than %d MiB of memory", whose, most>>20)
		}
		return fmt.Sprintf("%s on this peer's disk would be more than %d MiB: the setting run_disk", whose, most>>20)
	}
	switch {
	case q.Most == 0:
	case by != "" && senders > q.Most/sendersPart:
		return says("what "+by.String()+" has computed", q.Most/sendersPart),
			func(o *portion) bool { return o.by[by] > 0 }
	case p.own:
	case p.bytes+n > q.Most/RunsPart:
		return says("what is kept of it", q.Most/RunsPart), func(*portion) bool { return false }
	case owners > q.Most/OwnersPart:
		return says("what is kept of its owner's runs", q.Most/OwnersPart),
			func(o *portion) bool { return o.owner == p.owner }
	case all > q.Most:
		return says("what is kept of others' runs", q.Most), func(*portion) bool { return true }
	}
	return "", nil
}
