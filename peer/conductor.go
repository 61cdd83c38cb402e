package peer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/provision"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/thrift"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A conductor gives package runs its inputs, one at a time, and carries out what it orders, first in, first out. What
// waits for others or for the disk is done on a goroutine of its own, and its end is the next input.
type conductor struct {
	*base.Base
	outside
	disk     disk
	sessions sessions

	mu      sync.Mutex
	core    *runs.Core
	orders  []runs.Order // not carried out yet
	acting  bool
	parts   map[job.RunID]*part
	resumed map[job.RunID]*resumption   // what is known of runs that are about to go on
	over    map[job.RunID]chan struct{} // closed when the run ends, for those who wait
	replies map[runs.Ticket]chan *runs.Refusal
	ticket  runs.Ticket
	thrift  thrift.Thrift

	resuming chan struct{} // one suspended run is taken up at a time: room for one
}

// others is what the conductor has other members asked. All of it waits for them, in bounded time.
type others interface {
	askManifest(ctx context.Context, run job.RunID, from runs.PeerID) *runs.Told
	askAfter(ctx context.Context, run job.RunID, whom runs.PeerID) *runs.Told
	askToKeep(ctx context.Context, whom runs.PeerID, a *runs.Answer) error
	fetchAnswer(ctx context.Context, o *runs.FetchAnswer, m *runs.Manifest) (out runs.Outcome, trouble string)
	collect(ctx context.Context, r *part, from []runs.PeerID) *runs.Refusal
}

// outside is what a conductor carries its orders out with.
type outside struct {
	self        runs.PeerID
	key         crypto.PrivKey
	host        *host.Host
	apps        *catalog
	swarm       *swarm
	voice       *voice
	files       *archive
	checkpoints *ledger.Store
	deaths      *infirmary
	crew        *crew
	jury        *jury
	work        *work
	provision   provision.Command
	others      others
	hours       *hours
}

func newConductor(b *base.Base, o outside, cfg runs.Config) *conductor {
	return &conductor{Base: b, outside: o, core: runs.New(cfg, o.self, o.swarm, signer{b, o.key}), disk: disk{Base: b},
		sessions: sessions{fetching: map[job.RunID]int{}, waiting: map[job.RunID][]*steal.Message{}},
		parts:    map[job.RunID]*part{}, resumed: map[job.RunID]*resumption{}, over: map[job.RunID]chan struct{}{},
		replies: map[runs.Ticket]chan *runs.Refusal{}, resuming: make(chan struct{}, 1)}
}

// input gives the core one input.
func (t *conductor) input(f func(c *runs.Core, now time.Time) []runs.Order) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.feed(f)
}

// feed is input when the mutex is held, and not while an order is carried out.
func (t *conductor) feed(f func(c *runs.Core, now time.Time) []runs.Order) {
	t.orders = append(t.orders, f(t.core, t.Now())...)
	if t.acting {
		return // whoever carries out an order goes on with these
	}
	t.acting = true
	for len(t.orders) > 0 {
		o := t.orders[0]
		t.orders = t.orders[1:]
		t.carryOut(o)
	}
	t.acting = false
}

// report is for what waits: it runs f, and what f returns is the next input.
func (t *conductor) report(f func(ctx context.Context) func(c *runs.Core, now time.Time) []runs.Order) {
	t.Spawn(func(ctx context.Context) { t.input(f(ctx)) })
}

