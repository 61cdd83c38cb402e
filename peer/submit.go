package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// runLife is how long a run may take before peers drop it.
const runLife = 90 * 24 * time.Hour

// Submit starts a run that this peer owns: see control.Daemon.
func (p *Peer) Submit(_ context.Context, sub control.Submission) (control.RunInfo, error) {
	now := time.Now()
	m := &statement.Manifest{
		Swarm: p.host.SwarmName(), App: sub.App, Version: p.apps[sub.App].Version, Entry: sub.Function,
		Arg:   sub.Argument,
		Nonce: statement.NewNonce(), Policy: p.cfg.Policy, Created: now.Unix(), Expires: now.Add(runLife).Unix(),
		Title:    clip(sub.Title),
		Recovery: sub.Recovery,
	}
	m.Deputies = p.deputies(m)
	if why := p.unfit(m); why != "" {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
	}
	signed, err := m.Sign(p.key)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	}
	t := p.runs
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.room(); err != nil {
		return control.RunInfo{}, err
	}
	r := &run{manifest: signed.Head(), bytes: signed.Bytes, mine: true, args: sub.Args, began: now,
		again: repetition{now, time.Second}, state: control.RunRunning, over: make(chan struct{}), most: 1}
	if err := p.remember(r); err != nil {
		return control.RunInfo{}, fmt.Errorf(
			"the run cannot be written down, so that it would be known after a restart: %w", err)
	}
	if err := t.start(r, signed, beginning{fresh: true}); err != nil {
		p.forgetOwn(signed.Run)
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	}
	t.table[signed.Run] = r
	p.announce(signed)
	return p.describeRun(r, now), nil
}

// room says why there can be no further own run at the moment. The mutex is held.
func (t *runs) room() error {
	mine := 0
	for _, r := range t.table {
		if r.mine && !r.state.Ended() {
			mine++
		}
	}
	switch {
	case t.p.leaving.Load():
		return control.Errorf(control.ErrRefused, "the peer is leaving the swarm: start it again")
	case mine >= maxPerOwner:
		return control.Errorf(control.ErrRefused,
			"%d runs of this peer are in progress, at most %d may be: wait for one, or cancel it", mine, maxPerOwner)
	}
	return nil
}

// finish keeps the outcome of a run whose root job has ended here.
func (t *runs) finish(ctx context.Context, r *run, outcome []byte) {
	if !r.mine {
		t.answerFor(ctx, r, outcome)
		return
	}
	t.concluding.Lock()
	defer t.concluding.Unlock()
	t.conclude(r, outcome, nil)
}

// endOwn ends an own run everywhere. The mutex is held.
func (t *runs) endOwn(r *run, state control.RunState, why string, reason statement.Reason) {
	t.bring(r, reason)
	t.p.forgetOwn(r.manifest.Run)
	t.stop(r, state, why)
}

// bring tells everybody what becomes of an own run. The mutex is held.
func (t *runs) bring(r *run, reason statement.Reason) {
	r.seq++
	stone := &statement.Tombstone{Run: r.manifest.Run, Reason: reason, At: time.Now().Unix(),
		Until: r.manifest.Expires, Seq: r.seq}
	if reason == statement.Finished {
		hash := statement.HashOutcome(r.outcome)
		stone.Hash = hash[:]
	}
	b, err := stone.Sign(t.p.key)
	if err != nil {
		t.p.log.Error("tombstone cannot be signed", "run", r.manifest.Run, "error", err)
		return
	}
	if _, known := t.graves[r.manifest.Run]; known || len(t.graves) < maxGraves {
		t.graves[r.manifest.Run] = grave{*stone, b, t.p.host.ID()}
	}
	t.told = append(t.told, b)
	t.told = t.told[max(0, len(t.told)-maxStonesTold):]
	t.p.publishTombstone(b)
}

// disown buries a run of an earlier life of this peer of which nothing was written down: it had ended, or was
// never told of. The mutex is held.
func (t *runs) disown(m *statement.SignedManifest) {
	now := time.Now()
	r := &run{manifest: m.Head(), mine: true, began: time.Unix(m.Created, 0), state: control.RunRunning,
		over: make(chan struct{})}
	t.table[m.Run] = r
	if a, err := t.p.answers.load(m.Run); err == nil {
		r.outcome, r.answered = a.Outcome, a.by()
		t.endOwn(r, control.RunDone, "", statement.Finished)
		return
	}
	t.p.log.Warn("own run of an earlier life is not known any more", "run", m.Run, "after",
		now.Sub(r.began).Round(time.Second))
	t.endOwn(r, control.RunCancelled, "it was cancelled, or what was written down of it is lost", statement.Cancelled)
}

// Cancel ends an own run everywhere: see control.Daemon.
func (p *Peer) Cancel(_ context.Context, name string) error {
	r, err := p.ownRun(name)
	if err != nil {
		return err
	}
	t := p.runs
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.state == control.RunSuspended, r.state == control.RunRefused: // over as it is, but not for good
		r.state, r.why = control.RunCancelled, "cancelled by its owner"
		t.bring(r, statement.Cancelled)
		p.forgetOwn(r.manifest.Run)
		p.spawn(func(context.Context) { p.discard(r.manifest.Run) })
	case !r.state.Ended():
		t.endOwn(r, control.RunCancelled, "cancelled by its owner", statement.Cancelled)
	}
	return nil
}

// ownRun finds a run of this peer's own.
func (p *Peer) ownRun(name string) (*run, error) {
	id, ok := job.ParseRunID(name)
	if !ok {
		return nil, control.Errorf(control.ErrBadInput,
			"%q is no run: want the 32 hexadecimal digits that 'satin-peer runs' shows", clip(name))
	}
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	r := p.runs.table[id]
	switch {
	case r == nil:
		return nil, control.Errorf(control.ErrNotFound,
			"there is no run %s here; 'satin-peer runs' lists those there are", name)
	case !r.mine:
		return nil, control.Errorf(control.ErrNotFound, "run %s belongs to %s: only its owner can do that", name,
			r.manifest.Owner)
	}
	return r, nil
}

// Wait waits for the end of an own run: see control.Daemon. Of a run of an earlier life of this peer the
// answer is on the disk.
func (p *Peer) Wait(ctx context.Context, name string, progress func(control.Progress)) (control.Outcome, error) {
	r, err := p.ownRun(name)
	if errors.Is(err, control.ErrNotFound) {
		if o, ok := p.storedOutcome(name); ok {
			return o, nil
		}
	}
	if err != nil {
		return control.Outcome{}, err
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	if progress != nil {
		progress(p.progress(r))
	}
	for {
		select {
		case <-ctx.Done():
			return control.Outcome{}, context.Cause(ctx)
		case <-p.left:
			return control.Outcome{}, control.Errorf(control.ErrUnavailable,
				"this peer has left the swarm; the run goes on there if others take part, and here when the peer is started again: satin-peer wait %s then prints the answer", name)
		case <-r.over:
			if r.outcome == nil && r.state == control.RunDone { // of an earlier life
				if o, ok := p.storedOutcome(name); ok {
					return o, nil
				}
			}
			return p.outcomeOf(r), nil
		case <-tick.C:
			if progress != nil {
				progress(p.progress(r))
			}
		}
	}
}

// progressEvery is how often Wait calls progress.
const progressEvery = 250 * time.Millisecond

// nextLife numbers this peer's sessions, over all its starts: a handle must not mean two jobs.
func (p *Peer) nextLife() steal.Incarnation {
	return steal.Incarnation(p.host.Incarnation()<<20 + p.lives.Add(1))
}
