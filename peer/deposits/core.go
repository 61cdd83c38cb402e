package deposits

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
)

// Hash names a deposit: it is the digest of its bytes, as package library has it.
type Hash [32]byte

// PeerID names a member.
type PeerID string

// Config has bounds and periods.
type Config struct {
	Copies int // others that are to have a deposit, besides whoever looks
	// Every is how often who has it is asked again, and Soon how long somebody is waited for who is fetching.
	Every, Soon time.Duration
	// Passed is how long whoever refused, or could not be asked, is passed over. Who said that it has a deposit is
	// believed for as long although it cannot be asked again: machines are switched off now and then.
	Passed time.Duration
	// Patience is how long the bytes of another's deposit are waited for, and somebody who says that they are coming.
	Patience time.Duration
	AtOnce   int // questions that are not answered yet
	Coming   int // deposits of others that are not here yet; because one member asked, a quarter
	Looks    int // deposits that are looked at in one Tick

	MaxSize      int64         // bytes of a deposit
	Life         time.Duration // the longest that one is kept from when it was asked for
	Seen         calendar.Seen // what earlier lives have seen of the calendar
	Doubt        time.Duration // how long the clock must have shown a date before a deposit is over by it
	Own          int           // deposits of this machine's own user
	Most, MostOf int           // deposits of others, and of one of them
}

// DefaultConfig is for a desktop.
func DefaultConfig() Config {
	return Config{Copies: 2, Every: 30 * time.Minute, Soon: 2 * time.Second, Passed: time.Hour,
		Patience: 10 * time.Minute, AtOnce: 8, Coming: 32, Looks: 256, MaxSize: 8 << 20,
		Life: 90 * 24 * time.Hour, Doubt: calendar.Doubt, Own: 1 << 18, Most: 1 << 15, MostOf: 1 << 14}
}

// A Room is the disk that this machine's owner leaves to others. Its answers are inputs of the core like any other.
type Room interface {
	// Take takes so many bytes for a giver; why is not "" if it may not have them.
	Take(giver PeerID, bytes int64) (why string)
	// Back gives back what was taken.
	Back(giver PeerID, bytes int64)
}

// A Deposit says what is to be kept.
type Deposit struct {
	Hash  Hash
	Size  int64
	Until time.Time
}

// An Item is a deposit at this peer.
type Item struct {
	Deposit
	Giver PeerID // whose it counts as; "" is this machine's user
	From  PeerID // who asked for it last, and so has it; not to be written down
}

// A Reply is what somebody says who was asked to keep a deposit.
type Reply uint8

// Replies.
const (
	Refused Reply = iota // it does not
	Coming               // it will, and has not got all of it yet
	Kept                 // it is on its disk
	Silent               // it could not be asked; nobody says so
)

// A Question asks a member to keep a deposit: Core.Answered has the reply.
type Question struct {
	To PeerID
	Deposit
}

// Orders are what one input made the core want done.
type Orders struct {
	Save []Item     // write down that it is kept here
	Want []Item     // fetch it, from whoever asked if somebody did
	Drop []Hash     // forget it, its bytes too, and what was written down of it
	Ask  []Question // ask
}

// Core is what one peer knows and decides about deposits. Each input says what time it is.
type Core struct {
	cfg     Config
	self    PeerID
	room    Room
	size    func(Hash) int64 // of the bytes that are on the disk; 0: they are not
	members []PeerID
	items   map[Hash]*item
	day     calendar.Calendar
	turn    []Hash // in the order in which they are looked at
	asking  int
	coming  map[Hash]arrival // deposits of others that were not here when they were last looked at
	own     int
	of      map[PeerID]int // deposits of others, by giver
	sizes   map[Hash]int64 // as they were found, of what somebody had said another size of
}

// An arrival says since when a deposit has been coming, and who asked for it.
type arrival struct {
	since time.Time
	from  PeerID
}

type item struct {
	Item
	said  map[PeerID]word
	next  time.Time // when it is looked at again
	made  time.Time // when it was deposited, if that was in this life and by this machine's user
	short bool      // when it was last looked at there were too few who could keep it
}

