package stream

import (
	"reflect"
	"testing"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// What is taken in makes sense, and encodes to what was read.
func FuzzDecodeShared(f *testing.F) {
	recipe := sharedobj.Recipe{Kind: sharedobj.Constant, Name: "sky", State: sharedobj.Blob{Size: 5}}
	for _, m := range []*sharedobj.Message{
		{Ask: &sharedobj.Ask{Digest: recipe.Digest(), Holders: []sharedobj.PeerID{"c"}}},
		{Answer: &sharedobj.Answer{Digest: recipe.Digest(), Status: sharedobj.Here,
			Told: []sharedobj.Told{{Recipe: recipe, State: []byte("night")}}}},
		{Get: &sharedobj.Get{Pieces: []sharedobj.PieceID{{Level: 1, Index: 3}}}},
		{Piece: &sharedobj.Piece{Data: []byte("night")}}, {Gone: &sharedobj.Gone{}},
		{Announce: &sharedobj.Announce{Origin: "a", Recipe: recipe}},
		{Sums: &sharedobj.Sums{Values: []sharedobj.Sum{{Value: []byte{1}}}}},
	} {
		m.From, m.To = "a", "b"
		b, err := wire.Control().Encode(&Shared{Message: m})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeShared(b)
		if err != nil {
			return
		}
		if err := m.Message.Validate(); err != nil {
			t.Fatalf("what is taken in is not valid: %v", err)
		}
		again, err := wire.Control().Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := decodeShared(again); err != nil || !reflect.DeepEqual(n.Message, m.Message) {
			t.Fatalf("%+v is read again as %+v, %v", m, n, err)
		}
	})
}
