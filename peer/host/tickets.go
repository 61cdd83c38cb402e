package host

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

const (
	maxTickets = 512  // invitations that are open at a time
	maxUses    = 1000 // peers that may join by one invitation
)

// A ticket is this peer's side of an invitation it made.
type ticket struct {
	Hash      string   `json:"hash"`    // SHA-256 of the secret, in hexadecimal: this file lets nobody join
	Expires   int64    `json:"expires"` // seconds since 1970
	Uses      int      `json:"uses"`
	Used      []string `json:"used,omitempty"` // who joined by it, so that one whose answer was lost can ask again
	MayInvite bool     `json:"may_invite,omitempty"`
}

// A ticketBook holds the tickets that can still be used, in a file.
type ticketBook struct {
	path    string
	reached func(at int64) bool // whether it is that time, as far as the clock is believed

	mu  sync.Mutex
	all []ticket
}

func openTicketBook(path string, reached func(at int64) bool) (*ticketBook, error) {
	b, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	book := &ticketBook{path: path, reached: reached}
	if b == nil {
		return book, nil
	}
	if book.all, err = parseTickets(b); err != nil {
		return nil, stateError(path, "is damaged; without it all open invitations are void", err)
	}
	return book, nil
}

func parseTickets(b []byte) ([]ticket, error) {
	var all []ticket
	if err := decodeJSON(b, &all); err != nil {
		return nil, err
	}
	if len(all) > maxTickets {
		return nil, fmt.Errorf("more than %d invitations", maxTickets)
	}
	for _, t := range all {
		if _, ok := wire.ParseHash(t.Hash); !ok {
			return nil, fmt.Errorf("%q is not a hash", t.Hash)
		}
		if t.Uses < 1 || t.Uses > maxUses || len(t.Used) > t.Uses {
			return nil, fmt.Errorf("invitation %s: impossible numbers", t.Hash[:8])
		}
	}
	return all, nil
}

func hashSecret(secret []byte) string {
	sum := sha256.Sum256(secret)
	return hex.EncodeToString(sum[:])
}

// issue makes a ticket and returns its secret.
func (book *ticketBook) issue(t ticket) ([]byte, error) {
	secret := make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	t.Hash = hashSecret(secret)
	book.mu.Lock()
	defer book.mu.Unlock()
	if book.prune(); len(book.all) >= maxTickets {
		return nil, fmt.Errorf("%w: %d invitations are open already; they expire", ErrBusy, maxTickets)
	}
	return secret, book.save(append(slices.Clone(book.all), t))
}

// redeem uses a ticket for a peer. The use is on the disk before it counts.
func (book *ticketBook) redeem(secret []byte, id peer.ID, now time.Time) (ticket, error) {
	book.mu.Lock()
	defer book.mu.Unlock()
	hash := hashSecret(secret)
	i := slices.IndexFunc(book.all, func(t ticket) bool { return t.Hash == hash })
	if i < 0 {
		return ticket{}, fmt.Errorf("%w: it is not known here, or expired long ago", ErrInvitation)
	}
	t := book.all[i]
	if now.Unix() > t.Expires {
		return ticket{}, fmt.Errorf("%w: it expired on %s", ErrInvitation,
			time.Unix(t.Expires, 0).UTC().Format(time.DateTime+" MST"))
	}
	if slices.Contains(t.Used, id.String()) {
		return t, nil
	}
	if len(t.Used) >= t.Uses {
		return ticket{}, fmt.Errorf("%w: it was for %d and is used up", ErrInvitation, t.Uses)
	}
	t.Used = append(slices.Clone(t.Used), id.String())
	next := slices.Clone(book.all)
	next[i] = t
	return t, book.save(next)
}

// prune forgets tickets a day after they expired, when that is sure; until then a peer that comes with one is told so.
func (book *ticketBook) prune() {
	book.all = slices.DeleteFunc(slices.Clone(book.all), func(t ticket) bool {
		return book.reached(t.Expires + 24*60*60 + 1)
	})
}

func (book *ticketBook) save(next []ticket) error {
	b, err := json.MarshalIndent(next, "", "\t")
	if err != nil {
		return err
	}
	if err := writeDurably(book.path, append(b, '\n')); err != nil {
		return err
	}
	book.all = next
	return nil
}