// command gives the core a command and waits until it has been carried out; no is why it was not. err is that of ctx.
func (t *conductor) command(ctx context.Context, f func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order) (
	no *runs.Refusal, err error) {
	done := make(chan *runs.Refusal, 1)
	t.mu.Lock()
	t.ticket++
	at := t.ticket
	t.replies[at] = done
	t.feed(func(c *runs.Core, now time.Time) []runs.Order { return f(c, now, at) })
	t.mu.Unlock()
	select {
	case no = <-done:
		return no, nil
	case <-ctx.Done():
	case <-t.Ctx.Done():
	}
	t.mu.Lock()
	delete(t.replies, at)
	t.mu.Unlock()
	select {
	case no = <-done:
		return no, nil
	default:
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &runs.Refusal{Kind: runs.Unavailable, Text: "this peer is being closed"}, nil
}

// carryOut does one order, or has it done. The mutex is held.
func (t *conductor) carryOut(o runs.Order) {
	switch o := o.(type) {
	case runs.Fetch, runs.Ask, runs.FetchAnswer, runs.KeepAt, runs.Collect:
		t.turnTo(o)
	case runs.Announce:
		t.voice.tell(gossip.KindRun, o.Run[:])
	case runs.Bury:
		t.voice.tell(gossip.KindTombstone, o.Tombstone.Sealed)
	case runs.TellClaim:
		t.voice.tell(gossip.KindAnswered, o.Claim.Sealed)
	case runs.TellRoster:
		t.voice.tell(gossip.KindRoster, o.Roster.Sealed)
	case runs.Provision:
		t.Spawn(func(ctx context.Context) { t.provision.Ask(ctx, t.Log, o) })
	case runs.TellDeath:
		t.voice.tellDeath(o)
	case runs.Doom:
		t.doom(o)
	case runs.Start:
		t.start(o)
	case runs.Stop:
		t.stop(o)
	case runs.Discard:
		t.Spawn(func(context.Context) { t.discard(o.Run) })
	case runs.WriteAnswer:
		if r := t.parts[o.Run]; r != nil && o.Answer.Owner == "" {
			o.Answer.Peers = r.most
		}
		info, _ := t.core.Run(o.Run)
		t.write(o.File, o.Run, func() error { return t.files.writeAnswer(o.File, o.Run, o.Answer, info.Args) })
	case runs.WriteOwn:
		t.write(runs.OwnFile, o.Run, func() error { return t.files.writeOwn(&o.Own) })
	case runs.WriteCancelled:
		t.write(runs.CancelledFile, o.Tombstone.Run, func() error {
			return t.files.cancelled.Write(o.Tombstone.Run.Hex(), o.Tombstone.Sealed)
		})
	case runs.WriteRefused:
		t.write(runs.RefusedFile, job.RunID{}, func() error { return t.files.writeRefused(o.List) })
	case runs.Remove:
		t.disk.do(func() {
			if err := t.files.of(o.File).Remove(nameOf(o.File, o.Run)); err != nil {
				t.Log.Warn("a file of a run cannot be removed", "run", o.Run, "error", err)
			}
		})
	case runs.Over:
		if ch := t.over[o.Run]; ch != nil {
			close(ch)
			delete(t.over, o.Run)
		}
	case runs.Reply:
		if ch := t.replies[o.Ticket]; ch != nil {
			ch <- o.Refusal
			delete(t.replies, o.Ticket)
		}
	case runs.Forget:
		delete(t.parts, o.Run)
	case runs.Note:
		level := slog.LevelDebug
		if o.Bad {
			level = slog.LevelWarn
		}
		t.Log.Log(t.Ctx, level, o.Text, "run", o.Run)
	}
}

// turnTo has others be asked something. The mutex is held.
func (t *conductor) turnTo(o runs.Order) {
	switch o := o.(type) {
	case runs.Fetch:
		t.sessions.expect(o.Run)
		t.Spawn(func(ctx context.Context) {
			told := t.others.askManifest(ctx, o.Run, o.From)
			t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Fetched(now, t.byMember(told)) })
			t.sessions.fetched(o.Run)
		})
	case runs.Ask:
		t.report(func(ctx context.Context) func(*runs.Core, time.Time) []runs.Order {
			told := t.others.askAfter(ctx, o.Run, o.Whom)
			return func(c *runs.Core, now time.Time) []runs.Order { return c.Asked(now, told) }
		})
	case runs.FetchAnswer:
		info, _ := t.core.Run(o.Claim.Run)
		t.report(func(ctx context.Context) func(*runs.Core, time.Time) []runs.Order {
			out, trouble := t.others.fetchAnswer(ctx, &o, info.Manifest)
			return func(c *runs.Core, now time.Time) []runs.Order {
				return c.AnswerFetched(now, &o.Claim, out,
					trouble)
			}
		})
	case runs.KeepAt:
		t.report(func(ctx context.Context) func(*runs.Core, time.Time) []runs.Order {
			err := t.others.askToKeep(ctx, o.Peer, o.Answer)
			if err != nil {
				t.Log.Debug("answer not kept elsewhere", "run", o.Run, "peer", string(o.Peer), "error", err)
			}
			return func(c *runs.Core, now time.Time) []runs.Order { return c.KeptAt(now, o.Run, err == nil) }
		})
	case runs.Collect:
		r := t.parts[o.Run]
		t.report(func(ctx context.Context) func(*runs.Core, time.Time) []runs.Order {
			no := t.others.collect(ctx, r, o.From)
			return func(c *runs.Core, now time.Time) []runs.Order { return c.Collected(now, o.Run, no) }
		})
	}
}

// byMember leaves out a manifest whose owner does not show that it is a member. So of every run here it is known by
// whom its owner is one, and each ends when one of those is put out, whenever that is heard: for this and
// exclusion.review the conductor's mutex is held.
func (x *outside) byMember(told *runs.Told) *runs.Told {
	if told.Manifest == nil {
		return told
	}
	proof, err := ownerProof(x.host, told.Manifest)
	if err != nil {
		x.checkpoints.Log.Debug("run not taken up", "run", told.Run, "from", string(told.From), "error", err)
		return &runs.Told{Run: told.Run, From: told.From, Failed: true}
	}
	told.Manifest.Proof = proof
	if sealed, err := statement.Backed(told.Manifest.Sealed, proof); err == nil { // it may have come without
		told.Manifest.Sealed = sealed
	}
	return told
}

