package host

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	seekDials     = 4 // dials under way at a time, so that a crowd does not swamp a slow link
	seekTimeout   = 15 * time.Second
	exchangeEvery = time.Minute
	saveEvery     = time.Minute
	saveSoon      = time.Second // when a new member was met
	idleSeek      = time.Minute // how often to look whether there is something to do, if nothing says so
	mendEvery     = 5 * time.Minute
)

// A seeker keeps this peer in touch with others: it tries what the configuration names while nobody is there,
// and dials known peers while there are fewer than Config.MinPeers. It sleeps otherwise.
type seeker struct {
	host  *Host
	wake  chan struct{}
	slots chan struct{}
	boots []*bootstrap // only the loop touches them, but for what is behind their locks

	mu      sync.Mutex
	dialing map[peer.ID]bool
}

// A bootstrap is one address or invitation line of the configuration.
type bootstrap struct {
	text string

	mu      sync.Mutex
	busy    bool
	useless bool // an invitation that was refused for good
	tries   int
	notTill time.Time
}

func newSeeker(h *Host) *seeker {
	s := &seeker{host: h, wake: make(chan struct{}, 1), slots: make(chan struct{}, seekDials),
		dialing: map[peer.ID]bool{}}
	for _, text := range h.cfg.Bootstrap {
		s.boots = append(s.boots, &bootstrap{text: text})
	}
	return s
}

// checkBootstrap refuses entries of the configuration that can never be of use.
func (h *admission) checkBootstrap(now time.Time) error {
	for _, text := range h.cfg.Bootstrap {
		var err error
		if IsInvitation(text) {
			var v *Invitation
			if v, err = ParseInvitation(text); err == nil {
				err = h.checkInvitation(v, now)
			}
		} else {
			_, err = ParseAddr(text)
		}
		if err != nil && !errors.Is(err, ErrSelf) { // a file of addresses for all peers may hold this one's
			return err
		}
	}
	return nil
}

// poke has the seeker look around now.
func (s *seeker) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *seeker) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	nextExchange, nextSave, nextMend := time.Now().Add(exchangeEvery), time.Now().Add(saveEvery),
		time.Now().Add(mendEvery)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		now := time.Now()
		if err := s.host.dates.pass(now, false); err != nil {
			s.host.log.Warn("noting the date", "error", err)
		}
		next := s.look(now)
		if !now.Before(nextExchange) {
			s.gossip()
			nextExchange = now.Add(exchangeEvery)
		}
		if !now.Before(nextMend) {
			s.mend(now)
			nextMend = now.Add(mendEvery)
		}
		if !now.Before(nextSave) {
			if err := s.host.book.save(); err != nil {
				s.host.log.Warn("remembering addresses", "error", err)
			}
			nextSave = now.Add(saveEvery)
		}
		if soon := now.Add(saveSoon); s.host.book.unsaved() && soon.Before(nextSave) {
			nextSave = soon
		}
		timer.Reset(max(time.Millisecond, min(time.Until(next), time.Until(nextExchange), time.Until(nextSave),
			time.Until(nextMend))))
	}
}

// look starts the dials that are due and says when to look again.
func (s *seeker) look(now time.Time) (next time.Time) {
	h := s.host
	next = now.Add(idleSeek)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	here := h.visitors.admitted()
	if len(here) == 0 {
		for _, b := range s.boots {
			sooner(s.try(b, now))
		}
	}
	if missing := h.cfg.MinPeers - len(here); missing > 0 {
		infos, later := h.book.candidates(min(missing, seekDials), now,
			func(id peer.ID, e *bookEntry) bool { return s.useless(id) || e.byCard && len(here) > 0 })
		sooner(later)
		for _, info := range infos {
			if !s.dial(info) {
				break // the end of a dial pokes
			}
		}
	}
	return next
}

