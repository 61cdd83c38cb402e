package wan

import (
	"errors"
	"fmt"
	"time"
)

// Why a message does not arrive. Errors of Deliver and Forward are one of these.
var (
	// ErrNoRoute says that no path of existing links leads to the destination.
	ErrNoRoute = errors.New("wan: no route between the clusters")
	// ErrQueueFull says that a link's queue is full, so it dropped the message.
	ErrQueueFull = errors.New("wan: the link's queue is full")
)

// A Model is a network in use: its links, their queues and the upcalls that change them. Times are measured from an
// origin the caller chooses (the start of the run) and must not decrease from call to call.
type Model struct {
	sizes   []int
	links   *Links
	upcalls []upcall
	due     time.Duration // the earliest change of any upcall
	live    *Live         // nil until somebody asks for it
	routes  routes
}

type upcall struct {
	Upcall
	next time.Duration
}

// NewModel makes a network of clusters with these numbers of peers and no links between them.
// It panics if there are none, too many, or the local conditions are out of range.
func NewModel(sizes []int, local Conditions) *Model {
	if len(sizes) == 0 || len(sizes) > MaxClusters {
		panic(fmt.Sprintf("wan: %d clusters; 1 to %d are possible", len(sizes), MaxClusters))
	}
	if err := local.check(); err != nil {
		panic("wan: " + err.Error())
	}
	return &Model{sizes: append([]int(nil), sizes...), links: newLinks(len(sizes), local), due: Never}
}

// Uniform makes a network in which every pair of clusters is joined by a link of the same conditions each way.
func Uniform(sizes []int, local, between Conditions) *Model {
	m := NewModel(sizes, local)
	for from := range sizes {
		for to := range sizes {
			if from != to {
				m.links.Set(from, to, between)
			}
		}
	}
	return m
}

// Sizes returns the number of peers in each cluster.
func (m *Model) Sizes() []int { return append([]int(nil), m.sizes...) }

// Links is the state of the network, for reading and for changing it by hand.
func (m *Model) Links() *Links { return m.links }

// Add puts an upcall in charge of what it changes. Upcalls that change the same link at the same time act in
// the order in which they were added. The first changes are applied when the model is next advanced.
func (m *Model) Add(u Upcall) {
	m.upcalls = append(m.upcalls, upcall{Upcall: u})
	m.due = 0
}

// Advance applies the changes that are due at or before now and returns when the next one is.
// Deliver and Forward call it; a caller needs it only to look at Links in between.
func (m *Model) Advance(now time.Duration) (next time.Duration) {
	if m.due <= now {
		m.runUpcalls(now)
	}
	if m.live != nil && m.live.waiting.Load() {
		m.live.apply(m.links)
	}
	return m.due
}

func (m *Model) runUpcalls(now time.Duration) {
	for m.due <= now {
		// One moment at a time, so that upcalls interleave in the order of their changes.
		moment := m.due
		m.due = Never
		for i := 0; i < len(m.upcalls); i++ { // a script may add one (measure), so no range
			if m.upcalls[i].next <= moment {
				next := m.upcalls[i].Advance(moment, m.links)
				if next <= moment {
					panic(fmt.Sprintf("wan: an upcall at %v announced its next change for %v", moment, next))
				}
				m.upcalls[i].next = next
			}
			m.due = min(m.due, m.upcalls[i].next)
		}
	}
}

// Deliver sends a message of that many bytes from a peer of one cluster to a peer of another (or the same)
// and returns when it arrives. A message that is routed over several links reserves all of them now, which
// keeps the call simple but lets it take the place of one that reaches the second link earlier and is sent
// later; [Model.Forward] is exact.
func (m *Model) Deliver(now time.Duration, from, to, bytes int) (arrival time.Duration, err error) {
	m.Advance(now)
	for at := from; ; {
		next, when, err := m.hop(now, at, to, bytes)
		if err != nil || next == to {
			return when, err
		}
		at, now = next, when
	}
}

// Forward sends a message over the first link of its route and returns the cluster it reaches and when. If
// that is not its destination the caller forwards it from there at that time: store and forward, one queue a
// link.
func (m *Model) Forward(now time.Duration, from, to, bytes int) (next int, when time.Duration, err error) {
	m.Advance(now)
	return m.hop(now, from, to, bytes)
}

// Spread sends a message of that many bytes to every cluster, over each link of its routes once, as gossip travels, and
// returns when it arrives at each: at once where it is from, [Never] where there is no route or a queue is full.
// As in [Model.Deliver] all links are reserved now.
func (m *Model) Spread(now time.Duration, from, bytes int) []time.Duration {
	m.Advance(now)
	arrives := make([]time.Duration, len(m.sizes))
	for i := range arrives {
		arrives[i] = -1 // the message has not been sent there yet
	}
	arrives[from] = now
	for to := range arrives {
		for at := from; at != to && arrives[to] < 0; {
			next := m.routes.next(m.links, at, to)
			if next < 0 || arrives[at] == Never {
				arrives[to] = Never
				break
			}
			if arrives[next] < 0 {
				arrives[next] = Never
				if _, when, err := m.hop(arrives[at], at, to, bytes); err == nil {
					arrives[next] = when
				}
			}
			at = next
		}
	}
	return arrives
}

func (m *Model) hop(now time.Duration, from, to, bytes int) (next int, when time.Duration, err error) {
	if from == to {
		// A switched local network: no queue is shared.
		return to, now + m.links.local.Transmission(bytes) + m.links.local.Latency, nil
	}
	next = m.routes.next(m.links, from, to)
	if next < 0 {
		return from, now, ErrNoRoute
	}
	k := m.links.at(from, next)
	start := max(now, k.busy)
	if k.queue > 0 && float64(start-now)/1e9*k.now.Bandwidth > float64(k.queue) {
		return from, now, ErrQueueFull
	}
	k.busy = start + k.now.Transmission(bytes)
	return next, k.busy + k.now.Latency, nil
}

// Backlog is how long a message handed to the directed link now would wait before its own transmission begins.
func (m *Model) Backlog(now time.Duration, from, to int) time.Duration {
	if from == to {
		return 0
	}
	return max(0, m.links.at(from, to).busy-now)
}
