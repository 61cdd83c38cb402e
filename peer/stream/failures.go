package stream

import (
	"sync"

	"github.com/satin-peer/satin/steal"
)

// failures are messages whose failure is still to be reported. Send may be called by who handles the report,
// so it only leaves a note here.
type failures struct {
	mu   sync.Mutex
	list []failure
	wake chan struct{}
}

type failure struct {
	letter
	why error
}

// maxFailures bounds the list if the handler is slow; what is beyond is counted and not reported, which costs
// its sender time.
const maxFailures = 16 << 10

func (t *Transport) fail(m *steal.Message, why error) { t.lose(letter{m: m}, why) }

func (t *Transport) lose(l letter, why error) {
	t.count.failed.Add(1)
	f := &t.failures
	f.mu.Lock()
	if len(f.list) < maxFailures {
		f.list = append(f.list, failure{l, why})
	} else {
		t.count.unreported.Add(1)
	}
	f.mu.Unlock()
	poke(f.wake)
}

func (t *Transport) reportFailures() {
	f := &t.failures
	for {
		select {
		case <-f.wake:
		case <-t.ctx.Done():
			return
		}
		f.mu.Lock()
		list := f.list
		f.list = nil
		f.mu.Unlock()
		for _, e := range list {
			if t.ctx.Err() != nil {
				return
			}
			if e.shared != nil {
				t.handler.SharedFailed(e.shared, e.why)
			} else {
				t.handler.Failed(e.m, e.why)
			}
		}
	}
}
