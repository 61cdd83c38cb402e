package peer

import (
	"testing"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/statement"
)

// Daemons of before read what they are told of a run: it has no field that they do not know.
func TestAnswersForDaemonsOfBefore(t *testing.T) {
	a := runAnswer{Known: true, Led: true}
	a.forBefore()
	var read struct {
		Known bool `cbor:"3,keyasint,omitempty"`
	}
	if err := wire.Value().Decode(encode(&a), &read); err != nil || !read.Known {
		t.Errorf("%+v is read, %v", read, err)
	}
}

// An answer says how long it is at most before it is encoded: that is never less than what it takes, and hardly more,
// or a short one would wait for the room of a long one.
func TestAnswersSayHowLongTheyAre(t *testing.T) {
	a := &runAnswer{Manifest: make([]byte, 1<<20), Tombstone: make([]byte, statement.MaxTombstone),
		Answered: make([]byte, statement.MaxAnswered), Roster: make([]byte, statement.MaxRoster), RosterAge: 9,
		Led: true}
	if b, err := wire.Value().Encode(a); err != nil || len(b) > a.Length() {
		t.Errorf("an answer of %d bytes says that it has %d: %v", len(b), a.Length(), err)
	}
	if n := (&runAnswer{Manifest: make([]byte, 1000)}).Length(); n > 1000+2*maxRest {
		t.Errorf("one with a manifest of 1000 bytes says that it has %d", n)
	}
}
