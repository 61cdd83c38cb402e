package peer

import (
	"context"
	"errors"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// In a run of this peer's with spot checks a tab commits to how it came to what it brings, as any thief does, and is
// asked for single nodes over its websocket. One that does not show what it has claimed costs this peer that job.

// maxAsked bounds the nodes that one tab is asked for at a time.
const maxAsked = 64

// guest finds a tab; nil if none of that name is here.
func (v *visitors) guest(id steal.PeerID) *guest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.guests[id]
}

// open asks the tab for what stands behind a claim of its.
func (g *guest) open(ctx context.Context, run job.RunID, tree verify.Hash, into *driver.OpenedNode) error {
	ctx, cancel := context.WithTimeout(ctx, openingPatience)
	defer cancel()
	answer := make(chan []byte, 1)
	v := g.of
	v.mu.Lock()
	sent := len(g.asked) < maxAsked && g.asked[tree] == nil && g.send(&tab.Frame{Ask: &tab.Ask{Run: run, Tree: tree}})
	if sent {
		g.asked[tree] = answer
	}
	v.mu.Unlock()
	if !sent {
		return errTabGone
	}
	defer func() {
		v.mu.Lock()
		delete(g.asked, tree)
		v.mu.Unlock()
	}()
	select {
	case b := <-answer:
		if len(b) == 0 {
			return errors.New("the tab knows nothing of that outcome")
		}
		return wire.Value().Decode(b, into)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shows takes in what the tab shows. What nobody waits for any more is dropped.
func (g *guest) shows(s *tab.Show) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if to := g.asked[s.Tree]; to != nil {
		select {
		case to <- s.Node:
		default: // a second answer
		}
	}
}
