package session

import "github.com/satin-peer/satin/steal"

// A Store keeps outcomes where they survive this process: internal/checkpoint's Log is one.
type Store interface {
	// AppendOutcome takes the outcome of a job, the root's if the path is empty, and returns at once,
	// whatever the disk does, with its voucher. It returns false if it will not be stored. Nothing of it is changed
	// afterwards.
	AppendOutcome(path []uint32, identity [16]byte, outcome, voucher []byte) bool
	// Trouble is why nothing can be stored at present, or nil. It must not block.
	Trouble() error
}

// trouble is what the store says.
func (s *Session) trouble() error {
	if s.cfg.Store == nil || s.cfg.Run.Recovery == steal.Naive {
		return nil
	}
	return s.cfg.Store.Trouble()
}
