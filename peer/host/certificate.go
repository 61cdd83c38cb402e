package host

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// A certificate says that a peer is a member of a swarm. The first of a chain is signed by the swarm's key,
// each of the others by the subject of the one before it, who must have been given the right to invite.
type certificate struct {
	Swarm     []byte `cbor:"1,keyasint"`           // the swarm's public key
	Subject   []byte `cbor:"2,keyasint"`           // peer ID
	Issuer    []byte `cbor:"3,keyasint,omitempty"` // peer ID; empty: the swarm's key
	MayInvite bool   `cbor:"4,keyasint,omitempty"`
	Signature []byte `cbor:"6,keyasint"` // 5 was when it ends
}

const (
	maxChain   = 4  // certificates from the swarm's key to a member
	maxIDBytes = 64 // an Ed25519 peer ID has 38
	signedAs   = "satin membership 1\n"
)

// signed gives the bytes that the signature is over.
func (c certificate) signed() ([]byte, error) {
	c.Signature = nil
	b, err := wire.Control().Encode(c)
	return append([]byte(signedAs), b...), err
}

// certify extends the issuer's chain by a certificate for subject. An empty chain means that key is the swarm's.
func certify(chain []certificate, key ed25519.PrivateKey, swarm ed25519.PublicKey, subject peer.ID, mayInvite bool) (
	[]certificate, error) {
	if len(chain) >= maxChain {
		return nil, fmt.Errorf("%w: invited by %d members in a row, and no more than that is accepted",
			ErrMayNotInvite, len(chain))
	}
	c := certificate{Swarm: swarm, Subject: []byte(subject), MayInvite: mayInvite && len(chain)+1 < maxChain}
	if n := len(chain); n > 0 {
		last := chain[n-1]
		if !last.MayInvite {
			return nil, ErrMayNotInvite
		}
		c.Issuer = last.Subject
	}
	b, err := c.signed()
	if err != nil {
		return nil, err
	}
	c.Signature = ed25519.Sign(key, b)
	return append(slices.Clone(chain), c), nil
}

var errNoProof = errors.New("it shows no membership")

// verifyChain checks that chain proves id's membership of the swarm. revoked says which peers are out, of whom the
// certificates above theirs are given too: a chain through such a peer proves nothing.
func verifyChain(chain []certificate, swarm ed25519.PublicKey, id peer.ID,
	revoked func(id peer.ID, above []certificate) bool) error {
	if len(chain) == 0 {
		return errNoProof
	}
	if len(chain) > maxChain {
		return fmt.Errorf("%d certificates, at most %d", len(chain), maxChain)
	}
	key := swarm
	for i, c := range chain {
		if !slices.Equal(c.Swarm, swarm) {
			return errors.New("its certificate is for another swarm's key")
		}
		if i == 0 && len(c.Issuer) != 0 || i > 0 && (!slices.Equal(c.Issuer, chain[i-1].Subject) ||
			!chain[i-1].MayInvite) {
			return errors.New("its certificate was issued by one who may not invite")
		}
		b, err := c.signed()
		if err != nil {
			return err
		}
		if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, b, c.Signature) {
			return errors.New("the signature of its certificate is wrong")
		}
		subject, public, err := identity(c.Subject)
		if err != nil {
			return err
		}
		if revoked(subject, chain[:i]) {
			return fmt.Errorf("%w: that of %s", ErrOut, subject)
		}
		key = public
	}
	if string(chain[len(chain)-1].Subject) != string(id) {
		return errors.New("its certificate is another peer's")
	}
	return nil
}

// identity reads a peer ID and the Ed25519 key that it spells out.
func identity(b []byte) (peer.ID, ed25519.PublicKey, error) {
	if len(b) > maxIDBytes {
		return "", nil, errors.New("peer ID too long")
	}
	id, err := peer.IDFromBytes(b)
	if err != nil {
		return "", nil, err
	}
	public, err := id.ExtractPublicKey()
	if err != nil {
		return "", nil, fmt.Errorf("%s is not an Ed25519 peer ID: %w", id, err)
	}
	raw, err := public.Raw()
	if err != nil {
		return "", nil, err
	}
	if public.Type() != crypto.Ed25519 {
		return "", nil, fmt.Errorf("%s is not an Ed25519 peer ID", id)
	}
	return id, raw, nil
}
