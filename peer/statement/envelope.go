package statement

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
)

// ErrStatement is what the errors of this package about received bytes wrap.
var ErrStatement = errors.New("bad statement")

// envelope is a statement as it travels.
type envelope struct {
	Author    string `cbor:"1,keyasint"`
	Statement []byte `cbor:"2,keyasint"`
	Signature []byte `cbor:"3,keyasint"`
	Proof     []byte `cbor:"4,keyasint,omitempty"` // of a manifest alone, and not signed: see Manifest.Proof
}

// The kinds of statement, in what is signed.
const (
	kindManifest  = "manifest"
	kindTombstone = "tombstone"
	kindCard      = "card"
	kindAnswered  = "answered"
	kindPublished = "published"
	kindVoucher   = "voucher"
	kindBearer    = "bearer"
	kindRoster    = "roster"
	kindTicket    = "ticket"
	kindVisit     = "visit"
	kindDeposited = "deposited"
	kindReceipt   = "receipt"
)

// signedBytes is what a signature is over.
func signedBytes(kind string, statement []byte) []byte {
	return append([]byte("satin-peer statement 1 "+kind+"\x00"), statement...)
}

func seal(key crypto.PrivKey, kind string, statement any) ([]byte, error) {
	author, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	b, err := wire.Value().Encode(statement)
	if err != nil {
		return nil, err
	}
	signature, err := key.Sign(signedBytes(kind, b))
	if err != nil {
		return nil, err
	}
	return wire.Value().Encode(&envelope{Author: author.String(), Statement: b, Signature: signature})
}

// sealed signs a statement, and opens it as whoever gets it does.
func sealed[S any](key crypto.PrivKey, kind string, statement any, open func([]byte) (S, error)) (s S, err error) {
	b, err := seal(key, kind, statement)
	if err != nil {
		return s, err
	}
	return open(b)
}

// A checked statement says what is out of bounds in it.
type checked interface{ check(c *bounds) }

// open checks length, signature and bounds of a statement that is nothing but that, and decodes it.
func open(b []byte, limit int, kind string, statement checked) (author peer.ID, err error) {
	var e envelope
	if author, err = e.open(b, limit, kind, statement); err == nil && e.Proof != nil {
		return "", fmt.Errorf("%w: %s: there is a proof beside it", ErrStatement, kind)
	}
	return author, err
}

// open is open, for one that may have something beside it.
func (e *envelope) open(b []byte, limit int, kind string, statement checked) (peer.ID, error) {
	fail := func(format string, args ...any) (peer.ID, error) {
		return "", fmt.Errorf("%w: %s: %s", ErrStatement, kind, fmt.Sprintf(format, args...))
	}
	if len(b) > limit {
		return fail("%d bytes, at most %d are accepted", len(b), limit)
	}
	if err := wire.Value().Decode(b, e); err != nil {
		return fail("%v", err)
	}
	author, err := peer.Decode(plain.Clip(e.Author))
	if err != nil {
		return fail("the author's peer ID: %v", err)
	}
	key, err := author.ExtractPublicKey()
	if err != nil {
		return fail("author %s: its key is not in its peer ID: %v", author, err)
	}
	if key.Type() != crypto.Ed25519 {
		return fail("author %s: its key is not Ed25519", author)
	}
	if ok, err := key.Verify(signedBytes(kind, e.Statement), e.Signature); err != nil || !ok {
		return fail("the signature is not that of %s", author)
	}
	// Nobody else makes other bytes of it: they would pass for another word of the author's.
	if one, err := wire.Value().Encode(e); err != nil || !bytes.Equal(one, b) || author.String() != e.Author {
		return fail("it is not written as %s writes it", author)
	}
	if err := wire.Value().Decode(e.Statement, statement); err != nil {
		return fail("%v", err)
	}
	var c bounds
	c.count("the length of the proof in bytes", int64(len(e.Proof)), 0, MaxCardProof)
	if statement.check(&c); c.err != nil {
		return fail("%v", c.err)
	}
	return author, nil
}

// bounds collects what is wrong with a statement's fields.
type bounds struct{ err error }

func (b *bounds) text(what, s string, most int) {
	if b.err == nil && len(s) > most {
		b.err = fmt.Errorf("%s has %d bytes, at most %d are allowed", what, len(s), most)
	}
	if b.err == nil && plain.Name(s) != s {
		b.err = fmt.Errorf("%s has characters that cannot be printed: %.32q", what, s)
	}
}

func (b *bounds) count(what string, n, least, most int64) {
	if b.err == nil && (n < least || n > most) {
		b.err = fmt.Errorf("%s is %d, allowed are %d to %d", what, n, least, most)
	}
}

const (
	maxName = 256
	// maxUnix bounds times: the year 9999.
	maxUnix = 253402300799
)
