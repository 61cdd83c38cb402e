package peer

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// A memory says how much of this process's memory what others give to it may take, over all runs: jobs, results that
// are on their way home, outcomes that are kept, handed over or unproved, tuples. One run may have a half of it, and so
// may the runs of one owner, and all that one member has sent in whatever runs. In an own run only what others have
// sent counts. (Long results that are still coming have bounds of their own; what jobs share: see objects.go.)
type memory struct {
	most      int64 // bytes; 0: as much as there is
	shareable int64 // bytes for what the jobs of others' runs share; 0: not bounded over all of them
	limit     int64 // that the collector was told of last

	mu sync.Mutex
	of map[job.RunID]*holding
}

// A holding is what one run has of it.
type holding struct {
	owner   runs.PeerID
	own     bool
	all     int64
	from    map[steal.PeerID]int64 // of all, by whoever has sent it
	refused string                 // why something was, last
	say     func(why string)       // the first refusal

	shared int64                      // bytes of what its jobs share
	sent   map[sharedobj.PeerID]int64 // of these, by whoever has sent them unasked, and in all (""); of own runs too
	beyond time.Time                  // since when what its jobs have made is more than it may have; zero: it is not
	wanted bool                       // another run was refused since it was asked
}

// memoryPart is the part that one run, owner or sender may have.
const memoryPart = 2

// enter begins to count a run.
func (q *memory) enter(run job.RunID, owner runs.PeerID, own bool, say func(why string)) steal.Room {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		q.of = map[job.RunID]*holding{}
	}
	h := &holding{owner: owner, own: own, from: map[steal.PeerID]int64{}, sent: map[sharedobj.PeerID]int64{}, say: say}
	q.of[run] = h
	return &roomIn{q, h}
}

// leave gives back what a run had.
func (q *memory) leave(run job.RunID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.of, run)
}

// trouble is why something of a run was refused last; "" if nothing was.
func (q *memory) trouble(run job.RunID) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.of[run]; h != nil {
		return h.refused
	}
	return ""
}

// divide gives manifests, and long results that are coming, a quarter of so many bytes each; what is left of them is
// the memory's.
func (q *memory) divide(most int64, r *runs.Config, s *stream.Config) {
	if most <= 0 {
		return
	}
	q.most = most / 2
	r.ManifestBytes = int(most / 4)
	s.BulkMemoryTotal = max(wire.MaxValue, int(most/5)) // and a quarter more: see its comment
	s.BulkMemory = max(wire.MaxValue, s.BulkMemoryTotal/2)
}

// collect has the collector come sooner than it would when this process takes more than what it needs itself, and what
// others have given to it now, come to; a limit that the user has given to it stays. What a flood leaves behind is
// gone soon, and a peer that has much to do by itself, with a thousand members or so, is not collected all the time.
func (q *memory) collect(parts []*part, coming int64) {
	given := coming
	for _, r := range parts {
		given += 2 * (int64(len(r.manifest.Sealed)) + int64(r.session.Stats().Shared.BytesHeld))
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	q.collectBeside(given, int64(live[0].Value.Uint64()))
}

func (q *memory) collectBeside(given, live int64) {
	if q.most == 0 || q.limit == 0 && debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	q.limit = ownNeed + max(q.used()+given+q.most/2, live+live/4)
	debug.SetMemoryLimit(q.limit)
}

// ownNeed is what a peer takes that has nothing of others. The pages of its file are not the collector's.
const ownNeed = 16 << 20

// used is what all runs have.
func (q *memory) used() (n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range q.of {
		n += h.all
	}
	return n
}

// exceeded says which bound so many bytes more would break; "" if none. The mutex is held.
func (q *memory) exceeded(h *holding, from steal.PeerID, n int64) string {
	all, owners, senders := n, n, n
	for _, other := range q.of {
		all += other.all
		senders += other.from[from]
		if other.owner == h.owner {
			owners += other.all
		}
	}
	says := func(what string, most int64) string {
		return fmt.Sprintf("%s would be more than %d MiB of this peer's memory: the setting run_memory", what, most>>20)
	}
	switch part := q.most / memoryPart; {
	case from != "" && senders > part:
		return says("what "+string(from)+" has sent", part)
	case !h.own && h.all+n > part:
		return says("what is held of it", part)
	case !h.own && owners > part:
		return says("what is held of its owner's runs", part)
	case all > q.most:
		return says("what is held of others", q.most)
	}
	return ""
}

// A roomIn is the memory as the core of one run sees it.
type roomIn struct {
	q *memory
	h *holding
}

// Take implements steal.Room.
func (r *roomIn) Take(from steal.PeerID, bytes int, must bool) bool {
	n := int64(bytes)
	if r.h.own && from == "" {
		return true
	}
	r.q.mu.Lock()
	why := ""
	if r.q.most > 0 {
		why = r.q.exceeded(r.h, from, n)
	}
	first := why != "" && r.h.refused == ""
	if why != "" {
		r.h.refused = why
	}
	if why == "" || must {
		r.h.all += n
		r.h.from[from] += n
	}
	r.q.mu.Unlock()
	if first && r.h.say != nil {
		r.h.say(why)
	}
	return why == ""
}

// Give implements steal.Room.
func (r *roomIn) Give(from steal.PeerID, bytes int) {
	if r.h.own && from == "" {
		return
	}
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.h.all -= int64(bytes)
	if r.h.from[from] -= int64(bytes); r.h.from[from] == 0 {
		delete(r.h.from, from)
	}
}
