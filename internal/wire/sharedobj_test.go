package wire_test

import (
	"reflect"
	"testing"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// Messages about shared objects survive the way, and the largest of each kind fits into its frame: what is longer the
// receiver refuses.
func TestSharedObjectMessages(t *testing.T) {
	recipe := sharedobj.Recipe{Kind: sharedobj.Phased, Name: "sky", Parent: sharedobj.Digest{1},
		Write: sharedobj.Blob{Size: 1 << 40, Top: sharedobj.Hash{2}}, State: sharedobj.Blob{Size: 1 << 50}}
	large := make([]byte, 16<<10)
	answer := &sharedobj.Answer{Digest: recipe.Digest(), Status: sharedobj.Here}
	for r := recipe; len(answer.Told) < 64; { // the chain that it claims need not be one here: Validate is not asked
		t := sharedobj.Told{Recipe: r}
		if len(answer.Told) < 6 {
			t.Write = large
		}
		answer.Told = append(answer.Told, t)
	}
	sums := &sharedobj.Sums{Reply: true}
	for len(sums.Values) < 256 {
		s := sharedobj.Sum{Digest: sharedobj.Digest{byte(len(sums.Values))}, Blob: recipe.State}
		if len(sums.Values) < 6 {
			s.Value = large
		}
		sums.Values = append(sums.Values, s)
	}
	for i, m := range []*sharedobj.Message{
		{Ask: &sharedobj.Ask{Digest: recipe.Digest(), Holders: []sharedobj.PeerID{"a", "b", "c"}}},
		{Answer: answer},
		{Get: &sharedobj.Get{Top: sharedobj.Hash{3}, Pieces: []sharedobj.PieceID{{Level: 1, Index: 1 << 36}}}},
		{Piece: &sharedobj.Piece{Top: sharedobj.Hash{4}, ID: sharedobj.PieceID{Index: 5}, Data: large}},
		{Gone: &sharedobj.Gone{Top: sharedobj.Hash{5}}},
		{Announce: &sharedobj.Announce{Origin: "a", Recipe: recipe}},
		{Sums: sums},
	} {
		m.From, m.To = "from", "to"
		b, err := wire.Control().Encode(m)
		if err != nil {
			t.Errorf("message %d: %v", i, err)
			continue
		}
		var got sharedobj.Message
		if err := wire.Control().Decode(b, &got); err != nil || !reflect.DeepEqual(&got, m) {
			t.Errorf("message %d comes as %+v (%v), not %+v", i, got, err, m)
		}
	}
}
