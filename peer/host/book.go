package host

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	maxKnown       = 1024                // peers whose addresses are kept in memory
	maxToldBy      = 128                 // of them, those of whom one member told, and who were never met
	maxRemembered  = 128                 // of them, those that a file keeps: members that were met
	maxPeerAddrs   = 16                  // addresses of one peer
	rememberFor    = 30 * 24 * time.Hour // longer than the last one: of clocks that are ahead that says nothing
	firstRetry     = 2 * time.Second     // after a failed dial, doubled by each further one
	longestRetry   = 5 * time.Minute
	heardWord      = "heard"
	addrBookFormat = "# Addresses where members were met, or heard of, and when (seconds since 1970)."
	maxBookText    = maxStateFile - 2*maxAddress // a longer file could not be read again
)

// A bookEntry is what is known of how to reach a peer.
type bookEntry struct {
	addrs   []ma.Multiaddr
	reached ma.Multiaddr // where it was dialed with success, which need not be in its record; also in addrs
	record  []byte       // the addresses as the peer itself signed them, to pass on; nil if it did not
	seq     uint64       // of the record
	by      peer.ID      // who told of it first; "" for the local network
	met     time.Time    // when it was last seen as a member; zero: never
	branch  string       // of which it was one then: see Host.Branch
	heard   time.Time    // when its card last told, more or less; zero: never, or it is not remembered for that
	byCard  bool         // its card alone says where it is: it is dialed when nobody is here
	tries   int          // failed dials in a row
	notTill time.Time    // the next dial
}

// member says whether the peer was met as one.
func (e *bookEntry) member() bool { return e != nil && !e.met.IsZero() }

// lasts says whether the peer is remembered across starts.
func (e *bookEntry) lasts() bool { return e.member() || !e.heard.IsZero() }

// An addrBook knows where peers may be. Those met as members, and some that were heard of, are remembered in a file.
type addrBook struct {
	path   string
	self   peer.ID
	seed   maphash.Seed
	branch func(peer.ID) string // nil: all are of one

	mu    sync.Mutex
	all   map[peer.ID]*bookEntry
	dirty bool // the file is not up to date
	fresh bool // and lacks a member that was met or heard of for the first time
}

func openAddrBook(path string, self peer.ID, now time.Time) (*addrBook, error) {
	b, err := readState(path)
	if err != nil {
		return nil, err
	}
	book := &addrBook{path: path, self: self, seed: maphash.MakeSeed()}
	// A file that was damaged costs the time to find others, so it is not worth an error.
	book.all = parseAddrBook(b, now)
	delete(book.all, self)
	return book, nil
}

