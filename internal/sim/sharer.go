package sim

import (
	"bytes"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// sharer is what one peer's engine has of what is shared, in one life, and how that travels; nil: nothing is shared.
type sharer struct {
	*shared
	of      *peer
	core    *sharedobj.Core
	local   map[sharedobj.Digest]bool // made here: it stays as long as this life
	told    map[sharedobj.Digest]bool // of these the core was told, and not to forget them
	here    map[sharedobj.Digest]bool // from elsewhere
	applied map[sharedobj.Ticket][]byte
	running map[steal.SegmentID]*port.Names
	own     map[steal.SegmentID]bool // copies of this peer's own jobs: they may begin in any case
	opened  bool                     // the lattice is known to the engine,
	known   bool                     // and to its core, since a job named it that left or came
	value   numbers
	untold  numbers
	mine    numbers // offered here
	made    []port.Event

	offering bool // somebody was told that there is something in untold
}

func newSharer(p *peer) *sharer {
	w := p.world
	if w.shared == nil {
		return nil
	}
	return &sharer{shared: w.shared, of: p, local: map[sharedobj.Digest]bool{}, told: map[sharedobj.Digest]bool{},
		here: map[sharedobj.Digest]bool{}, running: map[steal.SegmentID]*port.Names{}, own: map[steal.SegmentID]bool{},
		value: numbers{}, untold: numbers{}, mine: numbers{}, applied: map[sharedobj.Ticket][]byte{}}
}

// join has the driver hold the core of what is shared, too.
func (s *sharer) join(cfg *driver.Config, r sharedobj.Rand) {
	if s == nil {
		return
	}
	core, err := sharedobj.NewCore(s.Core, sharedobj.PeerID(s.of.id), driver.SharedMembers(s.of.membersKnown), r)
	if err != nil {
		panic(err) // it is drawn, or a test's
	}
	core.SetMaster(sharedobj.PeerID(firstPeer))
	s.core, cfg.Shared, cfg.SharedTransport, cfg.MaxOutcome = core, core, s, s.MaxOutcome
	s.given(cfg)
}

func (s *sharer) has(d sharedobj.Digest) bool { return s.local[d] || s.here[d] }

func (s *sharer) violate(invariant, format string, args ...any) {
	panic(violation(invariant, string(s.of.id)+" "+format, args...))
}

// leaving says what the jobs name that leave, and tells of what was made here before that.
func (s *sharer) leaving(e port.Event) []port.Event {
	if s == nil {
		return []port.Event{e}
	}
	for i := range e.Jobs {
		g := s.of.engine.given[e.Jobs[i].Ref]
		if s.guarded(g.node) {
			s.offer(numberOf(g.node))
		}
		names := s.names(&g.entry, s.value)
		for _, n := range names.Needs {
			if !s.has(n.Digest) {
				s.violate(guardHolds, "gives away a job that names %v, which it does not have", n.Digest)
			}
			s.tell(n.Digest)
		}
		b, err := names.Encode()
		if err != nil {
			panic(err)
		}
		e.Jobs[i].Job.Names = b
	}
	return append(s.news(), e)
}

// tell tells the core of what was made here.
func (s *sharer) tell(d sharedobj.Digest) {
	if !s.local[d] || s.told[d] {
		return
	}
	s.told[d] = true
	r := s.kinds[d]
	s.made = append(s.made, port.Event{Kind: port.Made, Shared: &port.Shared{Recipe: &r, Write: s.moves[d],
		State: sharedobj.Build(s.truth[d])}})
	if d == s.lattice {
		s.meet()
		s.offering = false // what was said before, nobody heard
		s.made = append(s.made, s.offers()...)
	}
}

// meet is when the core comes to know the lattice.
func (s *sharer) meet() {
	if w := s.of.world; !s.known {
		s.known, w.shared.met = true, w.now
	}
}

// offers says, once until it is collected, that there is something to be told.
func (s *sharer) offers() []port.Event {
	if s.offering || len(s.untold) == 0 {
		return nil
	}
	s.offering = true
	return []port.Event{{Kind: port.Offered, Shared: &port.Shared{Digest: s.lattice}}}
}

// news are the events that must come first.
func (s *sharer) news() (made []port.Event) {
	if s != nil {
		made, s.made = s.made, nil
	}
	return made
}

// writes makes the version before a phase.
func (s *sharer) writes(phase int32) {
	if s == nil {
		return
	}
	d := s.version(phase)
	s.local[d] = true
	if s.told[s.kinds[d].Parent] {
		s.tell(d)
	}
}

// begins looks whether all is here that a job names, and gives the version that it reads. The root makes what is
// shared.
func (s *sharer) begins(o *port.Order) (version int32) {
	if s == nil {
		return 0
	}
	if len(o.Job.Path) == 0 {
		made := []sharedobj.Digest{s.lattice, s.version(0)}
		if s.Given {
			s.beginsRoot(o.Segment)
		} else {
			made = append(made, s.constants...)
		}
		for _, d := range made {
			s.local[d] = true
		}
		s.opened = s.Write == 0
		return 0
	}
	names, err := port.DecodeNames(o.Job.Names)
	if err != nil {
		s.violate(guardHolds, "runs a job whose names cannot be read: %v", err)
	}
	if names.Argument != (sharedobj.Digest{}) {
		if n, _ := decodeNode(o.Job.Arg); len(o.Job.Arg) != s.of.engine.tree.ArgBytes(n) {
			s.violate(rightJob, "runs a job with %d bytes of its argument", len(o.Job.Arg))
		}
		s.of.world.counts.Arguments++
	}
	for _, n := range names.Needs {
		if i := slices.Index(s.versions, n.Digest); i >= 0 {
			version = int32(i)
		}
		if s.own[o.Segment] || n.Digest == names.Argument { // of which an engine knows nothing
			continue
		}
		if !s.has(n.Digest) {
			s.violate(guardHolds, "runs a job without %v", n.Digest)
		}
		if n.Digest == s.lattice && !s.holds(s.value, decodeNumbers(n.Floor)) {
			s.violate(floorHolds, "runs a job without its parent's value of the lattice")
		}
	}
	if names.Guarded && !s.own[o.Segment] && !s.guard(o.Job) {
		s.violate(guardHolds, "runs a job whose guard is false")
	}
	if !s.own[o.Segment] {
		s.running[o.Segment] = names
	}
	return version
}

// ends lets go of what a segment names.
func (s *sharer) ends(id steal.SegmentID) {
	if s != nil {
		delete(s.running, id)
		delete(s.own, id)
	}
}

// fetches sees what the core of steal has fetched.
func (s *sharer) fetches(orders []steal.Order) {
	if s == nil {
		return
	}
	for i := range orders {
		if o := &orders[i]; o.Kind == steal.Fetch && o.Victim == "" {
			s.own[o.Segment] = true
		}
	}
}

func (s *sharer) guard(j *steal.Job) bool {
	n, ok := decodeNode(j.Arg)
	return ok && s.value[numberOf(n)]
}

// leaf is the end of a leaf: it offers what it has found, and may make a value, whose handle it returns.
func (s *sharer) leaf(e *entry, r Result) (Result, []sharedobj.Digest) {
	if s == nil {
		return r, nil
	}
	n := numberOf(e.node)
	if least, some := s.value.least(); s.Bound && some && n > least {
		return Result{}, nil // pruned
	}
	if s.Bound || e.node.Key%2 == 0 {
		s.offer(n)
	}
	if d, ok := s.shared.made(e); ok {
		s.local[d] = true
		return r, []sharedobj.Digest{d}
	}
	return r, nil
}

// handles is how many of those that came a job has in its hands, and passes on.
const (
	maxHandles = 4
	passedOn   = 2
)

// gets has a frame get handles, and read them.
func (s *sharer) gets(have, more []sharedobj.Digest) []sharedobj.Digest {
	if s == nil || len(more) == 0 {
		return have
	}
	s.reads(more)
	have = append(slices.Clone(have), more...)
	slices.SortFunc(have, sharedobj.Digest.Compare)
	have = slices.Compact(have)
	return have[:min(len(have), maxHandles)]
}

func (s *sharer) reads(names []sharedobj.Digest) {
	for _, d := range names {
		if !s.has(d) {
			s.violate(handleHolds, "has a handle of %v, which is not here", d)
		}
	}
}

// returns is what a frame passes on, having read all once more.
func (s *sharer) returns(have []sharedobj.Digest) []sharedobj.Digest {
	if s == nil {
		return nil
	}
	s.reads(have)
	return have[:min(len(have), passedOn)]
}

// naming makes an outcome say what it names, of which the core is told.
func (s *sharer) naming(outcome []byte, names []sharedobj.Digest) []byte {
	if s == nil {
		return outcome
	}
	for _, d := range names {
		s.tell(d)
	}
	b, err := port.NameIn(outcome, names)
	if err != nil {
		panic(err)
	}
	if s.MaxOutcome > 0 && len(b) > s.MaxOutcome {
		s.outcomes[sharedobj.OutcomeOf(sharedobj.Build(b)).Digest()] = b
	}
	return b
}

// offer is what a job does with what it finds, as long as the run lasts.
func (s *sharer) offer(n uint32) {
	if s.of.world.rootDone || !s.opened {
		return
	}
	s.offered[n] = true
	if s.shared.join(s.value, n) {
		s.shared.join(s.untold, n)
		s.shared.join(s.mine, n)
		if s.here[s.lattice] || s.told[s.lattice] { // or nobody knows it yet
			s.of.happened(append(s.news(), s.offers()...)...)
		}
	}
}

// do carries out an order.
func (s *sharer) do(o *port.Order) {
	v := o.Shared
	e := port.Event{Segment: o.Segment, Shared: &port.Shared{Ticket: v.Ticket, Digest: v.Digest}}
	switch o.Kind {
	case port.Here:
		data := v.Data
		if v.Ticket != 0 {
			data = s.settle(v.Ticket)
		}
		if truth, ok := s.truth[v.Digest]; !ok || !bytes.Equal(truth, data) {
			s.violate(readsNamed, "gets other bytes as %v (known: %v)", v.Digest, ok)
		}
		s.here[v.Digest] = true
		if v.Digest == s.lattice {
			s.opened = true
			s.meet()
			s.of.happened(append(s.news(), s.offers()...)...)
		}
		return
	case port.Discard:
		s.settle(v.Ticket)
		return
	case port.Forget:
		s.forget(v.Digest)
		s.again(v.Digest)
		return
	case port.Failed: // of what was made here jobs that leave later tell again: there may be room by then
		s.forget(v.Digest)
		return
	case port.Apply:
		if !s.has(v.Parent) {
			s.violate(readsNamed, "is to apply a write to %v, which is not here", v.Parent)
		}
		s.applied[v.Ticket] = move(s.truth[v.Parent], v.Data)
		e.Kind, e.Shared.State = port.Applied, sharedobj.Build(s.applied[v.Ticket])
	case port.Join:
		e.Kind, e.Good, e.Shared.Changed = port.Joined, true, s.joins(v.Data)
	case port.Collect:
		if e.Kind = port.Collected; len(s.untold) > 0 {
			e.Shared.State = sharedobj.Build(s.untold.encode())
		}
		s.untold, s.offering = numbers{}, false
	case port.Encode:
		e.Kind, e.Shared.State = port.Encoded, sharedobj.Build(s.value.encode())
	case port.Guard:
		e.Kind, e.Good = port.Guarded, s.guard(o.Job)
	}
	s.of.happened(e)
}

// settle gives what a write has given, of which it is said once whether it is right.
func (s *sharer) settle(t sharedobj.Ticket) []byte {
	state := s.applied[t]
	if delete(s.applied, t); state == nil {
		s.violate(readsNamed, "is told twice, or in vain, what became of write %d", t)
	}
	return state
}

func (s *sharer) joins(data []byte) (changed bool) {
	for n := range decodeNumbers(data) { // in any order: it is a join
		if !s.offered[n] {
			s.violate(onlyOffered, "gets %d, which nobody has offered", n)
		}
		changed = s.shared.join(s.value, n) || changed
	}
	return changed
}

// again tells of what was made here and is forgotten although jobs outside name it.
func (s *sharer) again(d sharedobj.Digest) {
	for _, j := range s.of.engine.given {
		if d == s.lattice || slices.Contains(s.constants, d) || d == s.version(j.version) {
			s.tell(d)
			s.of.happened(s.news()...)
			return
		}
	}
}

// forget drops a value: what was made here stays here.
func (s *sharer) forget(d sharedobj.Digest) {
	delete(s.here, d)
	delete(s.told, d)
	if d == s.lattice {
		s.known = false // what is offered here is for this peer alone, until somebody else gets a handle
	}
	if s.local[d] {
		return
	}
	for id, names := range s.running {
		if slices.ContainsFunc(names.Needs, func(n sharedobj.Need) bool { return n.Digest == d }) {
			s.violate(pinnedStays, "forgets %v, which segment %d names", d, id)
		}
	}
	for i := range s.of.engine.frames {
		if slices.Contains(s.of.engine.frames[i].names, d) {
			s.violate(pinnedStays, "forgets %v, of which a frame has a handle", d)
		}
	}
}

// SendShared, TellShared and Note are what the core of what is shared has to say.
func (s *sharer) SendShared(m *sharedobj.Message) {
	w, p := s.of.world, s.of
	to := w.of(steal.PeerID(m.To))
	if err := m.Validate(); err != nil {
		s.violate(inBounds, "says of what is shared what nobody may: %v", err)
	}
	size := sharedBytes
	if m.Piece != nil {
		size += len(m.Piece.Data)
	}
	w.counts.SharedMessages++
	w.counts.SharedBytes += uint64(size)
	fate := w.net.weather.fate(p, to, nil)
	if fate.damage {
		fate.copies = 0
	}
	for range fate.copies {
		at, err := w.net.links.Deliver(time.Duration(w.now), p.cluster, to.cluster, size)
		if err != nil {
			life := p.inc
			s.later(p, w.now+refusedAfter, func() {
				if p.inc == life {
					p.driver.SharedSendFailed(p.local(), m)
				}
			})
			return
		}
		when := int64(at) + fate.delay
		if fate.shuffle > 0 {
			when += w.random.Int64N(fate.shuffle)
		}
		s.later(to, when, func() {
			if !w.net.weather.blocked(p, to) {
				to.driver.StepShared(to.local(), m)
			}
		})
	}
}

// sharedBytes is about the size of a message without a piece.
const sharedBytes = 300

// later lets something happen to a peer, if it lives then.
func (s *sharer) later(to *peer, at int64, do func()) {
	s.of.world.queue.post(event{at: at, what: sharedDue, peer: to.number, do: func() {
		do()
		to.settle()
	}})
}

// TellShared tells everybody, as news of the other core are told.
func (s *sharer) TellShared(n *sharedobj.News) {
	w, p := s.of.world, s.of
	if err := n.Validate(); err != nil {
		s.violate(inBounds, "tells of what is shared what nobody may: %v", err)
	}
	arrives := w.broadcast.reach(p.cluster, sharedBytes)
	for _, to := range w.peers {
		if !to.alive || to == p || arrives[to.cluster] == never || w.happens(w.cfg.Gossip.Loss) ||
			w.net.weather.fate(p, to, nil).copies == 0 {
			continue
		}
		at := arrives[to.cluster]
		if most := int64(w.cfg.Gossip.Delay); most > 0 {
			at += w.random.Int64N(most)
		}
		s.later(to, at, func() {
			if !w.net.weather.blocked(p, to) {
				to.driver.HearShared(to.local(), sharedobj.PeerID(p.id), n)
			}
		})
	}
}

// Note is for people.
func (s *sharer) Note(text string) { s.of.world.trace.line(s.of.world.now, s.of.id, "notes: %s", text) }