// A word is what a member said of a deposit, and until when that is believed. Asked, and no more, is waited for.
type word struct {
	reply Reply
	asked bool
	until time.Time
	heard time.Time     // when it was said; of Coming, when it was first said
	again time.Duration // when it could not be asked: how long until it is asked again
}

// New makes the core of a peer; items are those of earlier lives, and over those for which there is no room any more.
// Size gives the bytes of a deposit that are on the disk, 0 if there is none.
func New(cfg Config, self PeerID, room Room, size func(Hash) int64, items []Item) *Core {
	c := &Core{cfg: cfg, day: calendar.Calendar{Seen: cfg.Seen}, self: self,
		room: room, size: size, items: map[Hash]*item{},
		coming: map[Hash]arrival{}, of: map[PeerID]int{}, sizes: map[Hash]int64{}}
	for _, i := range items {
		if i.Giver != "" && room.Take(i.Giver, i.Size) != "" {
			i.Until, i.Giver = time.Time{}, "" // the next Tick drops it
		}
		c.enter(i)
	}
	return c
}

func (c *Core) enter(i Item) *item {
	it := &item{Item: i, said: map[PeerID]word{}}
	c.items[i.Hash] = it
	c.turn = append(c.turn, i.Hash)
	c.count(i.Giver, 1)
	return it
}

func (c *Core) count(giver PeerID, n int) {
	if giver == "" {
		c.own += n
	} else if c.of[giver] += n; c.of[giver] == 0 {
		delete(c.of, giver)
	}
}

// leave takes a deposit off its giver's account.
func (c *Core) leave(it *item) {
	c.count(it.Giver, -1)
	if it.Giver != "" {
		c.room.Back(it.Giver, it.Size)
	}
}

func (c *Core) has(h Hash) bool { return c.size(h) > 0 }

// SetMembers says who there is that keeps deposits; this peer may be among them. A new one is asked for what too few
// keep in the next Tick.
func (c *Core) SetMembers(list []PeerID) {
	before := make(map[PeerID]bool, len(c.members))
	for _, id := range c.members {
		before[id] = true
	}
	c.members = slices.DeleteFunc(slices.Clone(list), func(id PeerID) bool { return id == c.self })
	if !slices.ContainsFunc(c.members, func(id PeerID) bool { return !before[id] }) {
		return
	}
	for _, it := range c.items { // in any order
		if it.short {
			it.next = time.Time{}
		}
	}
}

// Deposit takes in what this machine's user wants kept; the bytes are here. False if he has too many.
func (c *Core) Deposit(now time.Time, h Hash, size int64) (out Orders, ok bool) {
	it := c.items[h]
	switch own := it != nil && it.Giver == ""; {
	case size < 1 || size > c.cfg.MaxSize || !own && c.own >= c.cfg.Own:
		return out, false
	case it == nil:
		it = c.enter(Item{Deposit: Deposit{Hash: h, Size: size}})
	case !own: // from now on it is
		c.leave(it)
		it.Giver, it.Size = "", size
		c.count("", 1)
	}
	delete(c.coming, h)
	it.Until, it.made = now.Add(c.cfg.Life), now
	it.next = time.Time{}
	out.Save = append(out.Save, it.Item)
	c.look(now, it, &out)
	return out, true
}

