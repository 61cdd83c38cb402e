package host

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/peer"
)

// An intent is the user's wish to become a member of the swarm of a certain peer.
type intent struct {
	invitation *Invitation            // nil: by being in the other's allow-list
	answer     atomic.Pointer[answer] // of the other to a hello that carried it; nil: none yet
}

// An answer to an intent is no, for a reason, or anything else (nil).
type answer struct{ refusal error }

func (in *intent) answered() bool { return in.answer.Load() != nil }

// refusal is why the other said no to the intent, nil if it did not.
func (in *intent) refusal() error {
	if a := in.answer.Load(); a != nil {
		return a.refusal
	}
	return nil
}

// intentTries is how often it is tried again because another handshake with the same peer, that did not carry
// it, came in between: the two may have found each other on the local network in the same moment.
const intentTries = 3

// intents are those that are being tried; several with one peer if the user and Config.Bootstrap name it at
// the same time.
type intents struct {
	mu  sync.Mutex
	all map[peer.ID][]*intent
}

// of is the one to say to a peer, nil if there is none. An invitation is worth more than none, and a
// later one more than an earlier one.
func (x *intents) of(id peer.ID) (best *intent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, in := range x.all[id] {
		if best == nil || in.invitation != nil || best.invitation == nil {
			best = in
		}
	}
	return best
}

// note notes an intent until the returned function is called.
func (x *intents) note(id peer.ID, in *intent) (done func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all[id] = append(x.all[id], in)
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		rest := slices.DeleteFunc(x.all[id], func(other *intent) bool { return other == in })
		if x.all[id] = rest; len(rest) == 0 {
			delete(x.all, id)
		}
	}
}

// heard notes that a peer has answered an intent, and with it those that wish the same.
func (x *intents) heard(id peer.ID, in *intent, what answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in.answer.Store(&what)
	for _, other := range x.all[id] {
		if in.same(other) {
			other.answer.Store(&what)
		}
	}
}

func (in *intent) same(other *intent) bool {
	if in.invitation == nil || other.invitation == nil {
		return in.invitation == other.invitation
	}
	return bytes.Equal(in.invitation.secret, other.invitation.secret)
}

// forNewcomer says what a peer that is in no swarm yet must do to get into one that is by invitation: names and
// keys of swarms mean nothing to it.
func (h *admission) forNewcomer(in *intent, why error) error {
	mine := h.swarm.standing()
	refused := errors.Is(why, ErrNotInvited) || errors.Is(why, ErrWrongSwarm)
	if !refused || errors.Is(why, errOpenSwarm) || in.invitation != nil || h.cfg.Trust != TrustInvite || mine.settled {
		return why
	}
	what := fmt.Errorf(
		"%w: you need an invitation: ask a member for the line that satin-peer invite prints, or to allow the peer ID %s", ErrNotInvited, h.id)
	if mine.named && errors.Is(why, ErrWrongSwarm) {
		return fmt.Errorf("%w; %w", what, why)
	}
	return what
}
