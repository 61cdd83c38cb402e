package emulate

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// An Emulator is one process's end of the emulated network.
type Emulator struct {
	names     []string
	me        int
	clusterOf func(steal.PeerID) string
	links     *links
	mapping   *mapping
	clock     func() time.Duration // CLOCK_MONOTONIC

	mu         sync.Mutex
	model      *wan.Model
	seen       []uint64 // versions of changes taken over, by link
	generation uint64   // of the links when they were last looked through
}

// Lost is what Arrive answers for a frame that no route leads here.
const Lost time.Duration = -1

// Open joins the emulation in dir as a peer of the cluster of that name. ClusterOf says in which cluster
// another peer is; a name that the scenario does not have ("" for a peer that is not known yet) means that
// its frames are not held. It is called by Arrive, and by nothing else, and must not block.
func Open(dir, cluster string, clusterOf func(steal.PeerID) string) (*Emulator, error) {
	return open(dir, cluster, clusterOf, monotonic)
}

func open(dir, cluster string, clusterOf func(steal.PeerID) string, clock func() time.Duration) (*Emulator, error) {
	described, scenario, err := readEmulation(dir)
	if err != nil {
		return nil, err
	}
	me := slices.Index(described.Clusters, cluster)
	if me < 0 {
		return nil, fmt.Errorf("the emulation in %s has no cluster %q, only %q", dir, cluster, described.Clusters)
	}
	m, err := openMapping(dir)
	if err != nil {
		return nil, err
	}
	l, err := attach(m.words, len(described.Clusters), clock())
	if err != nil {
		_ = m.close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	e := &Emulator{names: described.Clusters, me: me, clusterOf: clusterOf, links: l, mapping: m, clock: clock,
		model: scenario.NewModel(described.Seed), seen: make([]uint64, len(described.Clusters)*len(described.Clusters))}
	e.adopt()
	return e, nil
}

// Arrive says how long to hold a frame of so many bytes that has just come from a peer, and takes the frame's
// turn on the links in between; Lost if there is no way. It implements stream.Delay.
func (e *Emulator) Arrive(from steal.PeerID, bytes int) time.Duration {
	at := slices.Index(e.names, e.clusterOf(from))
	if at < 0 || at == e.me {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.links.generation() != e.generation {
		e.adopt()
	}
	now := e.clock()
	script := now - e.links.origin()
	arrival := now
	for at != e.me {
		// A message of no bytes takes no time of the model's own links: it only asks for the way.
		next, _, err := e.model.Forward(script, at, e.me, 0)
		if err != nil {
			return Lost
		}
		c, _ := e.model.Links().Conditions(at, next)
		arrival = e.links.occupy(at, next, arrival, c.Transmission(bytes)) + c.Latency
		e.links.carry(at, next, bytes)
		at = next
	}
	return arrival - now
}

// adopt takes over changes that were made since it was last called, in the order in which they were made. The
// model is led through the times of the changes, so that a process that comes later knows which were replaced
// by the script since. e.mu is held, or nobody else has e yet.
func (e *Emulator) adopt() {
	e.generation = e.links.generation()
	now := e.clock() - e.links.origin()
	var fresh []change
	n := len(e.names)
	for from := range n {
		for to := range n {
			c, ok := e.links.read(from, to)
			if ok && c.version != e.seen[from*n+to] {
				e.seen[from*n+to] = c.version
				c.at = min(max(c.at, 0), now) // a broken file must not lead the model to the end of time
				fresh = append(fresh, c)
			}
		}
	}
	slices.SortStableFunc(fresh, func(a, b change) int { return int(a.at - b.at) })
	for _, c := range fresh {
		e.model.Advance(c.at)
		switch live := e.model.Live(); c.state {
		case changeSet:
			_ = live.Set(c.from, c.to, c.conditions) // Set has checked it
		case changeRemove:
			_ = live.Remove(c.from, c.to)
		case changeRestore:
			_ = live.Restore(c.from, c.to)
		}
		e.model.Advance(c.at)
	}
}

// Set gives the directed link between two clusters other conditions, for all processes, until the scenario's
// script or trace changes it again.
func (e *Emulator) Set(from, to string, c wan.Conditions) error {
	return e.change(from, to, changeSet, c)
}

// Remove takes the directed link away: frames are routed round it.
func (e *Emulator) Remove(from, to string) error {
	return e.change(from, to, changeRemove, wan.Conditions{})
}

// Restore brings it back.
func (e *Emulator) Restore(from, to string) error {
	return e.change(from, to, changeRestore, wan.Conditions{})
}

func (e *Emulator) change(from, to string, state uint64, conditions wan.Conditions) error {
	c := change{from: slices.Index(e.names, from), to: slices.Index(e.names, to), state: state, conditions: conditions}
	for i, name := range []string{from, to} {
		if !slices.Contains(e.names, name) {
			return fmt.Errorf("cluster %d of the link is %q; there are %q", i+1, name, e.names)
		}
	}
	if state == changeSet {
		// A model of two clusters checks the conditions as every other will.
		if err := wan.NewModel([]int{1, 1}, wan.Conditions{Bandwidth: 1}).Live().Set(0, 1, conditions); err != nil {
			return err
		}
	}
	if c.from == c.to {
		return fmt.Errorf("cluster %q has no link to itself", from)
	}
	return e.mapping.alone(func() {
		c.at = e.clock() - e.links.origin()
		e.links.write(c)
	})
}

// Carried is how many bytes of frames have crossed the directed link between two clusters, of all processes and since
// the emulation was made; false if there are no such clusters.
func (e *Emulator) Carried(from, to string) (bytes uint64, ok bool) {
	i, j := slices.Index(e.names, from), slices.Index(e.names, to)
	if i < 0 || j < 0 {
		return 0, false
	}
	return e.links.word(i, j, linkCarried).Load(), true
}

// Close lets go of the shared file. Nothing else may be called then or afterwards.
func (e *Emulator) Close() error { return e.mapping.close() }
