package peer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// An owner that suspends its run first collects what the others have of it (collectProtocol): each writes
// what waits to its disk and sends what its checkpoint holds, one result in a frame, until an empty frame.
// Only the owner is told.
const (
	collectProtocol = protocol.ID("/satin/collect/1")

	// collectTime bounds the collecting from all peers, and syncTime the writing before it.
	collectTime = 15 * time.Second
	syncTime    = 5 * time.Second
	// collectAtOnce is how many peers are asked at a time, and maxCollected how many bytes are taken from one.
	collectAtOnce = 8
	maxCollected  = 256 << 20
)

// collectQuestion asks for what is kept of a run.
type collectQuestion struct {
	Run job.RunID `cbor:"1,keyasint"`
}

func (p *Peer) serveCollecting() {
	p.net.SetStreamHandler(collectProtocol, func(s network.Stream) {
		p.serve(s, collectTime, func() error {
			var q collectQuestion
			if err := readValue(s, 1<<10, &q); err != nil {
				return err
			}
			l := p.runs.logFor(q.Run, s.Conn().RemotePeer())
			if l == nil {
				return wire.WriteFrame(s, nil, 0)
			}
			ctx, cancel := context.WithTimeout(p.ctx, syncTime)
			defer cancel()
			_ = l.Sync(ctx) // what cannot be written is not sent either
			for r, err := range l.Records() {
				if err != nil || r.Kind == checkpoint.RunManifest {
					continue
				}
				if err := writeValue(s, &steal.Partial{Path: r.Path, Identity: r.Identity,
					Outcome: r.Outcome}); err != nil {
					return err
				}
			}
			return wire.WriteFrame(s, nil, 0)
		})
	})
}

// logFor gives the log of a run in progress to its owner; nil if there is none, or somebody else asks.
func (t *runs) logFor(run job.RunID, asker peer.ID) *checkpoint.Log {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.table[run]; r != nil && r.manifest.Owner == asker && r.keeper != nil {
		return r.keeper.get()
	}
	return nil
}

// collect appends what others have of an own run to its log.
func (p *Peer) collect(ctx context.Context, r *run, l *checkpoint.Log) {
	ctx, cancel := context.WithTimeout(ctx, collectTime)
	defer cancel()
	var wg sync.WaitGroup
	places := make(chan struct{}, collectAtOnce)
	for _, id := range p.confidants(r.manifest) {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if err := p.collectFrom(ctx, id, r.manifest.Run, l); err != nil {
				p.log.Warn("what a peer has of a suspended run could not all be collected, and will be computed again", "run", r.manifest.Run, "peer", id, "error", err)
			}
		})
	}
	wg.Wait()
}

func (p *Peer) collectFrom(ctx context.Context, id peer.ID, run job.RunID, l *checkpoint.Log) error {
	return p.converse(ctx, id, collectProtocol, collectTime, func(s network.Stream) error {
		if err := writeValue(s, &collectQuestion{run}); err != nil {
			return err
		}
		for total := 0; total < maxCollected; {
			b, err := wire.ReadFrame(s, nil, wire.MaxValue)
			if err != nil || len(b) == 0 {
				return err
			}
			total += len(b)
			var part steal.Partial
			if err := wire.Value().Decode(b, &part); err != nil {
				return err
			}
			if !l.AppendOutcome(part.Path, part.Identity, part.Outcome) { // the queue is full: let it be written
				if err := l.Sync(ctx); err != nil {
					return err
				}
				l.AppendOutcome(part.Path, part.Identity, part.Outcome)
			}
		}
		return errors.New("it has more than is taken from one peer")
	})
}

