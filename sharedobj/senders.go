package sharedobj

import (
	"fmt"
	"slices"
	"time"
)

// What a peer sends without a job here having named it counts against that peer: the writes that it tells of and the
// states that they lead to, what it announces, what it has this peer fetch, and its values of lattices, as long as they
// are on their way, wait to be joined, or are here for others. Whoever sends it is meant, not its author: that is whom
// the connection proves.
//
// One peer may have a quarter of all that is held here, of the digests that are known and of the fetches for others;
// all peers together a half of the bytes. So a member that sends without an end leaves half of the room to what jobs
// name, and to three others what it has itself. Over all runs of this peer it has what Room leaves it. To make room for
// more its own goes, the oldest first, as far as nothing pins it; if that is not enough it is refused. So that
// nobody has this peer fetch all the time what makes way for the next, each is fetched so many bytes of a second.
// Nothing rests on what is pushed: what a job names is fetched, and then it is the run's, as is what has come before a
// job named it.
const (
	senderPart  = 4 // of the whole, for one sender
	sendersPart = 2 // for all of them, of bytes
)

// account is what one sender has here.
type account struct {
	bytes   uint64
	entries int
}

// parcel is a blob that is no version, a value of a lattice, and who has sent it; "": it is this peer's own.
type parcel struct {
	from PeerID
	top  Hash
}

// senders are the accounts of those who have something here.
type senders struct {
	of      map[PeerID]account
	bytes   uint64 // of all
	parcels map[parcel]int
	refused []PeerID // since that was counted and said
	changed []PeerID // since the room was told what they have
	fetched map[PeerID]debt
}

// debt is what was fetched of a sender, less what it may have had in the meantime.
type debt struct {
	bytes uint64
	at    time.Duration
}

func (s *senders) book(from PeerID, bytes uint64, entries int) {
	s.change(from)
	s.change("")
	a := s.of[from]
	a.bytes += bytes
	a.entries += entries
	s.bytes += bytes
	if s.of[from] = a; a == (account{}) {
		delete(s.of, from)
	}
}

func (s *senders) change(from PeerID) {
	if !slices.Contains(s.changed, from) {
		s.changed = append(s.changed, from)
	}
}

// sent says that a sender has so many bytes more, or all have ("").
func (s *store) sent(from PeerID, more uint64, must bool) bool {
	if s.others == nil {
		return true
	}
	s.senders.change(from)
	has := s.senders.of[from].bytes
	if from == "" {
		has = s.senders.bytes
	}
	return s.others.Sent(from, has+more, must)
}

// tellSent says what senders have after an input: what was allowed may not have come.
func (s *store) tellSent() {
	for _, from := range s.senders.changed {
		s.sent(from, 0, true)
	}
	s.senders.changed = s.senders.changed[:0]
}

// bill has a sender pay for so many bytes, and refund undoes that. Nobody pays for what is this peer's own.
func (s *senders) bill(from PeerID, n uint64) {
	if from != "" {
		s.book(from, n, 0)
	}
}

func (s *senders) refund(from PeerID, n uint64) { s.bill(from, -n) }

// size is how many bytes of an entry are here.
func (e *entry) size() (n uint64) {
	if e.state != nil {
		n = e.state.Size
	}
	if e.write != nil {
		n += e.write.Size
	}
	return n
}

// allows makes room for so many bytes more in a sender's part, by dropping what it has sent that is not pinned or in
// keep, and then what others have; false if there is not enough of that.
func (s *store) allows(from PeerID, n uint64, keep ...*entry) bool {
	if from == "" {
		return true
	}
	own := func() bool { return s.senders.of[from].bytes+n <= s.most/senderPart && s.sent(from, n, false) }
	all := func() bool { return s.senders.bytes+n <= s.most/sendersPart && s.sent("", n, false) }
	if n <= s.most/senderPart &&
		s.thin(own, func(e *entry) bool { return e.from == from }, keep...) &&
		s.thin(all, func(e *entry) bool { return e.from != "" }, keep...) {
		return true
	}
	s.senders.refused = append(s.senders.refused, from)
	return false
}

