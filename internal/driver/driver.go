package driver

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Config says between whom a driver stands. Core, Engine and Transport are needed.
type Config struct {
	Core      *steal.Core
	Engine    port.Engine
	Transport Transport
	// Shared gets what jobs read to where they read it, and SharedTransport carries what it says. nil: a job that
	// names shared values does not leave its peer.
	Shared          *sharedobj.Core
	SharedTransport SharedTransport
	// Argument is what the root's argument names, without which it does not begin, and Owner who has that, if anybody
	// has. Holds has this peer get it at once, since it may have to begin the root.
	Argument []sharedobj.Digest
	Owner    sharedobj.PeerID
	Holds    bool
	// MaxJobBytes is that of steal.Config: the argument of a larger job is fetched.
	MaxJobBytes int
	// MaxOutcome is how many bytes an outcome may have that is told as it is; default port.MaxOutcome.
	MaxOutcome int
	// Store keeps outcomes beyond this process; nil: nothing is kept.
	Store Store
	// Notary vouches for outcomes; nil: nobody asks who has computed them.
	Notary Notary
	// Commit, if not nil, is given what stands behind the vouchers, for those who ask how an outcome was made. It must
	// not block.
	Commit func(c *verify.Claim, m *Made)
	// Proving compares outcomes of others before they are used; nil: they are used as they come.
	Proving *Proving
	// Observe sees each output of the core before it is carried out, for tests. It must not change it.
	Observe func(out steal.Output)
}

// A Transport takes what a core has to say. Its methods must not block, and may lose what they are given. What
// they call of the driver happens after they have returned.
type Transport interface {
	// Send sends a message to m.To.
	Send(m *steal.Message)
	// Tell tells news to everybody in the run.
	Tell(n *steal.News)
	// Answer has the root's outcome, this peer being master.
	Answer(outcome []byte)
}

// A SharedTransport takes what the core of shared values has to say. Its methods are as those of a Transport.
type SharedTransport interface {
	// SendShared sends a message to m.To.
	SendShared(m *sharedobj.Message)
	// TellShared tells news to everybody in the run.
	TellShared(n *sharedobj.News)
	// Note tells the user something of what is shared: no more than a line, and seldom.
	Note(text string)
}

// A Store takes outcomes. It must not block, and may refuse.
type Store interface {
	Store(p steal.Partial, from Source)
}

// A Source says how an outcome came to this peer.
type Source uint8

// The sources of outcomes.
const (
	RanHere    Source = iota // a segment that returned, the root among them, or a long job in place
	CameHome                 // of a job that others had
	HandedOver               // by a peer that leaves
)

// A Driver is one peer's part in one run. See the package comment.
type Driver struct {
	cfg  Config
	core *steal.Core

	now    time.Duration // of the latest input
	busy   bool
	inputs fifo[input]
	orders fifo[order]
	order  port.Order // scratch
	job    steal.Job  // scratch

	segments map[steal.SegmentID]identity // given to the engine and not ended
	root     steal.SegmentID              // among them, while this peer is the run's master; 0 is none
	aborted  aborted                      // the last ones, which may not have noticed yet
	given    map[steal.Ref]outside        // jobs outside the engine
	out      int                          // bytes in these
	shared   *shared                      // nil if nothing is shared
	sources  *provenance                  // nil if nobody vouches
	load     steal.Load                   // that the engine told last
	// neverBegan counts roots that the core ordered to be run and gave up while they waited for what they name: the
	// engine has not heard of them, and the core would take a worker for busy with each as long as the run lasts.
	neverBegan uint64
	proving    *proving // nil if nothing is compared
}

// order is an order of one of the cores.
type order struct {
	steal  steal.Order
	shared sharedobj.Order // if its Kind is set
	used   sharedobj.JobID // or a result that was made use of
}

// identity names a job.
type identity struct {
	path job.Path
	id   job.Identity
}

// outside is a job outside the engine, and the outcome that the engine has been given for it.
type outside struct {
	identity
	segment steal.SegmentID // that awaits it
	outcome []byte
	voucher []byte
	names   []sharedobj.Digest // kept here as long as it is outside
}

