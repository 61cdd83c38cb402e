package peer

import (
	"context"
	"sync"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/verify"
)

// Records are the records of peers (verify.Records), on the disk: they last. Losing some of it on a crash costs
// copies, never an answer.
type records struct {
	*base.Base
	file *cabinet.Cabinet

	writing sync.Mutex // held while the file is written
	mu      sync.Mutex
	all     verify.Records
	unsaved int
}

const (
	// saveEvery is after how many comparisons the records are written.
	saveEvery = 64
	// recordsName is the one file of the cabinet.
	recordsName = "all"
)

// recordLine is a line of it.
type recordLine struct {
	Peer   verify.PeerID `cbor:"1,keyasint"`
	Passed uint64        `cbor:"2,keyasint"`
	Hand   verify.PeerID `cbor:"3,keyasint,omitempty"`
}

// recall reads the records. If they cannot be read, everybody is a stranger again.
func (s *records) recall() {
	var lines []recordLine
	if s.file.Has(recordsName) {
		parts, err := s.file.Read(recordsName, 1)
		if err == nil {
			err = wire.Value().Decode(parts[0], &lines)
		}
		if err != nil {
			s.Log.Error("the records of peers cannot be read: all are strangers again", "error", err)
			lines = nil
		}
	}
	list := make([]verify.Record, len(lines))
	for i, l := range lines {
		list[i] = verify.Record(l)
	}
	s.all.Recall(list)
}

// of counts the comparisons that a peer has passed.
func (s *records) of(id verify.PeerID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Passed(id)
}

// pass adds one to the records of peers. It does not block.
func (s *records) pass(list []verify.PeerID) {
	s.mu.Lock()
	s.all.Pass(list)
	s.unsaved++
	due := s.unsaved >= saveEvery
	s.mu.Unlock()
	if due {
		s.Spawn(func(context.Context) { s.save() })
	}
}

// fall forgets the record of a liar, and of its friends. It may block for a disk.
func (s *records) fall(liar verify.PeerID) {
	s.mu.Lock()
	s.all.Fall(liar)
	s.unsaved++
	s.mu.Unlock()
	s.save()
}

// save writes what is not written yet. It may block for a disk.
func (s *records) save() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if s.unsaved == 0 {
		s.mu.Unlock()
		return
	}
	var lines []recordLine
	for _, r := range s.all.List() {
		lines = append(lines, recordLine(r))
	}
	unsaved := s.unsaved
	s.unsaved = 0
	s.mu.Unlock()
	b, err := wire.Value().Encode(lines)
	if err == nil {
		err = s.file.Write(recordsName, b)
	}
	if err != nil {
		s.mu.Lock()
		s.unsaved += unsaved
		s.mu.Unlock()
		s.Log.Error("the records of peers cannot be written", "error", err)
	}
}