// ownerProof is the proof that the owner of a run is a member, and was not put out.
func ownerProof(h *host.Host, m *runs.Manifest) ([]byte, error) {
	id, err := peer.Decode(string(m.Owner))
	if err != nil {
		return nil, err
	}
	return h.Roll().Shown(id, m.Proof)
}

// write has a file written, in order, and reports it.
func (t *conductor) write(file runs.File, id job.RunID, f func() error) {
	t.disk.do(func() {
		trouble := ""
		if err := f(); err != nil {
			trouble = plain.OneLine(err)
		}
		t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Written(now, file, id, trouble) })
	})
}

// disk does what is to be done to the files of runs, one after the other.
type disk struct {
	*base.Base
	mu    sync.Mutex
	queue []func()
	on    bool
}

func (d *disk) do(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queue = append(d.queue, f); d.on {
		return
	}
	d.on = true
	d.Spawn(func(context.Context) {
		for {
			d.mu.Lock()
			if len(d.queue) == 0 {
				d.on = false
				d.mu.Unlock()
				return
			}
			f := d.queue[0]
			d.queue = d.queue[1:]
			d.mu.Unlock()
			f()
		}
	})
}

// keepUp is done every Config.Every.
func (t *conductor) keepUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, r := range t.parts {
		if s := r.session; s != nil && r.final == nil {
			here := s.Stats().Master
			t.feed(func(c *runs.Core, now time.Time) []runs.Order { return c.RootHeld(now, id, here) })
		}
	}
	t.feed(func(c *runs.Core, now time.Time) []runs.Order { return c.Tick(now) })
	for id, r := range t.parts {
		if now := t.core.Musters.Roster(id); r.final == nil && now != r.roster {
			r.roster = now
			r.session.SetMembers(t.swarm.takingPart(r.manifest, t.core))
		}
	}
	t.releaseSessions()
	if t.thrift.Due(len(t.core.InProgress(1)) > 0, t.Now()) {
		t.Spawn(func(context.Context) { thrift.GiveBack() })
	}
}

// announced says that somebody spoke of a run.
func (t *conductor) announced(id job.RunID, from peer.ID) {
	t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Announced(now, id, peerName(from)) })
}

// buried takes in a tombstone from anywhere.
func (t *conductor) buried(b []byte) error {
	s, author, err := statement.OpenTombstone(b)
	if err == nil {
		t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Buried(now, tombstoneOf(s, author, b)) })
	}
	return err
}

// claimed takes in the claim that a run is answered, from anywhere; from is who passed it on.
func (t *conductor) claimed(b []byte, from peer.ID) error {
	a, err := statement.OpenAnswered(b)
	if err == nil {
		t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Claimed(now, claimOf(a), peerName(from)) })
	}
	return err
}

// rootEnded is the outcome of a root job that ended here, and on whose word besides this peer's it rests.
func (t *conductor) rootEnded(m *runs.Manifest, outcome, of []byte) {
	out := outcomeOf(m, outcome)
	out.Of = of
	t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.RootEnded(now, m.Run, out) })
}

// info is a run for people.
func (t *conductor) info(id job.RunID) (runs.Info, *part, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.core.Run(id)
	return i, t.parts[id], ok
}

// inProgress lists this peer's parts in the runs that go on.
func (t *conductor) inProgress() (list []*part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.parts {
		if r.final == nil {
			list = append(list, r)
		}
	}
	return list
}

// findDormant looks for the checkpoints of runs, once.
func (t *conductor) findDormant(context.Context) {
	for _, m := range t.checkpoints.Left(func(run job.RunID) bool {
		return t.files.own.Has(run.Hex()) || t.sessions.of(run) != nil
	}) {
		if m.Swarm != t.host.SwarmName() {
			t.Log.Warn("a checkpoint is of another swarm and is left alone", "run", m.Run)
			continue
		}
		unfit := t.apps.unfit(m)
		t.input(func(c *runs.Core, now time.Time) []runs.Order {
			_, err := ownerProof(t.host, manifestOf(m))
			switch {
			case errors.Is(err, host.ErrOut):
				return []runs.Order{runs.Discard{Run: m.Run}}
			case err != nil: // the owner has joined since, and may show it
				t.Log.Info("a checkpoint is left alone until its run is heard of", "run", m.Run, "why", err)
				return nil
			}
			return c.Dormant(now, manifestOf(m), unfit)
		})
	}
}

// running adds up this peer's figures in the runs in progress.
func (t *conductor) running() (sum report.RunStats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.parts {
		if !r.settled {
			part := r.lately()
			sum.Add(&part)
		}
	}
	return sum
}

// othersRate is how many jobs a second the other peers execute of the runs that this one takes part in.
func (t *conductor) othersRate(now time.Time) (rate float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.parts {
		if r.final != nil {
			continue
		}
		for _, l := range r.loads {
			rate += l.rate(now)
		}
	}
	return rate
}
