package host

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/wire"
)

// DefaultSwarm is the name of a swarm that was given none.
const DefaultSwarm = "satin"

const maxSwarmName = 64 // bytes

// A swarm is the one that this peer is in: its name, its public key and the chain of certificates that proves
// the membership.
//
// A peer that has never met anybody is in a swarm of its own, whose key it has just made. It is settled when
// it has let somebody in or was let in elsewhere; until then it may still join another swarm. A swarm that
// anybody may enter has no key.
type swarm struct {
	state *stateDir
	self  peer.ID
	key   ed25519.PrivateKey // the peer's

	mu      sync.Mutex
	named   bool // by the user, or because it is settled
	name    string
	public  ed25519.PublicKey // nil: no key
	chain   []certificate
	settled bool
}

// swarmRecord is the content of swarmFile.
type swarmRecord struct {
	Name    string `json:"name"`
	Key     []byte `json:"key,omitempty"`         // public
	Chain   []byte `json:"certificate,omitempty"` // CBOR
	Settled bool   `json:"settled,omitempty"`
}

// openSwarm reads what swarm the peer is in. If it is in none it gets one of its own, with a key if keyed is set.
func openSwarm(state *stateDir, key ed25519.PrivateKey, self peer.ID, name string, keyed bool) (*swarm, error) {
	if err := checkSwarmName(name); name != "" && err != nil {
		return nil, err
	}
	s := &swarm{state: state, self: self, key: key, name: name, named: name != ""}
	if name == "" {
		s.name = DefaultSwarm
	}
	b, err := readState(state.path(swarmFile))
	if err != nil {
		return nil, err
	}
	if b != nil {
		if err := s.decode(b); err != nil {
			return nil, stateError(state.path(swarmFile),
				"is damaged; put back a copy, or remove it and be invited again", err)
		}
	}
	if name != "" && s.name != name {
		if s.settled {
			return nil, fmt.Errorf(
				"%w: %s belongs to the swarm %q, not %q: leave the name out, or use another directory",
				ErrWrongSwarm, state.dir, s.name, name)
		}
		s.name = name
	}
	if err := s.readSwarmKey(keyed); err != nil {
		return nil, err
	}
	return s, nil
}

// readSwarmKey makes the peer a member of its own swarm, or of the one whose key it was given.
func (s *swarm) readSwarmKey(keyed bool) error {
	path := s.state.path(swarmKeyFile)
	_, err := os.Stat(path)
	given := err == nil
	if !given && (!errors.Is(err, fs.ErrNotExist) || s.public != nil || !keyed) {
		return nil // an unreadable file is found out by those who need it
	}
	private, err := readOrMakeKey(path)
	if err != nil {
		return err
	}
	public := private.Public().(ed25519.PublicKey)
	if s.public != nil {
		if !bytes.Equal(s.public, public) {
			return stateError(path, fmt.Sprintf(
				"is not the key of the swarm %q that this peer is in: remove one of %s and %s", s.name,
				swarmKeyFile, swarmFile), nil)
		}
		return nil
	}
	s.public = public
	s.settled = given // somebody put it there
	if s.chain, err = certify(nil, private, public, s.self, true); err != nil {
		return err
	}
	return s.save(s.name, s.public, s.chain, s.settled)
}

func (s *swarm) decode(b []byte) error {
	var r swarmRecord
	if err := decodeJSON(b, &r); err != nil {
		return err
	}
	if err := checkSwarmName(r.Name); err != nil {
		return err
	}
	if len(r.Key) == 0 {
		s.name = r.Name
		return nil
	}
	var chain []certificate
	if err := wire.Control().Decode(r.Chain, &chain); err != nil {
		return err
	}
	if err := verifyChain(chain, r.Key, s.self, nobodyOut); err != nil {
		return err
	}
	s.name, s.public, s.chain, s.settled = r.Name, r.Key, chain, r.Settled
	return nil
}

// decodeJSON reads one JSON value, with no fields that v does not have and nothing behind it.
func decodeJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// save writes what the peer is to be in its next life. It is so in this one when that is on the disk.
func (s *swarm) save(name string, public ed25519.PublicKey, chain []certificate, settled bool) error {
	text, err := wire.Control().Encode(chain)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(swarmRecord{name, public, text, settled}, "", "\t")
	if err != nil {
		return err
	}
	return writeDurably(s.state.path(swarmFile), append(b, '\n'))
}

// A standing is what a peer says of its own membership.
type standing struct {
	name    string
	public  ed25519.PublicKey
	chain   []certificate
	named   bool
	settled bool
}

func (s *swarm) standing() standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return standing{s.name, s.public, s.chain, s.named || s.settled, s.settled}
}

// mayInvite says whether certificates of this peer are worth anything.
func (s *swarm) mayInvite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.chain); n == 0 || n >= maxChain || !s.chain[n-1].MayInvite {
		return fmt.Errorf("%w to the swarm %q: ask who invited you for an invitation that allows it",
			ErrMayNotInvite, s.name)
	}
	return nil
}

// grant makes a certificate for a peer.
func (s *swarm) grant(id peer.ID, mayInvite bool) ([]certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chain) == 0 {
		return nil, ErrMayNotInvite
	}
	if !s.settled {
		if err := s.save(s.name, s.public, s.chain, true); err != nil {
			return nil, err // a next life could leave with the swarm's key
		}
		s.settled = true
	}
	return certify(s.chain, s.key, s.public, id, mayInvite)
}

// canAdopt says whether the peer is free to become a member of the swarm with a key.
func (s *swarm) canAdopt(public ed25519.PublicKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled && !bytes.Equal(s.public, public) {
		return fmt.Errorf(
			"%w: this peer is in the swarm %q already, with other members: use another state directory to be in a second one", ErrWrongSwarm, s.name)
	}
	return nil
}

// adopt makes the peer a member of another swarm. The key of the lonely one that it had is gone then.
func (s *swarm) adopt(name string, public ed25519.PublicKey, chain []certificate) error {
	if err := s.canAdopt(public); err != nil {
		return err
	}
	if err := checkSwarmName(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !bytes.Equal(s.public, public) {
		if err := durable.Remove(s.state.path(swarmKeyFile)); err != nil {
			return stateError(s.state.path(swarmKeyFile), "cannot be removed", err)
		}
	}
	if err := s.save(name, public, chain, true); err != nil {
		return err
	}
	s.name, s.named, s.public, s.chain, s.settled = name, true, public, chain, true
	return nil
}

func checkSwarmName(name string) error {
	if name == "" || len(name) > maxSwarmName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: a swarm's name has 1 to %d bytes of text", ErrConfig, maxSwarmName)
	}
	for _, r := range name {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return fmt.Errorf("%w: %q cannot be a swarm's name: no spaces or control characters", ErrConfig, name)
		}
	}
	return nil
}
