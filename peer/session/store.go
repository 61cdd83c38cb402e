package session

import (
	"github.com/satin-peer/satin/steal"

	"github.com/satin-peer/satin/job"
)

// A Store keeps outcomes where they survive this process: internal/checkpoint's Log is one.
type Store interface {
	// AppendOutcome takes the outcome of a job, the root's if the path is empty, and returns at once,
	// whatever the disk does. It returns false if it will not be stored. Neither path nor outcome are changed
	// afterwards.
	AppendOutcome(path []uint32, identity [16]byte, outcome []byte) bool
	// Trouble is why nothing can be stored at present, or nil. It must not block.
	Trouble() error
}

// store gives an outcome to the store, if there is one.
func (s *Session) store(path job.Path, id job.Identity, outcome []byte) {
	if s.cfg.Store == nil || s.naive() {
		return
	}
	if s.cfg.Store.AppendOutcome(path, id, outcome) {
		s.stored++
	} else {
		s.unstored++
	}
}

// storeHandedOver stores what a peer that leaves has finished: its own disk may leave with it.
func (s *Session) storeHandedOver(m *steal.Message) {
	if m.HandOver == nil || m.Run != s.cfg.Run.ID || m.Validate() != nil {
		return
	}
	for _, p := range m.HandOver.Parts {
		s.store(p.Path, p.Identity, p.Outcome)
	}
}

// trouble is what the store says.
func (s *Session) trouble() error {
	if s.cfg.Store == nil || s.naive() {
		return nil
	}
	return s.cfg.Store.Trouble()
}

func (s *Session) naive() bool { return s.cfg.Run.Recovery == steal.Naive }
