package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/steal"
)

// A Withholder is a peer that takes jobs and brings nothing home, though it keeps to the form of every message. Its
// core is like any other's; what is said to others is changed on the way. Several that share their mind hold what the
// others of them have lost.
type Withholder struct {
	Peers []int
	At    time.Duration // it is honest before
	Trick Trick
}

// Trick is how a withholder goes about it.
type Trick uint8

// The tricks: each was a way to make a run wait for ever, or could be thought to be one.
const (
	// Lists: the handles of all jobs that it ever got are in its inventories, and no result is sent.
	Lists Trick = iota
	// Forgets: its inventories are empty, so each job is missed, and stolen again.
	Forgets
	// Returns: what it gets it gives back at once.
	Returns
	// Blinks: it lists all, but is silent again and again, each time for long enough to be thought lost.
	Blinks
	// Claims: it lists all, and tells everybody that it has the outcome of each job it has seen.
	Claims
	tricks
)

var trickNames = [tricks]string{"lists", "forgets", "returns", "blinks", "claims"}

func (t Trick) String() string { return trickNames[t] }

// hoard is what one of them has; nil is that of an honest peer.
type hoard struct {
	by   *Withholder
	of   *peer
	held map[steal.Address][]steal.Handle
	jobs []steal.Tuple // the same, to be told of
}

// maxHoard bounds what a hoard lists of each owner.
const maxHoard = 512

func newHoard(p *peer) *hoard {
	w := p.world.cfg.Withholder
	if w == nil || !slices.Contains(w.Peers, int(p.number)) {
		return nil
	}
	return &hoard{by: w, of: p, held: make(map[steal.Address][]steal.Handle)}
}

func (h *hoard) active() bool { return h != nil && h.of.world.now >= int64(h.by.At) }

// says changes what a withholder says; nil: it says nothing.
func (h *hoard) says(m *steal.Message) *steal.Message {
	if !h.active() {
		return m
	}
	silence := int64(4 * h.of.world.cfg.Core.WideHeartbeatEvery)
	switch {
	case h.by.Trick == Returns:
		return m
	case m.Result != nil, m.Return != nil, m.Relayed != nil && m.Relayed.Result != nil,
		h.by.Trick == Blinks && h.of.world.now/silence%2 == 1:
		return nil
	case m.Heartbeat != nil:
		beat := *m.Heartbeat
		if beat.Held = h.held[m.To]; h.by.Trick == Forgets {
			beat.Held = nil
		}
		changed := *m
		changed.Heartbeat = &beat
		return &changed
	}
	return m
}

// hears sees what a withholder gets, and says what its core hears of it.
func (h *hoard) hears(m *steal.Message) *steal.Message {
	if !h.active() || m.Validate() != nil { // damaged on the way: what it says of it would be nonsense
		return m
	}
	switch {
	case m.Reply != nil && h.by.Trick == Returns:
		if back := h.back(m); back != nil {
			h.of.world.net.send(h.of, back)
		}
		changed := *m
		changed.Reply = &steal.StealReply{ID: m.Reply.ID, Waited: m.Reply.Waited}
		return &changed
	case m.Reply != nil:
		for i := range m.Reply.Jobs {
			g := &m.Reply.Jobs[i]
			h.add(m.From, g.Handle)
			h.jobs = append(h.jobs, steal.Tuple{Path: g.Job.Path, Identity: g.Job.Identity, Done: true})
		}
	case m.Heartbeat != nil && h.by.Trick == Claims:
		h.boast()
	case m.Adopt != nil:
		for i := range m.Adopt.Jobs {
			h.add(m.From, m.Adopt.Jobs[i].Handle)
		}
	}
	return m
}

// back gives all jobs of a reply back.
func (h *hoard) back(m *steal.Message) *steal.Message {
	var hs []steal.Handle
	for i := range m.Reply.Jobs {
		hs = append(hs, m.Reply.Jobs[i].Handle)
	}
	if h.of.world.counts.Withheld += uint64(len(hs)); len(hs) == 0 {
		return nil
	}
	slices.Sort(hs)
	hs = slices.Compact(hs)
	return &steal.Message{Run: m.Run, From: h.of.address(), To: m.From, Return: &steal.Return{Handles: hs}}
}

func (h *hoard) add(owner steal.Address, handle steal.Handle) {
	list := h.held[owner]
	if i, there := slices.BinarySearch(list, handle); !there {
		h.of.world.counts.Withheld++
		list = slices.Insert(slices.Clone(list), i, handle) // heartbeats under way have the old one
	}
	most := min(maxHoard, h.of.world.cfg.Core.MaxSegments)
	h.held[owner] = list[max(0, len(list)-most):]
}

// boast tells everybody of jobs, those that it told of last included: news gets lost.
func (h *hoard) boast() {
	most := h.of.world.cfg.Core.MaxTuplesPerNews
	list := slices.Clone(h.jobs[max(0, len(h.jobs)-most):])
	for i := range list {
		list[i].Holder = h.of.address()
	}
	if len(list) > 0 {
		h.of.world.broadcast.tell(h.of, &steal.News{Run: h.of.world.run, From: h.of.address(), Tuples: list})
	}
}

// withholding has some schedules contain withholders: one, or two of one mind, among at least three peers. It draws
// for itself, so that what the others draw stays.
func withholding(seed uint64, peers int, span time.Duration, c *Config) {
	const oneOf = 6
	if seed%oneOf != 1 || peers < 3 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 0x686f617264))
	w := &Withholder{Peers: r.Perm(peers)[:1+r.IntN(2)], Trick: Trick(r.IntN(int(tricks)))}
	if r.IntN(2) == 0 {
		w.At = time.Duration(r.Int64N(int64(span)))
	}
	c.Withholder = w
	c.Core.LeaseEnd = time.Duration(50+r.IntN(5000)) * time.Millisecond
}
