package driver

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// shared stands between the core of what is shared and the rest. Its core gets its inputs and has its orders carried
// out in the same order as steal's, whose inputs it is part of:
//
//   - A stolen job that names something is fetching (steal's order Fetch). It is Ready or NotReady when this core says
//     so, so the engine is told of what a job reads before it is told of the job.
//   - What a job names that was given away is pinned until the job is back, settled or not wanted (Driver.given); what
//     a job names that is held here, until steal's core forgets it (order Release).
//   - The engine is not told of what it has told itself, until it was told to forget it. What it has made by applying a
//     write it keeps, and is told whether it is right.
//
// A nil *shared is that of a driver without such a core.
type shared struct {
	d        *Driver
	core     *sharedobj.Core
	out      SharedTransport
	fetching map[steal.SegmentID]steal.Job // not ready yet
	there    map[sharedobj.Digest]bool     // what the engine has, as far as it was told or has told
	results  results                       // what outcomes name
	ground   *ground                       // what the root's argument names; nil: nothing
}

// absorb sends what the core has to say, and queues its orders.
func (s *shared) absorb(out sharedobj.Output) {
	for _, m := range out.Messages {
		s.out.SendShared(m)
	}
	for i := range out.Orders {
		s.d.orders.push(order{shared: out.Orders[i]})
	}
}

// apply takes in what concerns this core alone.
func (s *shared) apply(in *input) {
	if s == nil {
		return
	}
	switch in.kind {
	case sharedStepped:
		s.absorb(s.core.Step(in.now, in.sharedMessage))
	case sharedSendFailed:
		s.absorb(s.core.SendFailed(in.now, in.sharedMessage))
	case sharedHeard:
		s.absorb(s.core.Hear(in.now, in.from, in.sharedNews))
	case fetchOrdered:
		s.fetch(in)
	case lent:
		s.absorb(s.core.Created(in.now, in.event.Shared.Recipe, in.event.Shared.State))
	case released:
		delete(s.fetching, in.segment)
		s.absorb(s.core.JobDone(in.now, sharedobj.JobID(in.segment)))
	}
}

func (s *shared) tick(now time.Duration) {
	if s != nil {
		s.sweep()
		s.tickGround(now)
		s.absorb(s.core.Tick(now))
	}
}

func (s *shared) setMembers(now time.Duration, m *steal.Members) {
	if s != nil {
		s.absorb(s.core.SetMembers(now, SharedMembers(m)))
	}
}

// SharedMembers are the members as the core of what is shared knows them.
func SharedMembers(m *steal.Members) []sharedobj.Member {
	all := make([]sharedobj.Member, 0, m.Len())
	for i := range m.Len() {
		p := m.At(i)
		all = append(all, sharedobj.Member{ID: sharedobj.PeerID(p.ID), Cluster: sharedobj.ClusterID(p.Cluster),
			Guest: p.Guest})
	}
	return all
}

// fetch has what a job names brought here. One that says it in a way that no correct peer does goes back.
func (s *shared) fetch(in *input) {
	names, err := port.DecodeNames(in.job.Names)
	if err != nil {
		s.d.inputs.push(input{kind: notReady, now: in.now, segment: in.segment})
		return
	}
	s.fetching[in.segment] = in.job
	s.absorb(s.core.JobCame(in.now, sharedobj.Job{ID: sharedobj.JobID(in.segment), Victim: sharedobj.PeerID(in.victim),
		Needs: names.Needs, Holders: names.Holders, Guarded: names.Guarded}))
}

// leaves pins what a job names that leaves the engine, and adds who has it. What it names is what is unpinned when
// it is back.
func (s *shared) leaves(now time.Duration, j *steal.Job) (pinned []sharedobj.Digest) {
	large := s != nil && j.Size() > s.d.cfg.MaxJobBytes
	if len(j.Names) == 0 && !large {
		return nil
	}
	names, err := new(port.Names), error(nil)
	if len(j.Names) > 0 {
		names, err = port.NamesTaken(j.Names)
	}
	if j.Names = nil; s == nil || err != nil || len(names.Needs) > port.MaxNeeds {
		return nil
	}
	floors := 0
	for i := range names.Needs {
		n := &names.Needs[i]
		pinned = append(pinned, n.Digest)
		if floors += len(n.Floor); floors > port.MaxFloors {
			floors -= len(n.Floor)
			b := sharedobj.Build(n.Floor)
			s.core.Expose(n.Digest, b)
			n.Floor, n.FloorBlob = nil, b.Blob
		}
		for _, h := range s.core.Holders(n.Digest) {
			if len(names.Holders) < port.MaxHolders && !slices.Contains(names.Holders, h) {
				names.Holders = append(names.Holders, h)
			}
		}
	}
	s.core.Pin(pinned...)
	if large && s.keepsArgument(now, j, names) {
		pinned = append(pinned, names.Argument)
	}
	if j.Names, err = names.Encode(); err != nil { // it came encoded, and there was no room for what was added
		s.core.Unpin(pinned...)
		return nil
	}
	return pinned
}

