package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// heardBook is a book and how to read it again.
func heardBook(t *testing.T, now time.Time) (book *addrBook, again func(now time.Time) *addrBook) {
	path := filepath.Join(t.TempDir(), "peers")
	open := func(now time.Time) *addrBook {
		t.Helper()
		book, err := openAddrBook(path, mustID(0), now)
		if err != nil {
			t.Fatal(err)
		}
		return book
	}
	book = open(now)
	return book, func(now time.Time) *addrBook {
		t.Helper()
		if err := book.save(); err != nil {
			t.Fatal(err)
		}
		return open(now)
	}
}

var oneAddr = []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/4001")}

// A member that was heard of is remembered as such, with where it was last; one that has never told its card is not.
func TestHeardOfIsRemembered(t *testing.T) {
	now := time.Unix(1800000000, 0)
	book, again := heardBook(t, now)
	moved := ma.StringCast("/ip4/192.0.2.2/tcp/4001")
	book.hear(mustID(0), oneAddr, now)
	book.tell(mustID(1), oneAddr, nil, 0)
	for i, addrs := range [][]ma.Multiaddr{oneAddr, oneAddr, {moved}} {
		if got := book.hear(mustID(2), addrs, now); got != (i != 1) {
			t.Errorf("card %d is news: %v", i, got)
		}
	}
	if !book.unsaved() {
		t.Error("whoever is killed now has heard of nobody")
	}
	book.hear(mustID(3), oneAddr, now)
	book.tell(mustID(3), []ma.Multiaddr{moved}, []byte("signed"), 1)
	book.hear(mustID(3), oneAddr, now)
	book.hear(mustID(4), oneAddr, now)
	book.meet(mustID(4), nil, now)
	book.hear(mustID(5), oneAddr, now)
	book.failed(mustID(5), true, now)
	read := again(now)
	if len(read.all) != 3 || read.met(mustID(2)) || read.met(mustID(3)) || !read.met(mustID(4)) {
		t.Errorf("%d are remembered", len(read.all))
	}
	if got := read.addrs(mustID(2)); len(got) != 2 || !got[0].Equal(moved) {
		t.Errorf("who has moved is at %v", got)
	}
	if got := read.addrs(mustID(3)); len(got) != 1 || !got[0].Equal(moved) {
		t.Errorf("by its card, which it signed for nobody in particular, a peer is at %v", got)
	}
	later := now.Add(rememberFor - time.Hour)
	if read.hear(mustID(2), oneAddr, later) {
		t.Error("an address that is known is news")
	}
	if !read.dirty {
		t.Error("when it was heard of last is not written down")
	}
	book.meet(mustID(4), nil, now.Add(rememberFor+time.Hour))
	if late := again(now.Add(2 * rememberFor)); len(late.all) != 1 || !late.met(mustID(4)) {
		t.Errorf("%d are remembered for ever", len(late.all))
	}
}

// However many cards there are, so many are remembered; those who are there keep their places, but not from a better
// number, nor once they are not heard of any more; and another process has other numbers.
func TestHeardOfAreBounded(t *testing.T) {
	now := time.Unix(1800000000, 0)
	heard := func(b *addrBook) (n int) {
		for _, e := range b.all {
			if !e.heard.IsZero() {
				n++
			}
		}
		return n
	}
	kept := func(b *addrBook, list map[byte]bool) (n int) {
		for i := range list {
			if b.all[mustID(i)] != nil {
				n++
			}
		}
		return n
	}
	crowd := func(b *addrBook, now time.Time, from, to int) map[byte]bool {
		list := map[byte]bool{}
		for i := from; i < to; i++ {
			b.hear(mustID(byte(i)), oneAddr, now)
			list[byte(i)] = true
		}
		return list
	}
	book, again := heardBook(t, now)
	book.meet(mustID(255), oneAddr[0], now)
	first := crowd(book, now, 1, 1+maxHeard)
	if kept(book, first) != maxHeard {
		t.Fatalf("of %d that there is room for are kept %d", maxHeard, kept(book, first))
	}
	crowd(book, now, 100, 100+maxHeard)
	rest := kept(book, first)
	if heard(book) != maxHeard || rest == 0 || rest == maxHeard || !book.met(mustID(255)) {
		t.Errorf("%d are kept, of the first %d", heard(book), rest)
	}
	for i := range first { // again, by when the others are not heard of any more
		book.hear(mustID(i), oneAddr, now.Add(2*heardLately))
	}
	if kept(book, first) != maxHeard {
		t.Errorf("those who are not heard of any more keep %d places", maxHeard-kept(book, first))
	}
	read := again(now.Add(2 * heardLately))
	if kept(read, first) != maxHeard || !read.met(mustID(255)) {
		t.Errorf("%d are remembered", kept(read, first))
	}
	read.seed = book.seed
	before := crowd(read, now.Add(2*heardLately), 100, 100+maxHeard)
	other := again(now.Add(2 * heardLately))
	crowd(other, now.Add(2*heardLately), 100, 100+maxHeard)
	same := true
	for i := range before {
		same = same && (read.all[mustID(i)] == nil) == (other.all[mustID(i)] == nil)
	}
	if same {
		t.Error("two processes prefer the same")
	}
}

// A crowd that members tell of drives out nobody who was heard of by its card, and the book has room for them.
func TestHeardOfBeforeStrangers(t *testing.T) {
	now := time.Unix(1800000000, 0)
	book, _ := heardBook(t, now)
	tell := func() {
		for i := range 2 * maxKnown {
			book.tell(peer.ID(fmt.Sprint(i)), oneAddr, nil, 0)
		}
	}
	tell()
	book.hear(mustID(1), oneAddr, now)
	book.meet(mustID(2), nil, now.Add(-time.Hour))
	tell()
	if len(book.all) != maxKnown || book.all[mustID(1)] == nil || !book.met(mustID(2)) {
		t.Errorf("of %d peers one was heard of: %v, one was met: %v", len(book.all), book.all[mustID(1)] != nil,
			book.met(mustID(2)))
	}
}

// Members that have addresses as long as they may be cannot make a file that is too long to be read again, or hide
// those who come after them.
func TestLongAddressesAreNotRemembered(t *testing.T) {
	now := time.Unix(1800000000, 0)
	book, again := heardBook(t, now)
	long := "/ip4/192.0.2.1/tcp/4001" + strings.Repeat("/p2p-circuit", 1+(maxAddress-100)/len("/p2p-circuit"))
	var addrs []ma.Multiaddr
	for i := range maxPeerAddrs {
		addrs = append(addrs, ma.StringCast(strings.Replace(long, "4001", fmt.Sprint(4001+i), 1)))
	}
	tooLong := ma.StringCast(long + strings.Repeat("/p2p-circuit", maxAddress/len("/p2p-circuit")))
	for i := range 200 {
		book.meet(mustID(byte(i+1)), tooLong, now.Add(-time.Second))
		book.tell(mustID(byte(i+1)), addrs, nil, 0)
	}
	book.meet(mustID(255), tooLong, now)
	book.tell(mustID(255), oneAddr, nil, 0)
	read := again(now)
	if len(read.all) < maxRemembered/2 || len(read.addrs(mustID(255))) != 1 {
		t.Errorf("%d are remembered, one of them at %v", len(read.all), read.addrs(mustID(255)))
	}
}
