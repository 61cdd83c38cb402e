package gateway

import (
	"bytes"
	"crypto/sha256"
	"net/netip"
	"slices"

	"github.com/satin-peer/satin/peer/statement"
)

// A page goes on at another member's gateway when its own is lost. Which ones it may is decided here, of what members
// tell in their cards, and nobody has checked that: a page must not become a way to have its visitors' browsers knock
// at doors, so
//
//   - an address has to mean the same to a visitor as to whoever told of it: loopback to visitors of a page on
//     loopback, a private one to those of a page at a private address; a name stands for a machine only where that
//     has to show a certificate for it;
//   - a page that came by TLS goes nowhere without;
//   - there are few, of each member one, and no two of one hand as long as there are others. Which of many, nobody can
//     foresee, so it is no use to have a thousand members tell of gateways.
//
// It is a pure function.

// MaxOthers bounds the gateways that a page may go on at.
const MaxOthers = 4

// Another is a gateway as its member's card has it.
type Another struct {
	Member string
	Hand   string // of all members in one hand the same
	At     statement.Origin
}

// choose gives those that a page may go on at, in an order that depends on salt.
func choose(page statement.Origin, told []Another, salt []byte) (list []statement.Origin) {
	rank := func(x Another) []byte {
		h := sha256.Sum256(slices.Concat(salt, []byte(x.Member)))
		return h[:]
	}
	told = slices.DeleteFunc(slices.Clone(told), func(x Another) bool { return !suits(page, x.At) })
	slices.SortFunc(told, func(a, b Another) int { return bytes.Compare(rank(a), rank(b)) })
	hands := map[string]bool{}
	for _, further := range [...]bool{false, true} { // of hands that have one
		for _, x := range told {
			if hands[x.Hand] == further && !slices.Contains(list, x.At) && len(list) < MaxOthers {
				hands[x.Hand] = true
				list = append(list, x.At)
			}
		}
	}
	return list
}

// suits says whether visitors of a page may be sent to a gateway.
func suits(page, other statement.Origin) bool {
	o, err := statement.OriginOf(string(other))
	if err != nil || o != other || other == page {
		return false
	}
	from, to := page.URL(), other.URL()
	at := other.Address()
	switch {
	case from.Scheme == "https" && to.Scheme != "https":
		return false
	case !at.IsValid():
		return to.Scheme == "https" && to.Hostname() != "localhost"
	case !at.Is4(): // no browser's policy can name another one
		return false
	}
	return distance(at) >= 0 && distance(at) <= distance(page.Address())
}

// distance says how far from here an address may mean another machine than here: 2 at once, 1 in another network, 0
// nowhere, and -1: it means none.
func distance(a netip.Addr) int {
	switch {
	case a.IsLoopback():
		return 2
	case a.IsUnspecified(), a.IsMulticast(), a.IsLinkLocalUnicast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return -1
	case a.IsPrivate(), a.Is4() && a.As4()[0] == 100 && a.As4()[1]&0xc0 == 64: // 100.64.0.0/10 is providers'
		return 1
	}
	return 0
}
