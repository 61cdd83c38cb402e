package wan

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Live sets conditions while the network is in use, for a person or a program that watches it (the paper's
// TCP upcall). Its methods may be called from any goroutine; a change takes effect when the model is next
// used, before the next message. What a script or trace sets later replaces it.
type Live struct {
	clusters int
	waiting  atomic.Bool // pending is not empty: looked at for every message, so not behind the lock
	mu       sync.Mutex
	pending  []func(*Links)
}

// Live is the handle by which others change this network. There is one a model.
func (m *Model) Live() *Live {
	if m.live == nil {
		m.live = &Live{clusters: len(m.sizes)}
	}
	return m.live
}

// Set gives the directed link (clusters from 0) other conditions. It fails if they or the clusters are out of range.
func (l *Live) Set(from, to int, c Conditions) error {
	if err := c.check(); err != nil {
		return err
	}
	return l.change(from, to, func(links *Links) { links.Set(from, to, c) })
}

// Remove takes the directed link away.
func (l *Live) Remove(from, to int) error {
	return l.change(from, to, func(links *Links) { links.Remove(from, to) })
}

// Restore brings back a directed link that was removed.
func (l *Live) Restore(from, to int) error {
	return l.change(from, to, func(links *Links) { links.Restore(from, to) })
}

func (l *Live) change(from, to int, f func(*Links)) error {
	if min(from, to) < 0 || max(from, to) >= l.clusters || from == to {
		return fmt.Errorf("no link from cluster %d to cluster %d; clusters are 0 to %d", from, to, l.clusters-1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, f)
	l.waiting.Store(true)
	return nil
}

// apply makes the changes that wait.
func (l *Live) apply(links *Links) {
	l.mu.Lock()
	pending := l.pending
	l.pending = nil
	l.waiting.Store(false)
	l.mu.Unlock()
	for _, f := range pending {
		f(links)
	}
}
