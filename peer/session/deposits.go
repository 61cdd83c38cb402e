package session

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// What jobs leave to outlive the run goes past the core of what is shared: that holds what jobs read in memory, as
// long as the run lasts. Bytes are asked for by one job each, and given to the engine as they come; how many are on
// their way is bounded.

const (
	// maxBringing is how many are.
	maxBringing = 8
	// maxWants is how many jobs may wait for that: more have never asked for it.
	maxWants = 16 << 10
)

// A lasting is what the loop does about it.
type lasting struct {
	cfg      *Config
	tell     func(func(now time.Duration)) // the loop
	wants    []sharedobj.Digest            // not asked for yet
	bringing int                           // asked for
}

// take takes what is to outlive the run out of what the engine has told, and carries it out.
func (l *lasting) take(events []port.Event) []port.Event {
	if l.cfg.Deposit == nil || !slices.ContainsFunc(events, outlives) {
		return events
	}
	rest := make([]port.Event, 0, len(events))
	for _, e := range events {
		switch {
		case !outlives(e):
			rest = append(rest, e)
		case e.Kind == port.Made:
			l.cfg.Deposit(e.Shared.State.Bytes())
		case len(l.wants) >= maxWants:
			l.answer(e.Shared.Digest, nil)
		default:
			l.wants = append(l.wants, e.Shared.Digest)
		}
	}
	l.bring()
	return rest
}

// outlives says whether an event is about bytes that are to outlive the run.
func outlives(e port.Event) bool {
	v := e.Shared
	return v != nil && (e.Kind == port.Made && v.Recipe != nil && v.Recipe.Name == port.Deposit && v.State != nil ||
		e.Kind == port.Wanted && v.Name == port.Deposit)
}

// bring has bytes fetched that jobs wait for.
func (l *lasting) bring() {
	for len(l.wants) > 0 && l.bringing < maxBringing {
		d := l.wants[0]
		l.wants = l.wants[1:]
		l.bringing++
		l.cfg.Bring(d, func(b []byte) { l.tell(func(time.Duration) { l.brought(d, b) }) })
	}
}

// brought goes on with what others wait for.
func (l *lasting) brought(d sharedobj.Digest, b []byte) {
	l.bringing--
	l.answer(d, b)
	l.bring()
}

// answer gives the engine what came, nil if nothing did.
func (l *lasting) answer(d sharedobj.Digest, b []byte) {
	o := &port.Order{Kind: port.Here, Shared: &port.Shared{Digest: d, Name: port.Deposit, Data: b}}
	if b == nil {
		o.Kind, o.Shared.Text = port.Failed, "no member that keeps it answers"
	}
	l.cfg.Engine.Do(o)
}