// mayFetch says whether so many bytes more of a sender's may be fetched now: see Config.SentRate. That it may not is
// counted and not said: whoever writes large states, one for each step, sends so much, and loses nothing by it.
func (c *base) mayFetch(from PeerID, n uint64) bool {
	if from == "" {
		return true
	}
	s := &c.store.senders
	d := s.fetched[from]
	d.bytes -= min(d.bytes, uint64((c.now-d.at).Seconds()*float64(c.cfg.SentRate)))
	d.at = c.now
	may := d.bytes < c.cfg.SentRate
	if may {
		d.bytes += n
	} else {
		c.stats.Refused++
	}
	s.fetched[from] = d
	return may
}

// admits makes room for one more entry of a sender.
func (s *store) admits(from PeerID, keep ...*entry) bool {
	few := func() bool { return s.senders.of[from].entries < max(1, s.entriesN/senderPart) }
	for at := s.recent.Front(); at != nil && !few(); {
		e := at.Value.(*entry)
		if at = at.Next(); e.from == from && s.free(e) && !slices.Contains(keep, e) {
			s.forget(e)
		}
	}
	if !few() {
		s.senders.refused = append(s.senders.refused, from)
	}
	return few()
}

// own has an entry be the run's.
func (s *store) own(e *entry) {
	if e.from != "" {
		s.senders.book(e.from, -e.size(), -1)
		e.from = ""
	}
}

// accept holds a value of a lattice for whoever has sent it; false if it may not have that, or there is no room. What
// was accepted is given up by discard, as often.
func (s *store) accept(from PeerID, b *Body) bool {
	p := parcel{from, b.Top}
	if s.senders.parcels[p] == 0 {
		if !s.allows(from, b.Size) || s.bodies[b.Top] == nil && !s.room(b.Size) {
			return false
		}
		s.senders.bill(from, b.Size)
	}
	s.senders.parcels[p]++
	s.hold(b)
	return true
}

func (s *store) discard(from PeerID, b *Body) {
	p := parcel{from, b.Top}
	if s.senders.parcels[p]--; s.senders.parcels[p] == 0 {
		delete(s.senders.parcels, p)
		s.senders.refund(from, b.Size)
	}
	s.release(b)
}

// push has an entry count as what a peer has sent, unless its value is here or somebody here waits for it; false if
// that peer may have no more. What leads to what a job here waits for ("") is the run's.
func (c *base) push(e *entry, from PeerID) bool {
	if from == "" {
		c.store.own(e)
		return true
	}
	pins := c.store.pins[e.digest]
	f := c.fetches.byDigest[e.digest]
	if f != nil {
		pins--
	}
	if e.from != "" || e.state != nil || pins > 0 || f != nil && f.payer() == "" {
		return true
	}
	if !c.store.admits(from, e) || !c.store.allows(from, e.size(), e) {
		return false
	}
	e.from = from
	c.store.senders.book(from, e.size(), 1)
	return true
}

// knowFrom enters a recipe that a peer has sent; nil if it may have no more, or there is no room.
func (c *base) knowFrom(r *Recipe, from PeerID) *entry {
	if c.store.find(r.Digest()) == nil && from != "" && !c.store.admits(from) {
		return nil
	}
	e := c.store.know(r)
	if e != nil && !c.push(e, from) {
		return nil
	}
	return e
}

// claim has a version be the run's, whoever has sent it: a job here names it, or a frame holds it. A lattice is
// followed then, also one that was closed.
func (c *base) claim(d Digest) {
	if f := c.fetches.byDigest[d]; f != nil {
		c.store.senders.refund(f.from, f.paid)
		if f.from, f.paid = "", 0; f.target != nil {
			c.store.own(f.target)
		}
	}
	e := c.store.find(d)
	if e == nil {
		return
	}
	if c.store.own(e); e.recipe.Kind == Lattice && e.state != nil {
		c.lattices.reopen(e)
	}
}

// payer is who has sent what is fetched; "" if somebody here waits for it.
func (f *fetch) payer() PeerID {
	if f.own() || f.guests > 0 {
		return ""
	}
	return f.from
}

// tellRefused counts what senders were refused, and tells the user once of each.
func (c *base) tellRefused() {
	for _, from := range c.store.senders.refused {
		c.stats.Refused++
		if c.first("sent by " + string(from)) {
			c.order(Order{Kind: OrderNote, Name: string(from), Text: fmt.Sprintf("%s has sent more of what jobs share "+
				"than it may before they name it: a quarter of %d MiB and of %d names, or less where it sends to other runs; the "+
				"rest comes when it is named",
				from, c.cfg.MaxBytes>>20, c.cfg.MaxEntries)})
		}
	}
	c.store.senders.refused = c.store.senders.refused[:0]
}
