package gossip

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// fixedKey is a key that is the same in every run, so that seeds of fuzzing are.
func fixedKey(t testing.TB, fill byte) (crypto.PrivKey, peer.ID) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(bytes.Repeat([]byte{fill}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, id
}

func sealed(t testing.TB, swarm string, items ...item) []byte {
	t.Helper()
	key, id := fixedKey(t, 1)
	b, err := seal(wire.Control(), swarm, key, envelope{Author: []byte(id), Seq: 7<<32 + 1, Items: items})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An envelope that was sealed opens as it was and verifies, and no other does.
func TestSealOpenVerify(t *testing.T) {
	b := sealed(t, "s", item{KindRun, []byte("run")}, item{Kind: kindBeacon}, item{200, []byte{0}})
	e, author, err := open(wire.Control(), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, id := fixedKey(t, 1); author != id || e.Seq != 7<<32+1 || len(e.Items) != 3 ||
		string(e.Items[0].Payload) != "run" || e.Items[2].Kind != 200 {
		t.Errorf("%v by %s", e, author)
	}
	if err := verify("s", author, b); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"another swarm":  verify("t", author, b),
		"a longer swarm": verify("s\x00", author, b),
	} {
		if !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// No byte can be changed, added or left out: each is in the signature, or is it.
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		if _, a, err := open(wire.Control(), c); err == nil && verify("s", a, c) == nil {
			t.Errorf("byte %d may be changed", i)
		}
	}
	for _, c := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0), b[:envelopeHead], b[:10], {}, nil} {
		if _, _, err := open(wire.Control(), c); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%d bytes: %v", len(c), err)
		}
	}
}

// TestSealRefusesOtherKeys is about keys whose signatures do not have the fixed length.
func TestSealRefusesOtherKeys(t *testing.T) {
	key, _, err := crypto.GenerateSecp256k1Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seal(wire.Control(), "s", key, envelope{Items: []item{{KindRun, nil}}}); err == nil {
		t.Error("sealed with a key of another type")
	}
}

// An envelope without items or with too many, or whose author is nobody or has too long a name, is refused before
// its signature is looked at.
func TestOpenBounds(t *testing.T) {
	_, id := fixedKey(t, 1)
	for name, e := range map[string]envelope{
		"no items":       {Author: []byte(id)},
		"too many items": {Author: []byte(id), Items: make([]item, maxItems+1)},
		"no author":      {Items: make([]item, 1)},
		"a long author":  {Author: append([]byte{0, 200, 1}, make([]byte, 200)...), Items: make([]item, 1)},
	} {
		body, err := wire.Control().Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		b := append(make([]byte, envelopeHead), body...)
		b[0] = envelopeVersion
		if _, _, err := open(wire.Control(), b); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpen reads anything. What is accepted is within bounds, and nobody's signature comes out of it by chance.
func FuzzOpen(f *testing.F) {
	good := sealed(f, "s", item{KindRun, []byte("run")})
	f.Add(good)
	f.Add(sealed(f, "s", item{KindLoad, []byte{1, 2}}, item{Kind: kindBeacon}))
	f.Add(good[:len(good)-2])
	f.Add(append([]byte{envelopeVersion}, make([]byte, 100)...))
	f.Add([]byte{})
	original, _, err := open(wire.Control(), good)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, author, err := open(wire.Control(), b)
		if err != nil {
			if !errors.Is(err, ErrEnvelope) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if len(e.Items) == 0 || len(e.Items) > maxItems || len(author) == 0 || len(author) > maxAuthor {
			t.Fatalf("out of bounds: %d items, author of %d bytes", len(e.Items), len(author))
		}
		if verify("s", author, b) == nil && author == peer.ID(original.Author) && e.Seq == original.Seq &&
			!bytes.Equal(b, good) &&
			len(e.Items) == 1 && e.Items[0].Kind == KindRun && string(e.Items[0].Payload) == "run" {
			t.Fatal("other bytes with the meaning and the signature of the original")
		}
	})
}

// BenchmarkEnvelope is what a combined message of 20 hints costs its author, and each who takes it in.
func BenchmarkEnvelope(b *testing.B) {
	key, id := fixedKey(b, 1)
	codec := wire.Control()
	e := envelope{Author: []byte(id), Seq: 1}
	for range 20 {
		e.Items = append(e.Items, item{KindLoad, make([]byte, 64)})
	}
	bytes, err := seal(codec, "s", key, e)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			if _, err := seal(codec, "s", key, e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			_, author, err := open(codec, bytes)
			if err == nil {
				err = verify("s", author, bytes)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
