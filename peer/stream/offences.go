package stream

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// offences remembers who has misbehaved.
type offences struct {
	mu       sync.Mutex
	of       map[peer.ID]*record
	refusing atomic.Int32 // records with a refusal that may last: nothing is looked up while there are none
}

type record struct {
	since   time.Time // the window began
	n       int
	refused time.Time // until then; zero: is not
}

// maxRecords bounds the memory. A flood of identities that misbehave costs each of them a connection, and one
// that is not remembered is reset all the same.
const maxRecords = 4096

func (o *offences) add(id peer.ID, now time.Time, cfg Config) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[peer.ID]*record{}
	}
	r := o.of[id]
	if r == nil {
		if len(o.of) >= maxRecords {
			return
		}
		r = &record{since: now}
		o.of[id] = r
	}
	if now.Sub(r.since) > cfg.OffenceWindow {
		r.since, r.n = now, 0
	}
	if r.n++; r.n < cfg.Offences {
		return
	}
	if r.refused.IsZero() {
		o.refusing.Add(1)
	}
	r.refused, r.n, r.since = now.Add(cfg.RefuseFor), 0, now
}

func (o *offences) refuses(id peer.ID) bool {
	if o.refusing.Load() == 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.of[id]
	return r != nil && time.Now().Before(r.refused)
}

// forget drops what is over.
func (o *offences) forget(now time.Time, cfg Config) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, r := range o.of {
		if now.Sub(r.since) > cfg.OffenceWindow && now.After(r.refused) {
			if !r.refused.IsZero() {
				o.refusing.Add(-1)
			}
			delete(o.of, id)
		}
	}
}
