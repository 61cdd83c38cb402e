package host

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
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
	maxKnown       = 1024 // peers whose addresses are kept in memory
	maxRemembered  = 128  // of them, those that a file keeps: members that were met
	maxPeerAddrs   = 16   // addresses of one peer
	rememberFor    = 30 * 24 * time.Hour
	firstRetry     = 2 * time.Second // after a failed dial, doubled by each further one
	longestRetry   = 5 * time.Minute
	addrBookFormat = "# Addresses where members were met, and when (seconds since 1970)."
)

// A bookEntry is what is known of how to reach a peer.
type bookEntry struct {
	addrs   []ma.Multiaddr
	reached ma.Multiaddr // where it was dialed with success, which need not be in its record; also in addrs
	record  []byte       // the addresses as the peer itself signed them, to pass on; nil if it did not
	seq     uint64       // of the record
	met     time.Time    // when it was last seen as a member; zero: never
	tries   int          // failed dials in a row
	notTill time.Time    // the next dial
}

// member says whether the peer was met as one.
func (e *bookEntry) member() bool { return e != nil && !e.met.IsZero() }

// An addrBook knows where peers may be. Those met as members are remembered in a file.
type addrBook struct {
	path string
	self peer.ID

	mu    sync.Mutex
	all   map[peer.ID]*bookEntry
	dirty bool // the file is not up to date
	fresh bool // and lacks a member that was met for the first time
}

func openAddrBook(path string, self peer.ID, now time.Time) (*addrBook, error) {
	b, err := readState(path)
	if err != nil {
		return nil, err
	}
	book := &addrBook{path: path, self: self}
	// A file that was damaged costs the time to find others, so it is not worth an error.
	book.all = parseAddrBook(b, now)
	delete(book.all, self)
	return book, nil
}

// parseAddrBook reads what formatAddrBook wrote, and leaves out lines that make no sense.
func parseAddrBook(b []byte, now time.Time) map[peer.ID]*bookEntry {
	all := map[peer.ID]*bookEntry{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		info, err := ParseAddr(fields[0])
		if err != nil {
			continue
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		met := time.Unix(seconds, 0)
		if err != nil || met.After(now) || now.Sub(met) > rememberFor {
			continue
		}
		e := all[info.ID]
		if e == nil {
			if len(all) >= maxRemembered {
				continue
			}
			e = &bookEntry{}
			all[info.ID] = e
		}
		if e.met.Before(met) {
			e.met = met
		}
		if len(e.addrs) < maxPeerAddrs {
			e.addrs = append(e.addrs, info.Addrs...)
		}
	}
	return all
}

// formatAddrBook writes the members that were met last.
func formatAddrBook(all map[peer.ID]*bookEntry) []byte {
	ids := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(id peer.ID) bool { return all[id].met.IsZero() })
	slices.SortFunc(ids, func(a, b peer.ID) int {
		return cmp.Or(all[b].met.Compare(all[a].met), cmp.Compare(a, b))
	})
	text := bytes.NewBufferString(addrBookFormat + "\n")
	for _, id := range ids[:min(len(ids), maxRemembered)] {
		for _, a := range all[id].addrs {
			fmt.Fprintf(text, "%s/p2p/%s %d\n", a, id, all[id].met.Unix())
		}
	}
	return text.Bytes()
}

// learn notes addresses of a peer. A record counts if it is newer than the one that is known.
func (b *addrBook) learn(id peer.ID, addrs []ma.Multiaddr, record []byte, seq uint64) (news bool) {
	if id == b.self || len(addrs) == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[id]
	if e == nil {
		if len(b.all) >= maxKnown && !b.evict() {
			return false
		}
		e = &bookEntry{}
		b.all[id] = e
		news = true
	}
	if record != nil {
		if e.record != nil && seq <= e.seq {
			return news
		}
		e.addrs, e.record, e.seq = nil, record, seq
		if e.reached != nil {
			e.addrs = append(e.addrs, e.reached)
		}
	}
	for _, a := range addrs {
		if len(e.addrs) < maxPeerAddrs && !slices.ContainsFunc(e.addrs, a.Equal) {
			e.addrs = append(e.addrs, a)
			news = true
		}
	}
	if news {
		e.tries, e.notTill = 0, time.Time{}
		b.dirty = b.dirty || !e.met.IsZero()
	}
	return news
}

// evict makes room by forgetting a peer that was never met as a member. The lock is held.
func (b *addrBook) evict() bool {
	for id, e := range b.all { // any of them
		if e.met.IsZero() {
			delete(b.all, id)
			return true
		}
	}
	var oldest peer.ID
	for id, e := range b.all {
		if o := b.all[oldest]; o == nil || e.met.Before(o.met) {
			oldest = id
		}
	}
	delete(b.all, oldest)
	return true
}

// meet notes that a peer is a member, and where it was reached.
func (b *addrBook) meet(id peer.ID, at ma.Multiaddr, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[id]
	if e == nil {
		if len(b.all) >= maxKnown {
			b.evict()
		}
		e = &bookEntry{}
		b.all[id] = e
	}
	b.fresh = b.fresh || e.met.IsZero()
	e.met, e.tries, e.notTill = now, 0, time.Time{}
	if at != nil {
		e.reached = at
		e.addrs = slices.DeleteFunc(e.addrs, at.Equal)
		e.addrs = slices.Insert(e.addrs, 0, at)
		e.addrs = e.addrs[:min(len(e.addrs), maxPeerAddrs)]
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
		e.met, e.tries = time.Time{}, 16
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

// candidates are up to n peers worth dialing now, members that were met first, then at random.
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