// Asked takes in a member's question whether a deposit is kept for its giver, on whose account it is: the member
// itself, or whoever has said so in a way that nobody else can, the size and how long it is to be kept included. From
// is "" for what a job of the giver's has left here, which is handed on as this peer's. Of several who say different
// sizes the bytes decide who is right, and whoever is has it on his account; until they are here it stays whose it was.
func (c *Core) Asked(now time.Time, from, giver PeerID, d Deposit) (r Reply, why string, out Orders) {
	if last := now.Add(c.cfg.Life); d.Until.After(last) {
		d.Until = last
	}
	if d.Until.Sub(now) < c.cfg.Every || d.Size < 1 || d.Size > c.cfg.MaxSize {
		return Refused, "it is over soon, or too large", out
	}
	it, n := c.items[d.Hash], c.size(d.Hash)
	known := cmp.Or(n, c.sizes[d.Hash])
	if known > 0 && d.Size != known && (it == nil || it.Size == known) {
		return Refused, otherSize, out
	}
	if it == nil {
		if c.of[giver] >= c.cfg.MostOf || len(c.items)-c.own >= c.cfg.Most {
			return Refused, "there are too many", out
		}
		if n == 0 && c.busy(from) {
			return Coming, "", out // when there is time for it
		}
		if why := c.room.Take(giver, d.Size); why != "" {
			return Refused, why, out
		}
		it = c.enter(Item{Deposit: d, Giver: giver})
		c.coming[d.Hash] = arrival{now, from}
		out.Save = append(out.Save, it.Item)
	} else if (d.Size == it.Size || n > 0) && c.prolong(it, giver, d) {
		out.Save = append(out.Save, it.Item)
	}
	it.From = from
	switch {
	case n == 0:
		out.Want = append(out.Want, it.Item)
		return Coming, "", out
	case n != it.Size && it.Giver != "":
		c.drop(it, &out)
		return Refused, otherSize, out
	}
	delete(c.coming, d.Hash)
	return Kept, "", out
}

const otherSize = "it has another size than was said"

// prolong has a deposit of others last longer, if that is worth writing down, or have the size that it has. It counts
// as his from then on who wants it.
func (c *Core) prolong(it *item, giver PeerID, d Deposit) bool {
	if it.Giver == "" || d.Size == it.Size && d.Until.Sub(it.Until) < c.cfg.Life/64 {
		return false
	}
	if giver != it.Giver || d.Size != it.Size {
		if c.of[giver] >= c.cfg.MostOf || c.room.Take(giver, d.Size) != "" {
			return false
		}
		c.leave(it)
		it.Giver, it.Size = giver, d.Size
		c.count(giver, 1)
	}
	it.Until = d.Until
	return true
}

// busy says whether enough is coming already, in all or because one member asked.
func (c *Core) busy(from PeerID) bool {
	maps.DeleteFunc(c.coming, func(h Hash, _ arrival) bool { return c.has(h) })
	n := 0
	for _, a := range c.coming { // in any order
		if a.from == from {
			n++
		}
	}
	return n >= c.cfg.Coming/4 || len(c.coming) >= c.cfg.Coming
}

// Answered takes in the end of a question.
func (c *Core) Answered(now time.Time, to PeerID, h Hash, r Reply) (out Orders) {
	c.asking = max(0, c.asking-1)
	it := c.items[h]
	if it == nil {
		return c.Tick(now)
	}
	w := it.said[to]
	switch w.asked = false; {
	case r == Silent && w.reply == Kept && now.Sub(w.heard) < c.cfg.Passed:
		w.until = now.Add(c.cfg.Every)
	case r == Silent: // it may just have come, or just have gone
		w.again = min(max(c.cfg.Soon, 2*w.again), c.cfg.Passed)
		w.reply, w.until = Refused, now.Add(w.again)
	case r == Kept:
		w.reply, w.heard, w.until = Kept, now, now.Add(c.cfg.Every)
	case r == Coming && (w.reply != Coming || now.Sub(w.heard) < c.cfg.Patience):
		if w.reply != Coming {
			w.reply, w.heard = Coming, now
		}
		w.until = now.Add(c.cfg.Soon)
	default:
		w.reply, w.until = Refused, now.Add(c.cfg.Passed)
	}
	if r != Silent {
		w.again = 0
	}
	it.said[to] = w
	c.look(now, it, &out)
	c.pass(now, &out)
	return out
}

// Tick lets time pass: some deposits are looked at, in turn.
func (c *Core) Tick(now time.Time) (out Orders) {
	c.pass(now, &out)
	return out
}

