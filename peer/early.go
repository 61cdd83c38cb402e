package peer

import (
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// maxEarly is how many requests for a run are kept while its manifest is being fetched.
const maxEarly = 64

// early takes in a steal request for a run that this peer had no session of a moment ago. While the manifest
// is being fetched, the request waits for it: peers begin a run within some milliseconds of each other, and a
// request that is lost costs its sender all of steal.Config.StealTimeout, and in a small cluster the only
// neighbour it could ask meanwhile.
func (t *runs) early(m *steal.Message) {
	t.mu.Lock()
	s := t.sessionOf(m.Run)
	if _, fetched := t.fetching[m.Run]; s == nil && fetched && len(t.waiting[m.Run]) < maxEarly {
		t.waiting[m.Run] = append(t.waiting[m.Run], m)
	}
	t.mu.Unlock()
	if s != nil {
		s.Received(m)
	}
}

// fetched ends the fetching of a run. What waited for it goes to its session, if it has got one.
func (t *runs) fetched(id job.RunID) {
	t.mu.Lock()
	delete(t.fetching, id)
	list, s := t.waiting[id], t.sessionOf(id)
	delete(t.waiting, id)
	t.mu.Unlock()
	if s != nil {
		for _, m := range list {
			s.Received(m)
		}
	}
}
