package peer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/verify"
)

// Records are the records of peers: how many of their results this machine has had compared and found right, in all
// its runs. Only what was compared here counts, so nobody can speak for himself or for others. They last: a peer earns
// in one run what it is believed for in the next. Losing some of it on a crash costs copies, never an answer.
type records struct {
	*base
	file *cabinet
	hand func(verify.PeerID) verify.PeerID // by whom a peer is a member

	writing sync.Mutex // held while the file is written
	mu      sync.Mutex
	passed  map[verify.PeerID]uint64
	unsaved int
}

const (
	// maxRecords bounds the peers that there is a record of; those with the least go first.
	maxRecords = 4096
	// saveEvery is after how many comparisons the records are written.
	saveEvery = 64
	// recordsName is the one file of the cabinet.
	recordsName = "all"
)

// recordLine is a line of it.
type recordLine struct {
	Peer   string `cbor:"1,keyasint"`
	Passed uint64 `cbor:"2,keyasint"`
}

// recall reads the records. If they cannot be read, everybody is a stranger again.
func (s *records) recall() {
	s.passed = map[verify.PeerID]uint64{}
	if !s.file.has(recordsName) {
		return
	}
	var lines []recordLine
	parts, err := s.file.read(recordsName, 1)
	if err == nil {
		err = wire.Value().Decode(parts[0], &lines)
	}
	if err != nil {
		s.log.Error("the records of peers cannot be read: all are strangers again", "error", err)
		return
	}
	for _, l := range lines[:min(len(lines), maxRecords)] {
		s.passed[verify.PeerID(l.Peer)] = l.Passed
	}
}

// of counts the comparisons that a peer has passed.
func (s *records) of(id verify.PeerID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passed[id]
}

// pass adds one to the records of peers. It does not block.
func (s *records) pass(list []verify.PeerID) {
	s.mu.Lock()
	for _, id := range list {
		if _, known := s.passed[id]; !known && len(s.passed) >= maxRecords {
			delete(s.passed, s.least())
		}
		s.passed[id]++
	}
	s.unsaved++
	due := s.unsaved >= saveEvery
	s.mu.Unlock()
	if due {
		s.spawn(func(context.Context) { s.save() })
	}
}

// least is who has the poorest record.
func (s *records) least() (id verify.PeerID) {
	return slices.MinFunc(slices.Collect(maps.Keys(s.passed)), func(a, b verify.PeerID) int {
		return cmp.Or(cmp.Compare(s.passed[a], s.passed[b]), cmp.Compare(a, b))
	})
}

// fall forgets the record of a liar, and of all whom the same member has let in, if that is known. It may block for a
// disk.
func (s *records) fall(liar verify.PeerID) {
	hand := s.hand(liar)
	s.mu.Lock()
	maps.DeleteFunc(s.passed, func(id verify.PeerID, _ uint64) bool {
		return id == liar || hand != "" && s.hand(id) == hand
	})
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
	for _, id := range slices.Sorted(maps.Keys(s.passed)) {
		lines = append(lines, recordLine{string(id), s.passed[id]})
	}
	unsaved := s.unsaved
	s.unsaved = 0
	s.mu.Unlock()
	b, err := wire.Value().Encode(lines)
	if err == nil {
		err = s.file.write(recordsName, b)
	}
	if err != nil {
		s.mu.Lock()
		s.unsaved += unsaved
		s.mu.Unlock()
		s.log.Error("the records of peers cannot be written", "error", err)
	}
}