// Suspend ends a run everywhere until it is resumed: see control.Daemon.
func (p *Peer) Suspend(ctx context.Context, name string) error {
	r, err := p.ownRun(name)
	if err != nil {
		return err
	}
	t := p.runs
	t.mu.Lock()
	ended, k := r.state, r.keeper
	t.mu.Unlock()
	if ended.Ended() {
		return control.Errorf(control.ErrRefused, "run %s has ended already: it is %s", name, ended)
	}
	var l *checkpoint.Log
	if k != nil {
		k.await(ctx)
		l = k.get()
	}
	switch {
	case k == nil:
		return control.Errorf(control.ErrRefused,
			"checkpoints are switched off on this peer, so there would be nothing to resume: satin-peer cancel ends the run")
	case l == nil:
		return control.Errorf(control.ErrUnavailable, "the run has no checkpoint at the moment: %v",
			oneLine(k.Trouble()))
	}
	p.collect(ctx, r, l)
	if err := l.Sync(ctx); err != nil {
		return control.Errorf(control.ErrUnavailable, "the checkpoint cannot be written, and the run goes on: %v",
			oneLine(err))
	}
	t.mu.Lock()
	if r.state.Ended() { // its answer came in the meantime
		state := r.state
		t.mu.Unlock()
		return control.Errorf(control.ErrRefused, "run %s has ended in the meantime: it is %s", name, state)
	}
	r.suspended = true
	r.seq++ // of the tombstone that follows
	if err := p.remember(r); err != nil {
		r.suspended = false
		t.mu.Unlock()
		return control.Errorf(control.ErrUnavailable,
			"that the run is suspended cannot be written down, and it goes on: %v", err)
	}
	r.seq--
	t.bring(r, statement.Suspended)
	t.stop(r, control.RunSuspended, "satin-peer resume goes on with it")
	t.mu.Unlock()
	select {
	case <-k.done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ResumeRun takes a run up again: see control.Daemon.
func (p *Peer) ResumeRun(ctx context.Context, q control.Resumption) (control.RunInfo, error) {
	if p.leaving.Load() {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "the peer is leaving the swarm: start it again")
	}
	if q.Directory == "" {
		id, ok := job.ParseRunID(q.Run)
		if !ok {
			return control.RunInfo{}, control.Errorf(control.ErrBadInput,
				"%q is no run: want the 32 hexadecimal digits that 'satin-peer runs' shows", clip(q.Run))
		}
		return p.resumeOwn(id, nil)
	}
	snap, err := checkpoint.Read(q.Directory, checkpoint.Header{}, nil)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", oneLine(err))
	}
	defer snap.Close()
	for _, problem := range snap.Problems() {
		p.log.Warn("damage in a checkpoint; what is intact is used", "problem", problem)
	}
	b, err := snap.Manifest()
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", oneLine(err))
	}
	m, err := statement.OpenManifest(b)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s: the manifest in it: %v", q.Directory, err)
	}
	s := p.contents(snap.Records())
	if m.Owner == p.host.ID() && p.own.has(m.Run.Hex()) {
		return p.resumeOwn(m.Run, &s)
	}
	return p.resumeAsNew(ctx, m, s)
}

// resumeOwn goes on with a suspended run of this peer's own. What a copy of its checkpoint holds is used besides.
func (p *Peer) resumeOwn(id job.RunID, also *stored) (control.RunInfo, error) {
	refuse := func(format string, args ...any) (control.RunInfo, error) {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, format, args...)
	}
	t := p.runs
	t.resuming.Lock() // one at a time: the log is opened before the run is in the table
	defer t.resuming.Unlock()
	t.mu.Lock()
	old := t.table[id]
	t.mu.Unlock()
	o, m, err := p.recall(id)
	switch {
	case old != nil && !old.mine:
		return refuse("run %s belongs to %s: resume it by its directory, and it becomes a new run of yours",
			id.Hex(), old.manifest.Owner)
	case old != nil && !old.state.Ended():
		return refuse("run %s goes on: there is nothing to resume", id.Hex())
	case old != nil && old.state != control.RunSuspended:
		return refuse("run %s has ended: it is %s", id.Hex(), old.state)
	case errors.Is(err, fs.ErrNotExist):
		return control.RunInfo{}, control.Errorf(control.ErrNotFound,
			"there is no suspended run %s here; 'satin-peer runs' lists those there are", id.Hex())
	case err != nil:
		return refuse("what was written down of run %s cannot be read: %v", id.Hex(), err)
	}
	if why := p.unfit(&m.Manifest); why != "" {
		return refuse("%s", why)
	}
	now := time.Now()
	r := &run{
		manifest: m.Head(), bytes: m.Bytes, mine: true, returned: true, args: o.Args, began: now,
		again: repetition{now, time.Second}, asked: now, seq: o.Seq,
		state: control.RunRunning, over: make(chan struct{}), most: 1,
	}
	s, err := p.reopen(r, m)
	if err != nil {
		return refuse("the checkpoint cannot be used: %s", oneLine(err))
	}
	if also != nil {
		s.parts = append(s.parts, also.parts...)
		if s.answer == nil {
			s.answer = also.answer
		}
	}
	return p.goOn(r, m, s, statement.Resumed)
}

