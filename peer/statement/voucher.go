package statement

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/verify"
)

// A voucher is the statement of whoever has computed a job's outcome that it is this one, and of how it was made: a
// commitment to the tree of outcomes below it, and who else had a hand in it. It travels beside the outcome, which it
// does not repeat, so it is checked together with it. Whoever has it from an earlier life may stand for the author,
// whom others may not know.
type voucher struct {
	// Of are the keys of those whose outcomes it was made of, one behind the other, each greater than the one before.
	// An odd byte behind them says that there were more.
	Of        []byte   `cbor:"0,keyasint,omitempty"`
	Author    []byte   `cbor:"1,keyasint"` // peer ID
	Tree      [32]byte `cbor:"2,keyasint"`
	Nodes     uint64   `cbor:"3,keyasint"`
	Signature []byte   `cbor:"4,keyasint"`
	Bearer    []byte   `cbor:"5,keyasint,omitempty"` // peer ID
	Stands    []byte   `cbor:"6,keyasint,omitempty"` // the bearer's signature
	Time      uint64   `cbor:"7,keyasint,omitempty"` // that the tree took; 0: the author does not say
}

// MaxVoucher bounds an encoded voucher, in bytes.
const MaxVoucher = 512 + verify.MaxAuthors*keyBytes

// What names the key of a peer in its ID: all that sign have Ed25519 keys, so it is the same for all.
const (
	keyBytes  = ed25519.PublicKeySize
	keyPrefix = "\x00\x24\x08\x01\x12\x20"
)

// Vouched is a voucher that was read.
type Vouched struct {
	verify.Claim
	Author peer.ID // who has computed the outcome
	Bearer peer.ID // who stands for that; "" if nobody does
	signed voucher
}

// Of are those whose outcomes it was made of, as bytes of peer.IDs.
func (v *Vouched) Of() verify.Authors { return AuthorsOf(v.signed.Of) }

// AuthorsOf reads what Keys has written.
func AuthorsOf(keys []byte) (of verify.Authors) {
	for ; len(keys) >= keyBytes; keys = keys[keyBytes:] {
		of.Names = append(of.Names, keyPrefix+string(keys[:keyBytes]))
	}
	of.More = len(keys) > 0
	return of
}

// Keys is how statements have authors.
func Keys(of *verify.Authors) (b []byte, err error) {
	for _, name := range of.Names {
		key, ok := strings.CutPrefix(name, keyPrefix)
		if !ok || len(key) != keyBytes {
			return nil, fmt.Errorf("%w: voucher: %q has no Ed25519 key in its peer ID", ErrStatement, name)
		}
		b = append(b, key...)
	}
	if of.More {
		b = append(b, 1)
	}
	return b, nil
}

// checkKeys says what is wrong with such keys from anywhere.
func checkKeys(b []byte) error {
	last := b[:0:0]
	rest := b
	for ; len(rest) >= keyBytes; rest = rest[keyBytes:] {
		if next := rest[:keyBytes]; len(last) > 0 && bytes.Compare(last, next) >= 0 {
			return fmt.Errorf("%w: voucher: the authors are not in order", ErrStatement)
		}
		last = rest[:keyBytes]
	}
	if len(rest) > 1 || len(rest) == 1 && rest[0] != 1 || len(b) > verify.MaxAuthors*keyBytes+1 {
		return fmt.Errorf("%w: voucher: %d bytes of authors", ErrStatement, len(b))
	}
	return nil
}

// Vouch signs a claim about a node of a run that its author has computed alone.
func Vouch(author crypto.PrivKey, run job.RunID, c *verify.Claim) ([]byte, error) {
	return VouchMade(author, run, c, &verify.Authors{})
}

// VouchMade signs a claim about a node that was made of outcomes of others.
func VouchMade(author crypto.PrivKey, run job.RunID, c *verify.Claim, of *verify.Authors) ([]byte, error) {
	id, err := peer.IDFromPrivateKey(author)
	if err != nil {
		return nil, err
	}
	v := &voucher{Author: []byte(id), Tree: c.Tree, Nodes: c.Nodes, Time: c.Time}
	if v.Of, err = Keys(of); err != nil {
		return nil, err
	}
	if v.Signature, err = author.Sign(signedBytes(kindVoucher, v.claimBytes(run, c))); err != nil {
		return nil, err
	}
	return wire.Value().Encode(v)
}

// Sign gives a voucher that Unsigned has written its signature.
func (v *Vouched) Sign(author crypto.PrivKey, run job.RunID) (_ []byte, err error) {
	next := v.signed
	if next.Signature, err = author.Sign(signedBytes(kindVoucher, next.claimBytes(run, &v.Claim))); err != nil {
		return nil, err
	}
	return wire.Value().Encode(&next)
}