// pass looks at some of the deposits, as long as others can be asked.
func (c *Core) pass(now time.Time, out *Orders) {
	c.day.Pass(now, c.cfg.Doubt)
	for range min(len(c.turn), c.cfg.Looks) {
		it := c.items[c.turn[0]]
		c.turn = append(c.turn[1:], it.Hash)
		n := c.size(it.Hash)
		a, coming := c.coming[it.Hash]
		over := c.day.Reached(it.Until.Unix())
		if left := c.cfg.Life - now.Sub(it.made); over && !it.made.IsZero() && left > 0 { // the clock was behind
			it.Until, over = c.day.Date.Add(left), false
			out.Save = append(out.Save, it.Item)
		}
		switch late := coming && now.Sub(a.since) > c.cfg.Patience; {
		case over, n == 0 && late, n > 0 && n != it.Size && it.Giver != "":
			c.drop(it, out)
		case !it.next.After(now) && c.asking < c.cfg.AtOnce:
			c.look(now, it, out)
		}
	}
}

func (c *Core) drop(it *item, out *Orders) {
	if n := c.size(it.Hash); n > 0 && n != it.Size {
		if len(c.sizes) >= c.cfg.Most {
			clear(c.sizes)
		}
		c.sizes[it.Hash] = n
	}
	delete(c.items, it.Hash)
	delete(c.coming, it.Hash)
	i := slices.Index(c.turn, it.Hash)
	c.turn = slices.Delete(c.turn, i, i+1)
	c.leave(it)
	out.Drop = append(out.Drop, it.Hash)
}

// look asks those who should have a deposit, unless they said so lately; one that is not here is fetched instead.
func (c *Core) look(now time.Time, it *item, out *Orders) {
	it.next = now.Add(c.cfg.Every)
	if !c.has(it.Hash) {
		if _, coming := c.coming[it.Hash]; !coming && it.Giver != "" {
			c.coming[it.Hash] = arrival{now, it.From} // it was lost
		}
		it.next = now.Add(c.cfg.Soon)
		out.Want = append(out.Want, it.Item)
		return
	}
	delete(c.coming, it.Hash)
	ranked := c.rank(it.Hash)
	maps.DeleteFunc(it.said, func(id PeerID, _ word) bool { return !slices.Contains(ranked, id) })
	wanted := c.cfg.Copies
	for _, id := range ranked {
		if wanted == 0 {
			break
		}
		w, known := it.said[id]
		believed := known && w.until.After(now)
		switch {
		case w.asked: // and not answered
			wanted--
		case believed && w.reply == Refused:
			if w.again > 0 {
				it.next = sooner(it.next, w.until)
			}
		case believed:
			wanted--
			it.next = sooner(it.next, w.until)
		case c.asking < c.cfg.AtOnce:
			c.asking++
			w.asked = true
			it.said[id] = w
			out.Ask = append(out.Ask, Question{id, it.Deposit})
			wanted--
		default:
			it.next = now // as soon as somebody has answered
			return
		}
	}
	it.short = wanted > 0
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// rank gives the other members, those first who are to have a deposit.
func (c *Core) rank(h Hash) []PeerID {
	place := make(map[PeerID]Hash, len(c.members))
	for _, id := range c.members {
		place[id] = sha256.Sum256(append(h[:], id...))
	}
	list := slices.Clone(c.members)
	slices.SortFunc(list, func(a, b PeerID) int {
		x, y := place[a], place[b]
		return bytes.Compare(x[:], y[:])
	})
	return list
}

// Likely names some members that probably have a deposit.
func (c *Core) Likely(h Hash) []PeerID {
	list := c.rank(h)
	return list[:min(len(list), 2*c.cfg.Copies+1)]
}

// Copies counts the others that have said that they have it; false if it is no deposit of this peer's.
func (c *Core) Copies(h Hash) (n int, ok bool) {
	it := c.items[h]
	if it == nil {
		return 0, false
	}
	for _, w := range it.said { // in any order
		if w.reply == Kept {
			n++
		}
	}
	return n, true
}

// Items lists what is kept here.
func (c *Core) Items() (list []Item) {
	for _, it := range c.items {
		list = append(list, it.Item)
	}
	slices.SortFunc(list, func(a, b Item) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	return list
}
