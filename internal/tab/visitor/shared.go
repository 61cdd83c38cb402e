package visitor

import (
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/sharedobj"
)

// objectsMemory bounds what a tab holds of what jobs share: a phone has little memory, and each tab's core its own.
const objectsMemory = 128 << 20

func objects() sharedobj.Config {
	c := sharedobj.Default()
	c.MaxBytes = objectsMemory
	return c
}

// shared takes in what is said of what a run's jobs share. Of a part that has ended it is of no use.
func (v *Visitor) shared(s *session.Session, m *tab.Shared) {
	v.mu.Lock()
	here, member := v.work != nil && v.work.Run == m.Run, v.member
	v.mu.Unlock()
	switch {
	case !here:
	case m.News != nil:
		s.HearShared(sharedobj.PeerID(member), m.News)
	default:
		s.ReceivedShared(m.Message)
	}
}

// What does not fit into a frame is asked for again, or compared later: no core says so much at once.

func (v *Visitor) sendShared(run job.RunID) func(*sharedobj.Message) {
	return func(m *sharedobj.Message) { _ = v.send(&tab.Frame{Shared: &tab.Shared{Run: run, Message: m}}) }
}

func (v *Visitor) tellShared(run job.RunID) func(*sharedobj.News) {
	return func(n *sharedobj.News) { _ = v.send(&tab.Frame{Shared: &tab.Shared{Run: run, News: n}}) }
}