// unsigned stands in the place of a signature, which is never that.
const unsigned = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// Unsigned writes a voucher without its signature, and as long as it will be with it. It convinces nobody: it is for
// an outcome that will most likely not leave its author.
func Unsigned(author peer.ID, c *verify.Claim, of *verify.Authors) ([]byte, error) {
	keys, err := Keys(of)
	if err != nil {
		return nil, err
	}
	return wire.Value().Encode(&voucher{Of: keys, Author: []byte(author), Tree: c.Tree, Nodes: c.Nodes,
		Signature: []byte(unsigned), Time: c.Time})
}

// timeBytes is what may be behind a signature that nobody has made: the time, and which field that is.
const timeBytes = 1 + 9

// IsUnsigned says whether a voucher is one that Unsigned has written.
func IsUnsigned(b []byte) bool {
	return bytes.Contains(b[max(0, len(b)-len(unsigned)-timeBytes):], []byte(unsigned))
}

// IsOwn says whether a voucher is one that Unsigned has written and that names nobody, without reading it: in a map
// whose keys are in order the names come first.
func IsOwn(b []byte) bool { return IsUnsigned(b) && b[1] == 1 }

// StandFor gives a voucher that was opened a bearer.
func (v *Vouched) StandFor(bearer crypto.PrivKey, run job.RunID) ([]byte, error) {
	id, err := peer.IDFromPrivateKey(bearer)
	if err != nil {
		return nil, err
	}
	next := v.signed
	next.Bearer = []byte(id)
	if next.Stands, err = bearer.Sign(signedBytes(kindBearer, v.borne(run))); err != nil {
		return nil, err
	}
	return wire.Value().Encode(&next)
}

// borne is what a bearer signs.
func (v *Vouched) borne(run job.RunID) []byte {
	return append(v.signed.claimBytes(run, &v.Claim), v.signed.Signature...)
}

// claimBytes is what is signed.
func (v *voucher) claimBytes(run job.RunID, c *verify.Claim) []byte {
	b := make([]byte, 0, 16+8+len(c.Node.Path)+16+32+32+8+len(v.Of)+8)
	b = append(b, run[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(c.Node.Path)))
	b = append(b, c.Node.Path...)
	b = append(b, c.Node.Identity[:]...)
	b = append(b, c.Outcome[:]...)
	b = append(b, c.Tree[:]...)
	b = append(binary.BigEndian.AppendUint64(b, c.Nodes), v.Of...) // all before is as long as it says, or always
	if c.Time > 0 {
		b = binary.BigEndian.AppendUint64(b, c.Time) // eight bytes are neither a name nor the mark behind names
	}
	return b
}

// ReadVoucher says what a voucher claims of a node and its outcome, and by whom, and does not check the signatures: for
// one that was checked before.
func ReadVoucher(b []byte, n verify.Node, outcome verify.Hash) (*Vouched, error) {
	r := &Vouched{Claim: verify.Claim{Node: n, Outcome: outcome}}
	v := &r.signed
	if len(b) == 0 || len(b) > MaxVoucher {
		return nil, fmt.Errorf("%w: voucher: %d bytes, 1 to %d are accepted", ErrStatement, len(b), MaxVoucher)
	}
	if err := wire.Value().Decode(b, v); err != nil {
		return nil, fmt.Errorf("%w: voucher: %w", ErrStatement, err)
	}
	var err error
	if r.Author, err = peer.IDFromBytes(v.Author); err == nil && len(v.Bearer) > 0 {
		r.Bearer, err = peer.IDFromBytes(v.Bearer)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: voucher: a peer ID: %w", ErrStatement, err)
	}
	if r.Tree, r.Nodes, r.Time = v.Tree, v.Nodes, v.Time; v.Time > verify.MaxTime {
		return nil, fmt.Errorf("%w: voucher: a time of %d us, at most %d are accepted", ErrStatement, v.Time,
			uint64(verify.MaxTime))
	}
	if err = checkKeys(v.Of); err != nil {
		return nil, err
	}
	return r, nil
}

// OpenVoucher checks a voucher from anywhere for a node of a run and its outcome. Whether its author and bearer are
// members is for the caller to see.
func OpenVoucher(b []byte, run job.RunID, n verify.Node, outcome verify.Hash) (*Vouched, error) {
	v, err := ReadVoucher(b, n, outcome)
	if err == nil {
		err = checkSigned(v.Author, kindVoucher, v.signed.claimBytes(run, &v.Claim), v.signed.Signature)
	}
	if err == nil && v.Bearer != "" {
		err = checkSigned(v.Bearer, kindBearer, v.borne(run), v.signed.Stands)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func checkSigned(author peer.ID, kind string, b, signature []byte) error {
	key, err := author.ExtractPublicKey()
	if err != nil || key.Type() != crypto.Ed25519 {
		return fmt.Errorf("%w: %s: %s has no Ed25519 key in its peer ID", ErrStatement, kind, author)
	}
	if ok, err := key.Verify(signedBytes(kind, b), signature); err != nil || !ok {
		return fmt.Errorf("%w: %s: the signature is not that of %s for this outcome", ErrStatement, kind, author)
	}
	return nil
}
