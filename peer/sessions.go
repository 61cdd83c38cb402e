package peer

import (
	"sync"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// sessions are those of the runs in progress, for messages: these must not wait for the conductor's mutex. A steal
// request that comes before its run waits here.
type sessions struct {
	live sync.Map // job.RunID -> *session.Session

	mu       sync.Mutex
	fetching map[job.RunID]int              // peers that are asked for the run's manifest
	waiting  map[job.RunID][]*steal.Message // requests for these runs
}

// of finds the session of a run in progress here; nil if there is none.
func (x *sessions) of(id job.RunID) *session.Session {
	if s, ok := x.live.Load(id); ok {
		return s.(*session.Session)
	}
	return nil
}

// expect says that a peer is asked for the manifest of a run.
func (x *sessions) expect(id job.RunID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fetching[id]++
}

// maxWaiting is how many requests for a run are kept while its manifest is being fetched.
const maxWaiting = 64

// await takes in a steal request for a run that this peer had no session of a moment ago. While the manifest is being
// fetched, the request waits for it: peers begin a run within some milliseconds of each other, and a request that is
// lost costs its sender all of steal.Config.StealTimeout, and in a small cluster the only neighbour it could ask
// meanwhile.
func (x *sessions) await(m *steal.Message) {
	x.mu.Lock()
	s := x.of(m.Run)
	if s == nil && x.fetching[m.Run] > 0 && len(x.waiting[m.Run]) < maxWaiting {
		x.waiting[m.Run] = append(x.waiting[m.Run], m)
	}
	x.mu.Unlock()
	if s != nil {
		s.Received(m)
	}
}

// fetched is the end of expect: what waited for the run is given to its session, which is live by now if there is one.
func (x *sessions) fetched(id job.RunID) {
	x.mu.Lock()
	if x.fetching[id]--; x.fetching[id] == 0 {
		delete(x.fetching, id)
	}
	s, list := x.of(id), x.waiting[id]
	if s != nil || x.fetching[id] == 0 { // else a second peer is still asked
		delete(x.waiting, id)
	}
	x.mu.Unlock()
	if s != nil {
		for _, m := range list {
			s.Received(m)
		}
	}
}