// maxOut is how many bytes of jobs outside there may be, and of outcomes of which the engine has not said that it has
// them, before no more are given away: of an engine that takes its orders fewer are on their way.
const maxOut = 256 << 20

// size is about how much memory it takes.
func (o *outside) size() int {
	const each = 256
	return each + 4*len(o.path) + len(sharedobj.Digest{})*len(o.names) + len(o.outcome) + len(o.voucher)
}

// New makes a driver. The core belongs to it from now on; its questions may be asked between two calls.
func New(cfg Config) *Driver {
	cfg.MaxOutcome = cmp.Or(cfg.MaxOutcome, port.MaxOutcome)
	d := &Driver{cfg: cfg, core: cfg.Core, segments: map[steal.SegmentID]identity{},
		given: map[steal.Ref]outside{}, sources: newProvenance(&cfg)}
	d.proving = newProving(d, cfg.Proving)
	if cfg.Shared != nil {
		d.shared = &shared{d: d, core: cfg.Shared, out: cfg.SharedTransport,
			fetching: map[steal.SegmentID]steal.Job{}, there: map[sharedobj.Digest]bool{}, results: newResults(),
			ground: newGround(&cfg)}
		cfg.Core.OnKept(d.shared.kept)
	}
	return d
}

// Core is the core, to be asked: Gone, Stats, Orphans.
func (d *Driver) Core() *steal.Core { return d.core }