// resumeAsNew begins a new run of the same problem, with what the checkpoint of another one holds: only the
// owner can go on with a run.
func (p *Peer) resumeAsNew(_ context.Context, from *statement.SignedManifest, s stored) (control.RunInfo, error) {
	if why := p.unfit(&from.Manifest); why != "" {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "%s", why)
	}
	now := time.Now()
	m := from.Manifest
	m.Swarm, m.Nonce, m.Created, m.Expires = p.host.SwarmName(), statement.NewNonce(), now.Unix(),
		now.Add(runLife).Unix()
	m.Deputies = p.deputies(&m)
	signed, err := m.Sign(p.key)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	}
	r := &run{
		manifest: signed.Head(), bytes: signed.Bytes, mine: true, args: s.args, began: now,
		again: repetition{now, time.Second}, asked: now,
		state: control.RunRunning, over: make(chan struct{}), most: 1,
	}
	if _, err := p.reopen(r, signed); err != nil {
		p.log.Warn("what is computed of a run is not kept on the disk", "run", signed.Run, "error", err)
	}
	info, err := p.goOn(r, signed, s, 0)
	if err == nil {
		whose := "belongs to " + from.Owner.String()
		if from.Owner == p.host.ID() {
			whose = "is over"
		}
		info.Why = "a new run of the same problem, with what the checkpoint holds: run " + from.Run.Hex() + " " +
			whose
	}
	return info, err
}

// reopen opens the checkpoint of a run that is not in the table yet, and reads what it holds.
func (p *Peer) reopen(r *run, m *statement.SignedManifest) (s stored, err error) {
	if p.cfg.Checkpoint <= 0 { // it was on when the run was suspended
		snap, err := checkpoint.Read(p.checkpointDir(m.Run), checkpoint.HeaderOf(m.Run, m.Bytes), nil)
		if errors.Is(err, checkpoint.ErrNoCheckpoint) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		defer snap.Close()
		return p.contents(snap.Records()), nil
	}
	r.keeper = newKeeper(p.checkpointDir(m.Run))
	l, err := r.keeper.open(p, m, r.args)
	if err != nil {
		return s, err
	}
	return p.contents(l.Records()), nil
}

// goOn starts a run of this peer's own with what was kept of it, and tells everybody.
func (p *Peer) goOn(r *run, m *statement.SignedManifest, s stored, reason statement.Reason) (control.RunInfo, error) {
	if l := r.keeper.get(); l != nil {
		for _, part := range s.parts { // those that are there already are not written again
			l.AppendOutcome(part.Path, part.Identity, part.Outcome)
		}
	}
	t := p.runs
	t.mu.Lock()
	defer t.mu.Unlock()
	if reason != 0 {
		r.seq++
	}
	err := t.room()
	if err == nil {
		err = p.remember(r)
	}
	if reason != 0 {
		r.seq--
	}
	if err == nil {
		err = t.start(r, m, beginning{fresh: true, restored: s.parts})
	}
	if err != nil {
		p.spawn(func(context.Context) { r.keeper.close(p, reason == 0) })
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "%v", err)
	}
	t.table[m.Run] = r
	if reason != 0 {
		t.bring(r, reason)
	}
	p.announce(m)
	if s.answer != nil {
		p.spawn(func(ctx context.Context) { t.finish(ctx, r, s.answer) })
	}
	p.log.Info("run resumed", "run", m.Run, "title", m.Title, "results", len(s.parts), "too_many", s.beyond)
	return p.describeRun(r, time.Now()), nil
}

// oneLine puts an error that has several lines into one.
func oneLine(err error) string {
	if err == nil {
		return "nobody knows why"
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}

// discard removes the checkpoints of runs that are over, after a crash.
func (p *Peer) discard(run job.RunID) {
	if err := os.RemoveAll(p.checkpointDir(run)); err != nil {
		p.log.Warn("the checkpoint of a run that is over cannot be removed", "run", run, "error", err)
	}
}