// parseAddrBook reads what formatAddrBook wrote, and leaves out lines that make no sense, and who was not met or heard
// of for long when others still were. Whether it is long ago now nobody knows: the clock may be wrong, and who comes
// back after a year has nobody else to ask.
func parseAddrBook(b []byte, now time.Time) map[peer.ID]*bookEntry {
	all, heard, newest := map[peer.ID]*bookEntry{}, 0, time.Time{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		byCard := len(fields) == 3 && fields[2] == heardWord
		if len(fields) != 2 && !byCard || strings.HasPrefix(fields[0], "#") {
			continue
		}
		info, err := ParseAddr(fields[0])
		if err != nil {
			continue
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		at := time.Unix(seconds, 0)
		if err != nil {
			continue
		}
		if at.After(newest) && !at.After(now) {
			newest = at
		}
		e := all[info.ID]
		if e == nil {
			if byCard && heard >= maxHeard || !byCard && len(all)-heard >= maxRemembered {
				continue
			}
			if e = (&bookEntry{byCard: byCard}); byCard {
				heard++
			}
			all[info.ID] = e
		}
		if e.byCard != byCard {
			continue
		}
		last := &e.met
		if byCard {
			last = &e.heard
		}
		if last.Before(at) {
			*last = at
		}
		if len(e.addrs) < maxPeerAddrs {
			e.addrs = append(e.addrs, info.Addrs...)
		}
	}
	maps.DeleteFunc(all, func(_ peer.ID, e *bookEntry) bool {
		return newest.Sub(e.met) > rememberFor && newest.Sub(e.heard) > rememberFor
	})
	return all
}

// formatAddrBook writes the members that were met last, of each branch in turn, and those that are remembered though
// they were only heard of.
func formatAddrBook(all map[peer.ID]*bookEntry) []byte {
	text := bytes.NewBufferString(addrBookFormat + "\n")
	write := func(most int, when func(*bookEntry) time.Time, word string) {
		ids := slices.DeleteFunc(slices.Collect(maps.Keys(all)),
			func(id peer.ID) bool { return when(all[id]).IsZero() })
		slices.SortFunc(ids, func(a, b peer.ID) int {
			return cmp.Or(when(all[b]).Compare(when(all[a])), cmp.Compare(a, b))
		})
		turn, of := map[peer.ID]int{}, map[string]int{}
		for _, id := range ids {
			of[all[id].branch]++
			turn[id] = of[all[id].branch]
		}
		slices.SortStableFunc(ids, func(a, b peer.ID) int { return turn[a] - turn[b] })
		for _, id := range ids[:min(len(ids), most)] {
			for _, a := range all[id].addrs {
				line := fmt.Sprintf("%s/p2p/%s", a, id)
				if len(line) <= maxAddress && text.Len() < maxBookText {
					fmt.Fprintf(text, "%s %d%s\n", line, when(all[id]).Unix(), word)
				}
			}
		}
	}
	write(maxRemembered, func(e *bookEntry) time.Time { return e.met }, "")
	write(maxHeard, func(e *bookEntry) time.Time {
		if e.member() {
			return time.Time{}
		}
		return e.heard
	}, " "+heardWord)
	return text.Bytes()
}

// learn notes addresses of a peer, of which another one told. A record counts if it is newer than the one that is
// known.
func (b *addrBook) learn(t told, by peer.ID) (news bool) {
	if t.id == b.self || len(t.addrs) == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	news = b.all[t.id] == nil
	e := b.entry(t.id, by)
	if t.raw != nil {
		if e.record != nil && t.seq <= e.seq {
			return news
		}
		e.addrs, e.record, e.seq = nil, t.raw, t.seq
	}
	e.byCard = false
	if e.know(e.addrs, t.addrs) || news {
		news, e.tries, e.notTill = true, 0, time.Time{}
		b.dirty = b.dirty || e.lasts()
	}
	return news
}

// entry is what is known of a peer; it makes room for one that is new, of which by tells. The lock is held.
func (b *addrBook) entry(id, by peer.ID) *bookEntry {
	if e := b.all[id]; e != nil {
		return e
	}
	before, any := 0, peer.ID("") // of whom it told
	for other, e := range b.all {
		if e.by == by && !e.lasts() {
			before, any = before+1, other
		}
	}
	switch {
	case before >= maxToldBy:
		delete(b.all, any)
	case len(b.all) >= maxKnown:
		b.evict()
	}
	e := &bookEntry{by: by}
	b.all[id] = e
	return e
}

// evict makes room by forgetting a peer that is not remembered, or else one that was never met, or else one of the
// branch that has most: whoever may invite can have as many met as it likes. It is the one that was met or heard of the
// longest time ago. The lock is held.
func (b *addrBook) evict() {
	of := map[string]int{}
	for _, e := range b.all {
		if e.member() {
			of[e.branch]++
		}
	}
	size := func(e *bookEntry) int {
		if !e.member() {
			return maxKnown + 1
		}
		return of[e.branch]
	}
	var last peer.ID
	for id, e := range b.all {
		if o := b.all[last]; o == nil ||
			cmp.Or(size(o)-size(e), e.met.Compare(o.met), e.heard.Compare(o.heard)) < 0 {
			last = id
		}
	}
	delete(b.all, last)
}

// meet notes that a peer is a member, and where it was reached.
func (b *addrBook) meet(id peer.ID, at ma.Multiaddr, now time.Time) {
	branch := ""
	if b.branch != nil {
		branch = b.branch(id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(id, id)
	e.branch = branch
	b.fresh = b.fresh || e.met.IsZero()
	e.met, e.tries, e.notTill, e.byCard = now, 0, time.Time{}, false
	if at != nil {
		e.reached = at
		e.know(e.addrs)
	}
	b.dirty = true
}

// met says whether a peer is known as a member.
func (b *addrBook) met(id peer.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[id].member()
}

// failed notes that a dial came to nothing. A peer that is no member of this swarm is forgotten.
func (b *addrBook) failed(id peer.ID, final bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[id]
	if e == nil {
		return
	}
	if final {
		e.met, e.heard, e.tries = time.Time{}, time.Time{}, 16
		b.dirty = true
	}
	e.tries++
	e.notTill = now.Add(backoff(e.tries))
}

// backoff is how long to wait after so many failures in a row, with jitter so that those who failed together
// do not come back together.
func backoff(tries int) time.Duration {
	d := longestRetry
	if tries < 16 {
		d = min(d, firstRetry<<(tries-1))
	}
	return d/2 + rand.N(d/2+1)
}

// candidates are up to n peers worth dialing now, those with the fewest failures in a row first, else at random.
func (b *addrBook) candidates(n int, now time.Time, skip func(peer.ID, *bookEntry) bool) (infos []peer.AddrInfo,
	next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []peer.ID
	for id, e := range b.all {
		switch {
		case skip(id, e) || len(e.addrs) == 0:
		case now.Before(e.notTill):
			if next.IsZero() || e.notTill.Before(next) {
				next = e.notTill
			}
		default:
			ids = append(ids, id)
		}
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	slices.SortStableFunc(ids, func(x, y peer.ID) int { return cmp.Compare(b.all[x].tries, b.all[y].tries) })
	for _, id := range ids[:min(n, len(ids))] {
		infos = append(infos, peer.AddrInfo{ID: id, Addrs: slices.Clone(b.all[id].addrs)})
	}
	return infos, next
}

// addrs are the known addresses of a peer.
func (b *addrBook) addrs(id peer.ID) []ma.Multiaddr {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.all[id]; e != nil {
		return slices.Clone(e.addrs)
	}
	return nil
}

// records are up to n signed records to pass on, at random, of peers that ok accepts.
func (b *addrBook) records(n int, ok func(peer.ID) bool) (records [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, e := range b.all { // in no order, which is what is wanted
		if len(records) >= n {
			break
		}
		if e.record != nil && ok(id) {
			records = append(records, e.record)
		}
	}
	return records
}

// save writes the file if there is something new.
func (b *addrBook) save() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh = false // one attempt is made soon; the disk may be full
	if !b.dirty {
		return nil
	}
	if err := writeDurably(b.path, formatAddrBook(b.all)); err != nil {
		return err
	}
	b.dirty = false
	return nil
}

// unsaved says whether a member was met for the first time since save was called: a peer that is killed now
// would not find it again.
func (b *addrBook) unsaved() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fresh
}