// Next is when the driver wants to be ticked; false if nothing is due.
func (d *Driver) Next() (at time.Duration, ok bool) {
	at, ok = d.core.Next()
	if t, due := d.proving.next(); due && (!ok || t < at) {
		at, ok = t, true
	}
	if d.shared != nil && !d.core.Gone() {
		if t, due := d.shared.core.Next(); due && (!ok || t < at) {
			at, ok = t, true
		}
		if t, due := d.shared.ground.next(); due && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Held is how many segments the engine has, the root included; Given, how many jobs are outside of it. Master
// says whether the engine has the root.
func (d *Driver) Held() int { return len(d.segments) }

// Names are the places and identities of the jobs of the segments that the engine has, in order, and then of those that
// may be at work in it still: a job that was aborted goes on until it looks up.
func (d *Driver) Names() (list []steal.Job) {
	for _, s := range d.segments {
		list = append(list, steal.Job{Path: s.path, Identity: s.id})
	}
	slices.SortFunc(list, func(a, b steal.Job) int {
		return cmp.Or(a.Path.Compare(b.Path), bytes.Compare(a.Identity[:], b.Identity[:]))
	})
	for _, s := range slices.Backward(d.aborted) {
		if d.now-s.at < looksUp {
			list = append(list, steal.Job{Path: s.of.path, Identity: s.of.id})
		}
	}
	return list
}

// aborted are the jobs of segments that the engine was told to abort.
type aborted []struct {
	of identity
	at time.Duration
}

const (
	// looksUp is within what time a job looks whether it is wanted, as a rule.
	looksUp    = time.Minute
	maxAborted = 64
)

func (x *aborted) note(of identity, now time.Duration) {
	if of.id != (job.Identity{}) { // else the engine has not had it
		*x = append((*x)[max(0, len(*x)+1-maxAborted):], aborted{{of, now}}...)
	}
}

// Given is how many jobs are outside the engine.
func (d *Driver) Given() int { return len(d.given) }

// Waiting is how many messages and outcomes wait for what they name.
func (d *Driver) Waiting() int {
	if d.shared == nil {
		return 0
	}
	return len(d.shared.results.held)
}

// Master says whether the engine has the root.
func (d *Driver) Master() bool { return d.root != 0 }

// Step takes a message in.
func (d *Driver) Step(now time.Duration, m *steal.Message) {
	d.feed(input{kind: stepped, now: now, message: m})
}

// SendFailed says that a message was certainly not delivered.
func (d *Driver) SendFailed(now time.Duration, m *steal.Message) {
	d.feed(input{kind: sendFailed, now: now, message: m})
}

// Hear takes gossip in.
func (d *Driver) Hear(now time.Duration, n *steal.News) {
	d.feed(input{kind: heard, now: now, news: n})
}

// Tick lets time pass: see Next.
func (d *Driver) Tick(now time.Duration) { d.feed(input{kind: ticked, now: now}) }

// StepShared is Step for the core of what is shared.
func (d *Driver) StepShared(now time.Duration, m *sharedobj.Message) {
	d.feed(input{kind: sharedStepped, now: now, sharedMessage: m})
}

// SharedSendFailed says that a message was certainly not delivered.
func (d *Driver) SharedSendFailed(now time.Duration, m *sharedobj.Message) {
	d.feed(input{kind: sharedSendFailed, now: now, sharedMessage: m})
}

// HearShared takes gossip in.
func (d *Driver) HearShared(now time.Duration, from sharedobj.PeerID, n *sharedobj.News) {
	d.feed(input{kind: sharedHeard, now: now, from: from, sharedNews: n})
}

// SharedStats are those of what is shared.
type SharedStats struct {
	sharedobj.Stats
	Lack *Lack // what the root waits for that is to run here; nil if it does not wait
}

// SharedStats are those of what is shared.
func (d *Driver) SharedStats() (s SharedStats) {
	if d.shared != nil {
		s.Stats, s.Lack = d.shared.core.Stats(), d.shared.lack()
	}
	return s
}

// SharedValue gives what is here of what jobs share, for whoever runs one of them elsewhere: see sharedobj.Core.Value.
func (d *Driver) SharedValue(x sharedobj.Digest) (name string, value *sharedobj.Body, ok bool) {
	if d.shared == nil {
		return "", nil, false
	}
	return d.shared.core.Value(x)
}

// SetMembers says who takes part.
func (d *Driver) SetMembers(now time.Duration, m *steal.Members) {
	d.feed(input{kind: membersChanged, now: now, members: m})
}

// Restore takes in the outcomes of a checkpoint.
func (d *Driver) Restore(now time.Duration, parts []steal.Partial) {
	d.feed(input{kind: restored, now: now, parts: parts})
}

// Leave ends this peer's part with little loss.
func (d *Driver) Leave(now, patience time.Duration) {
	d.feed(input{kind: left, now: now, patience: patience})
}

// Shun takes from outcasts what they have here: see steal.Core.
func (d *Driver) Shun(now time.Duration, o steal.Outcasts) {
	d.feed(input{kind: shunned, now: now, outcasts: o})
}

// Stand says how this machine stands to the run: see steal.Core.
func (d *Driver) Stand(now time.Duration, s steal.Stance) {
	d.feed(input{kind: stood, now: now, stance: s})
}

// Cancel ends this peer's part because the run is over.
func (d *Driver) Cancel(now time.Duration) { d.feed(input{kind: cancelled, now: now}) }

// Happened says what has happened in the engine, in order. The core hears all of it before an order is
// carried out. What the events point to is not changed afterwards.
func (d *Driver) Happened(now time.Duration, events ...port.Event) {
	if d.busy {
		for i := range events {
			d.inputs.push(input{kind: happened, now: now, event: events[i]})
		}
		return
	}
	d.busy = true
	d.now = max(d.now, now)
	for i := range events {
		d.absorb(d.applyEvent(now, &events[i]))
	}
	d.finish()
}

// feed takes an input in.
func (d *Driver) feed(in input) {
	if d.busy {
		d.inputs.push(in)
		return
	}
	d.busy = true
	d.absorb(d.apply(&in))
	d.finish()
}

// finish does what there is to do.
func (d *Driver) finish() {
	for {
		if in, ok := d.inputs.pop(); ok {
			d.absorb(d.apply(in))
		} else if o, ok := d.orders.pop(); ok {
			d.carryOut(o)
		} else {
			break
		}
	}
	d.busy = false
}

// absorb sends what the core has to say, and queues its orders.
func (d *Driver) absorb(out steal.Output) {
	if d.cfg.Observe != nil {
		d.cfg.Observe(out)
	}
	for _, m := range out.Messages {
		d.shared.sends(m)
		d.cfg.Transport.Send(m)
	}
	for i := range out.Orders {
		d.orders.push(order{steal: out.Orders[i]})
	}
}
