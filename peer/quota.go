package peer

import (
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// A quota says how much of the disk what others compute may take here: in all, a half of that for the runs of one
// owner, and for what one other peer has computed in whatever runs, and a quarter for one run. What a run has taken is
// estimated as it is written, and measured when it is at its bound, since compacting makes it less; whose it is of what
// was there when it was opened is found when that is read. Of this peer's own runs only the part of each other peer
// that has computed for them is bounded. What is left here of others' runs in which this peer takes no part now counts
// too, and makes way for those in which it does.
type quota struct {
	most   int64           // bytes; 0: as much as there is
	memory bool            // it is not of the disk, but of the index of what is there
	remove func(job.RunID) // has what rests of a run removed; it does not block

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

// Parts of the quota.
const (
	ownersPart  = 2
	sendersPart = 2
	runsPart    = 4
)

// enter begins to count a run; own says that it is this peer's.
func (q *quota) enter(run job.RunID, owner runs.PeerID, own bool, measure func() (int64, bool)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count(run, owner, measure)
	q.of[run].own = own
}

func (q *quota) count(run job.RunID, owner runs.PeerID, measure func() (int64, bool)) {
	if q.of == nil {
		q.of = map[job.RunID]*portion{}
	}
	has, _ := measure()
	q.of[run] = &portion{owner: owner, bytes: has, by: map[peer.ID]int64{}, measure: measure}
}

// allow changes how much of the disk it may be. What is there already stays.
func (q *quota) allow(most int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.most = most
	for _, p := range q.of {
		p.refused = false
	}
}

// lend takes bytes for what is no run's: what a name stands for, and all such together, are as a run and its owner are.
func (q *quota) lend(name job.RunID, n int64) (why string) {
	q.mu.Lock()
	if q.of[name] == nil {
		q.count(name, "", func() (int64, bool) { return 0, false })
	}
	q.mu.Unlock()
	if why, _ = q.take(name, "", n); why != "" {
		q.back(name, 0)
	}
	return why
}

// back gives back some of what was lent.
func (q *quota) back(name job.RunID, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.of[name]; p != nil {
		if p.bytes -= n; p.bytes == 0 {
			delete(q.of, name)
		}
	}
}

// found says of what was there of a run when it was opened who had computed it.
func (q *quota) found(run job.RunID, by map[peer.ID]int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.of[run]; p != nil {
		for id, n := range by {
			p.by[id] += n
		}
	}
}

// rest counts on what stays here of another's run that nobody writes any more.
func (q *quota) rest(run job.RunID, owner runs.PeerID, bytes int64) {
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

// counts says whether something is counted of a run.
func (q *quota) counts(run job.RunID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.of[run] != nil
}

// makeWay has what has rested for the longest removed, of what counts against somebody; false if there is none.
func (q *quota) makeWay(against func(*portion) bool) bool {
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
	q.remove(gone)
	return true
}

// leave gives back what a run had.
func (q *quota) leave(run job.RunID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.of, run)
}

// take takes so many bytes for a run, of what a peer has computed, "" for this one; why is not "" if it may not have
// them, and news the first time.
func (q *quota) take(run job.RunID, by peer.ID, n int64) (why string, news bool) {
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
func (q *quota) exceeded(p *portion, by peer.ID, n int64) (why string, against func(*portion) bool) {
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
		if q.memory {
			return fmt.Sprintf("the index of %s would be more than %d MiB of memory", whose, most>>20)
		}
		return fmt.Sprintf("%s on this peer's disk would be more than %d MiB: the setting run_disk", whose, most>>20)
	}
	switch {
	case q.most == 0:
	case by != "" && senders > q.most/sendersPart:
		return says("what "+by.String()+" has computed", q.most/sendersPart),
			func(o *portion) bool { return o.by[by] > 0 }
	case p.own:
	case p.bytes+n > q.most/runsPart:
		return says("what is kept of it", q.most/runsPart), func(*portion) bool { return false }
	case owners > q.most/ownersPart:
		return says("what is kept of its owner's runs", q.most/ownersPart),
			func(o *portion) bool { return o.owner == p.owner }
	case all > q.most:
		return says("what is kept of others' runs", q.most), func(*portion) bool { return true }
	}
	return "", nil
}
