package host

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/wire"
)

// An Invitation is what an invitation line says.
type Invitation struct {
	Swarm   string            // the swarm's name
	Key     ed25519.PublicKey // the swarm's key
	Inviter peer.ID           // who lets the bearer in
	Addrs   []string          // where the inviter was, full multiaddrs
	Expires time.Time         // to the second

	secret []byte
	infos  []ma.Multiaddr
}

const (
	invitationFamily = "satin-invite-"
	invitationPrefix = invitationFamily + "1:"
	shownLetters     = 4    // of what makes an invitation secret
	maxInvitation    = 4096 // letters
	maxLineAddrs     = 8    // addresses in a line
	secretBytes      = 16
	checksumBytes    = 4
)

// invitationBody is what is encoded in a line.
type invitationBody struct {
	Swarm   string   `cbor:"1,keyasint"`
	Key     []byte   `cbor:"2,keyasint"`
	Inviter []byte   `cbor:"3,keyasint"`
	Addrs   [][]byte `cbor:"4,keyasint"` // multiaddrs without the peer ID
	Expires int64    `cbor:"5,keyasint"` // seconds since 1970
	Secret  []byte   `cbor:"6,keyasint"`
}

func (v *Invitation) line() (string, error) {
	body := invitationBody{Swarm: v.Swarm, Key: v.Key, Inviter: []byte(v.Inviter), Expires: v.Expires.Unix(),
		Secret: v.secret}
	for _, a := range v.infos {
		body.Addrs = append(body.Addrs, a.Bytes())
	}
	b, err := wire.Control().Encode(body)
	if err != nil {
		return "", err
	}
	return invitationPrefix + base64.RawURLEncoding.EncodeToString(append(b, checksum(b)...)), nil
}

// checksum finds lines that were copied badly; it proves nothing.
func checksum(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:checksumBytes]
}

// IsInvitation says whether a text is meant as an invitation line, rather than as an address: also one of
// another version, or badly copied.
func IsInvitation(text string) bool {
	return strings.Contains(text, invitationFamily) && !strings.HasPrefix(strings.TrimSpace(text), "/")
}

// Mask shortens an invitation line to its first letters, for logs and errors: whoever reads the whole line
// can join by it. An address stays as it is.
func Mask(text string) string {
	at := strings.Index(text, invitationFamily)
	if at < 0 {
		return text
	}
	end := at + len(invitationFamily)
	if colon := strings.IndexByte(text[end:], ':'); colon >= 0 {
		end += colon + 1
	}
	shown := printable(clip(text, min(end, at+2*len(invitationFamily))+shownLetters))
	if len(shown) < len(text) {
		shown += "…"
	}
	return shown
}

// ParseInvitation reads an invitation line. Spaces and line ends in it do no harm: mail adds them. Errors
// wrap ErrInvitation and quote no more of the line than its first letters. An expired line is no error here.
func ParseInvitation(line string) (*Invitation, error) {
	bad := func(what string, cause error) (*Invitation, error) {
		if cause != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrInvitation, what, cause)
		}
		return nil, fmt.Errorf("%w: %s", ErrInvitation, what)
	}
	if len(line) > maxInvitation {
		return bad("too long", nil)
	}
	whole := strings.Join(strings.Fields(line), "")
	text, ok := strings.CutPrefix(whole, invitationPrefix)
	switch {
	case ok:
	case newerInvitation(whole):
		return bad(fmt.Sprintf("%q was made by a newer version of satin-peer than this one: update this one",
			Mask(whole)), nil)
	case strings.Contains(whole, invitationPrefix):
		return bad(fmt.Sprintf("it should begin with %s, and there is %q before that", invitationPrefix,
			clip(whole[:strings.Index(whole, invitationPrefix)], maxSwarmName)), nil)
	default:
		return bad("it does not begin with "+invitationPrefix, nil)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < checksumBytes {
		return bad("it was not copied whole", err)
	}
	b, sum := b[:len(b)-checksumBytes], b[len(b)-checksumBytes:]
	if string(checksum(b)) != string(sum) {
		return bad("it was not copied whole", nil)
	}
	var body invitationBody
	if err := wire.Control().Decode(b, &body); err != nil {
		return bad("it cannot be read", err)
	}
	if err := checkSwarmName(body.Swarm); err != nil {
		return bad("it cannot be read", err)
	}
	inviter, _, err := identity(body.Inviter)
	if err != nil {
		return bad("it cannot be read", err)
	}
	if len(body.Key) != ed25519.PublicKeySize || len(body.Secret) != secretBytes || len(body.Addrs) > maxLineAddrs {
		return bad("it cannot be read", nil)
	}
	v := &Invitation{Swarm: body.Swarm, Key: body.Key, Inviter: inviter, Expires: time.Unix(body.Expires, 0),
		secret: body.Secret}
	for _, raw := range body.Addrs {
		a, err := ma.NewMultiaddrBytes(raw)
		if err != nil {
			return bad("it cannot be read", err)
		}
		v.infos = append(v.infos, a)
		v.Addrs = append(v.Addrs, a.String()+"/p2p/"+inviter.String())
	}
	return v, nil
}

// newerInvitation says whether a line begins with a version of invitations that is not known yet.
func newerInvitation(line string) bool {
	rest, ok := strings.CutPrefix(line, invitationFamily)
	version, _, found := strings.Cut(rest, ":")
	n, err := strconv.ParseUint(version, 10, 16)
	return ok && found && err == nil && n > 1
}