func (s *shared) unpin(ds []sharedobj.Digest) {
	if len(ds) > 0 {
		s.core.Unpin(ds...)
	}
}

// happened takes in what the engine tells of shared values.
func (s *shared) happened(now time.Duration, e *port.Event) {
	if s == nil || e.Shared == nil {
		return
	}
	c, v := s.core, e.Shared
	switch e.Kind {
	case port.Made:
		if v.Recipe == nil || v.State == nil {
			return
		}
		if v.Write != nil {
			s.absorb(c.Wrote(now, v.Recipe, v.Write, v.State))
		} else {
			s.absorb(c.Created(now, v.Recipe, v.State))
		}
		if d := v.Recipe.Digest(); c.Has(d) { // else it made no sense, or there was no room
			s.there[d] = true
		}
	case port.Wanted:
		delete(s.there, v.Digest) // or it would not be read
		s.absorb(c.Read(now, v.Digest))
	case port.Offered:
		s.absorb(c.Offered(now, v.Digest))
	case port.Applied:
		s.absorb(c.Applied(now, v.Ticket, v.State))
	case port.Joined:
		s.absorb(c.Joined(now, v.Ticket, e.Good, v.Changed))
	case port.Collected:
		s.absorb(c.Collected(now, v.Digest, v.State))
	case port.Encoded:
		s.absorb(c.Encoded(now, v.Ticket, v.Digest, v.State))
	case port.Guarded:
		s.absorb(c.Guarded(now, sharedobj.JobID(e.Segment), e.Good))
	}
}

// portOrder says which order of the engine's carries out one of the core's.
var portOrder = map[sharedobj.OrderKind]port.OrderKind{
	sharedobj.OrderHere: port.Here, sharedobj.OrderForget: port.Forget, sharedobj.OrderFailed: port.Failed,
	sharedobj.OrderApply: port.Apply, sharedobj.OrderDiscard: port.Discard, sharedobj.OrderJoin: port.Join,
	sharedobj.OrderCollect: port.Collect, sharedobj.OrderEncode: port.Encode, sharedobj.OrderGuard: port.Guard,
}

// carryOut does what the core wants.
func (s *shared) carryOut(o *sharedobj.Order) {
	segment := steal.SegmentID(o.Job)
	text := o.Text
	if o.Err != nil {
		text = o.Err.Error()
	}
	switch o.Kind {
	case sharedobj.OrderTell:
		s.out.TellShared(o.News)
		return
	case sharedobj.OrderNote:
		s.out.Note(text)
		return
	case sharedobj.OrderReady, sharedobj.OrderBack:
		if o.Job == groundID {
			s.laid(o.Err)
			return
		}
		if o.Job&resultIDs != 0 {
			s.came(o.Job, o.Err)
			return
		}
		j, ok := s.fetching[segment]
		if !ok {
			return
		}
		delete(s.fetching, segment)
		kind := ready
		if s.makeWhole(&j); o.Kind == sharedobj.OrderBack {
			kind = notReady
			s.out.Note("a job goes back to its victim: " + text)
		} else if !j.Fits() {
			kind = notReady
		}
		s.d.inputs.push(input{kind: kind, now: s.d.now, segment: segment})
		return
	case sharedobj.OrderHere:
		if o.Ticket != 0 {
			o.Data = nil // the engine has made it
		} else if s.there[o.Digest] {
			return
		}
		s.there[o.Digest] = true
	case sharedobj.OrderForget:
		delete(s.there, o.Digest)
	case sharedobj.OrderFailed:
		delete(s.there, o.Digest)
		s.failed()
	}
	s.d.order = port.Order{Kind: portOrder[o.Kind], Segment: segment, Shared: &port.Shared{Ticket: o.Ticket,
		Digest: o.Digest, Parent: o.Parent, Name: o.Name, Data: o.Data, Text: text, Own: o.Own, Awaited: o.Read}}
	if o.Kind == sharedobj.OrderGuard {
		j, ok := s.fetching[segment]
		if !ok {
			return
		}
		s.d.job = j
		s.makeWhole(&s.d.job)
		s.d.order.Job = &s.d.job
	}
	s.d.cfg.Engine.Do(&s.d.order)
}
