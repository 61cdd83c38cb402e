package peer

import (
	"testing"

	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Guards that a run in which very many jobs were compared, or large ones, keeps no more than its bound of what was
// signed, and the first ones.
func TestOathsAreBounded(t *testing.T) {
	var o oaths
	for n := range 10_000 {
		o.note(verify.Node{Path: string([]byte{byte(n >> 8), byte(n)})},
			&steal.Job{Function: "f", Arg: make([]byte, 100)}, make([]byte, 100), [][]byte{{1}, {2}})
	}
	kept := len(o.all())
	if least, most := maxOaths/2000, maxOaths/1000; kept < least || kept > most || o.all()[1].Path[1] != 1 {
		t.Errorf("%d are kept, want %d to %d", kept, least, most)
	}
	var large oaths
	large.note(verify.Node{}, &steal.Job{Arg: make([]byte, maxOath)}, []byte{1}, nil)
	if large.all() != nil {
		t.Error("a large one is kept")
	}
}
