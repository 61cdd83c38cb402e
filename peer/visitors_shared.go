package peer

import (
	"errors"
	"fmt"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// What the jobs of a run share goes to a tab and comes from it over its websocket: questions, pieces, and this peer's
// news and those that it hears. Its core bounds what a guest can cause.

var errTabGone = errors.New("the tab is gone, or behind")

// carryShared sends a message of a session, if it is to a tab. It does not block.
func (v *visitors) carryShared(m *stream.Shared) (here, sent bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := v.guests[steal.PeerID(m.Message.To)]
	if g == nil {
		return false, false
	}
	return true, g.takesPart(m.Run) && g.send(&tab.Frame{Shared: &tab.Shared{Run: m.Run, Message: m.Message}})
}

// tellShared tells everybody, and the tabs here, what a session has to say.
func (x *traffic) tellShared(run job.RunID, n *sharedobj.News) {
	x.guests.tell(run, n)
	x.voice.tellShared(run, n)
}

// tell tells news to the tabs that take part in a run. One that is behind misses them, and compares later.
func (v *visitors) tell(run job.RunID, n *sharedobj.News) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, g := range v.guests {
		if g.takesPart(run) {
			g.send(&tab.Frame{Shared: &tab.Shared{Run: run, News: n}})
		}
	}
}

// shared takes in what a tab says of what its run's jobs share.
func (g *guest) shared(m *tab.Shared) error {
	v := g.of
	id := sharedobj.PeerID(g.id)
	if m.Message != nil && (m.Message.From != id || m.Message.To != sharedobj.PeerID(v.self.String())) {
		return fmt.Errorf("%w: it is from %.60s to %.60s", errTab, m.Message.From, m.Message.To)
	}
	v.mu.Lock()
	here := g.takesPart(m.Run)
	v.mu.Unlock()
	s := v.runs.sessions.of(m.Run)
	switch {
	case !here || s == nil: // it is of a part that has ended
	case m.News != nil:
		s.HearShared(id, m.News)
	default:
		s.ReceivedShared(m.Message)
	}
	return nil
}