// mend dials one more member that was met before, even if there are enough: when the network was split, each
// half may have enough of its own and would never look for the other.
func (s *seeker) mend(now time.Time) {
	h := s.host
	here := h.visitors.admitted()
	if len(here) < h.cfg.MinPeers || len(here) >= h.cfg.MaxConns/2 {
		return // look dials anyway, or there is no room
	}
	infos, _ := h.book.candidates(1, now, func(id peer.ID, e *bookEntry) bool { return s.useless(id) || !e.member() })
	for _, info := range infos {
		s.dial(info)
	}
}

// try starts an attempt at a bootstrap entry if it is time for one, else says when it is.
func (s *seeker) try(b *bootstrap, now time.Time) (next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy || b.useless {
		return time.Time{}
	}
	if now.Before(b.notTill) {
		return b.notTill
	}
	b.busy = true
	h := s.host
	h.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, seekTimeout)
		defer cancel()
		err := h.Join(ctx, b.text)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.busy = false
		switch {
		case errors.Is(err, ErrSelf):
			b.notTill = time.Now().Add(longestRetry)
		case err == nil:
			b.tries, b.notTill = 0, time.Now().Add(firstRetry)
		case IsInvitation(b.text) && errors.Is(err, ErrInvitation):
			b.useless = true
			h.log.Warn("cannot join by this invitation, which is not tried again: ask for a new one", "invitation",
				Mask(b.text), "error", err)
		case notMembers(err):
			b.tries, b.notTill = 16, time.Now().Add(longestRetry) // the list there may change
			h.log.Warn("cannot join", "address", Mask(b.text), "error", err)
		default:
			b.tries++
			b.notTill = time.Now().Add(backoff(b.tries))
			h.log.Info("cannot join yet", "address", Mask(b.text), "error", err, "again",
				time.Until(b.notTill).Round(time.Second))
		}
		s.poke()
	})
	return time.Time{}
}

// notMembers says whether an error means that the two will not get together by trying again soon.
func notMembers(err error) bool {
	return slices.ContainsFunc([]error{ErrWrongSwarm, ErrNotInvited, ErrInvitation, ErrVersion, ErrWrongPeer,
		ErrAddress}, func(final error) bool { return errors.Is(err, final) })
}

// useless says whether there is no point in dialing a peer.
func (s *seeker) useless(id peer.ID) bool {
	s.mu.Lock()
	busy := s.dialing[id]
	s.mu.Unlock()
	return busy || s.host.Admitted(id) || s.host.roll.out(id)
}

// dial starts to connect to a known peer, if there is a free slot.
func (s *seeker) dial(info peer.AddrInfo) bool {
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	s.mu.Lock()
	s.dialing[info.ID] = true
	s.mu.Unlock()
	h := s.host
	h.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, seekTimeout)
		defer cancel()
		err := h.outer.Connect(ctx, info)
		if err != nil && ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			h.book.failed(info.ID, notMembers(err), time.Now())
			h.log.Debug("no connection", "peer", info.ID, "error", err)
		}
		s.mu.Lock()
		delete(s.dialing, info.ID)
		s.mu.Unlock()
		<-s.slots
		s.poke()
	})
	return true
}

// gossip exchanges lists with one member, at random.
func (s *seeker) gossip() {
	here := s.host.visitors.admitted()
	if len(here) == 0 {
		return
	}
	id := here[rand.IntN(len(here))]
	s.host.spawn(func(ctx context.Context) {
		if err := s.host.exchange.with(ctx, id); err != nil {
			s.host.log.Debug("no exchange of peers", "peer", id, "error", err)
		}
	})
}

// found is called when a peer made itself heard on the local network. Whatever is there can do so, member or not: what
// it says counts for no more than what members tell.
func (s *seeker) found(id peer.ID, addrs []ma.Multiaddr) {
	if id != s.host.id && !s.host.roll.out(id) &&
		s.host.book.learn(told{id: id, addrs: s.host.Dialable(addrs, nil)}, "") {
		s.poke()
	}
}
