package gossip

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	pb "github.com/libp2p/go-libp2p/core/crypto/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// An envelope holds combined messages of one author. On the wire it is a byte with the version, the author's
// signature, and the body in CBOR. The signature covers the body's bytes as they are, so nobody but the
// author can make a second envelope of different bytes with the same meaning: that would get round the
// suppression of duplicates.
type envelope struct {
	Author []byte `cbor:"1,keyasint"` // the peer ID in its binary form, which holds the Ed25519 key
	Seq    uint64 `cbor:"2,keyasint"` // incarnation and a counter: every envelope of an author has a larger one
	Items  []item `cbor:"3,keyasint"`
}

type item struct {
	Kind    Kind   `cbor:"1,keyasint"`
	Payload []byte `cbor:"2,keyasint,omitempty"`
}

const (
	envelopeVersion = 1
	envelopeHead    = 1 + ed25519.SignatureSize
	envelopeSpare   = 256 // more than what surrounds the payloads of an envelope, but for the items' heads
	itemSpare       = 16  // more than what surrounds a payload in an item
	maxItems        = 512
	maxAuthor       = 64 // bytes of a peer ID: an Ed25519 one has 38
)

// ErrEnvelope is what errors about received bytes wrap.
var ErrEnvelope = errors.New("bad gossip envelope")

// signedPrefix keeps signatures of envelopes apart from other signatures of the same keys, and swarms from
// each other.
func signedPrefix(swarm string) []byte {
	return fmt.Appendf(nil, "satin gossip %d\x00%d\x00%s\x00", envelopeVersion, len(swarm), swarm)
}

// seal encodes and signs.
func seal(codec *wire.Codec, swarm string, key crypto.PrivKey, e envelope) ([]byte, error) {
	body, err := codec.Encode(e)
	if err != nil {
		return nil, err
	}
	signature, err := key.Sign(append(signedPrefix(swarm), body...))
	if err != nil {
		return nil, err
	}
	if len(signature) != ed25519.SignatureSize {
		return nil, fmt.Errorf("the peer's key is not an Ed25519 key: its signatures have %d bytes", len(signature))
	}
	return append(append([]byte{envelopeVersion}, signature...), body...), nil
}

// open decodes and checks the form, but not the signature: see verify.
func open(codec *wire.Codec, b []byte) (envelope, peer.ID, error) {
	var e envelope
	if len(b) < envelopeHead {
		return e, "", fmt.Errorf("%w: %d bytes", ErrEnvelope, len(b))
	}
	if b[0] != envelopeVersion {
		return e, "", fmt.Errorf("%w: version %d", ErrEnvelope, b[0])
	}
	if err := codec.Decode(b[envelopeHead:], &e); err != nil {
		return e, "", fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	if len(e.Items) == 0 || len(e.Items) > maxItems {
		return e, "", fmt.Errorf("%w: %d items", ErrEnvelope, len(e.Items))
	}
	if len(e.Author) > maxAuthor {
		return e, "", fmt.Errorf("%w: an author of %d bytes", ErrEnvelope, len(e.Author))
	}
	author, err := peer.IDFromBytes(e.Author)
	if err != nil {
		return e, "", fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	return e, author, nil
}

// verify checks the signature of an envelope that open has accepted.
func verify(swarm string, author peer.ID, b []byte) error {
	key, err := author.ExtractPublicKey()
	if err != nil {
		return fmt.Errorf("%w: author %s: %w", ErrEnvelope, author, err)
	}
	if key.Type() != pb.KeyType_Ed25519 {
		return fmt.Errorf("%w: author %s has a key of type %s", ErrEnvelope, author, key.Type())
	}
	ok, err := key.Verify(append(signedPrefix(swarm), b[envelopeHead:]...), b[1:envelopeHead])
	if err != nil || !ok {
		return fmt.Errorf("%w: not signed by %s", ErrEnvelope, author)
	}
	return nil
}
