package peer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// runLife is how long a run may take before peers drop it.
const runLife = 90 * 24 * time.Hour

// Submit starts a run that this peer owns: see control.Daemon.
func (p *Peer) Submit(_ context.Context, sub control.Submission) (control.RunInfo, error) {
	now := time.Now()
	m := &statement.Manifest{
		Swarm: p.host.SwarmName(), App: sub.App, Version: p.apps[sub.App].Version, Entry: sub.Function, Arg: sub.Argument,
		Nonce: statement.NewNonce(), Policy: p.cfg.Policy, Created: now.Unix(), Expires: now.Add(runLife).Unix(), Title: clip(sub.Title),
	}
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
	mine := 0
	for _, r := range t.table {
		if r.mine && !r.state.Ended() {
			mine++
		}
	}
	switch {
	case p.leaving.Load():
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "the peer is leaving the swarm: start it again")
	case mine >= maxPerOwner:
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "%d runs of this peer are in progress, at most %d may be: wait for one, or cancel it", mine, maxPerOwner)
	}
	r := &run{manifest: signed.Head(), bytes: signed.Bytes, mine: true, args: sub.Args, began: now, asked: now, state: control.RunRunning, over: make(chan struct{}), most: 1}
	if err := t.start(r); err != nil {
		return control.RunInfo{}, err
	}
	t.table[signed.Run] = r
	if err := r.session.Root(m.Entry, m.Arg, func(outcome []byte) { p.spawn(func(context.Context) { t.finish(r, outcome) }) }); err != nil {
		t.stop(r, control.RunFailed, err.Error())
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	}
	p.announce(signed)
	return p.describeRun(r, now), nil
}

// finish keeps the outcome of an own run, and only then tells anybody.
func (t *runs) finish(r *run, outcome []byte) {
	t.mu.Lock()
	over, manifest, most := r.state.Ended(), r.bytes, r.most
	t.mu.Unlock()
	if over {
		return // cancelled a moment ago
	}
	now := time.Now()
	err := t.p.answers.keep(r.manifest.Run, &Answer{
		Manifest: manifest, Outcome: outcome, Ended: now.Unix(), Elapsed: int64(now.Sub(r.began)), Peers: most,
	})
	if err != nil {
		t.p.log.Error("the answer could not be kept on the disk", "run", r.manifest.Run, "error", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.state.Ended() {
		return
	}
	r.outcome, r.stored = outcome, err
	state, why := control.RunDone, ""
	if o := judge(r.manifest, outcome); o.Failure != "" {
		state, why = control.RunFailed, o.Failure
	}
	t.endOwn(r, state, why, statement.Finished)
}

// endOwn ends an own run everywhere. The mutex is held.
func (t *runs) endOwn(r *run, state control.RunState, why string, reason statement.Reason) {
	stone := &statement.Tombstone{Run: r.manifest.Run, Reason: reason, At: time.Now().Unix(), Until: r.manifest.Expires}
	b, err := stone.Sign(t.p.key)
	if err != nil {
		t.p.log.Error("tombstone cannot be signed", "run", r.manifest.Run, "error", err)
	} else {
		if len(t.graves) < maxGraves {
			t.graves[r.manifest.Run] = grave{b, t.p.host.ID(), reason, time.Unix(stone.Until, 0)}
		}
		t.told = append(t.told, b)
		t.told = t.told[max(0, len(t.told)-maxStonesTold):]
		t.p.publishTombstone(b)
	}
	t.stop(r, state, why)
}

// abandon ends all own runs, because this peer is leaving: nobody else could bring them to an end.
func (t *runs) abandon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.table {
		if r.mine && !r.state.Ended() {
			t.p.log.Warn("own run ends with this peer", "run", r.manifest.Run)
			t.endOwn(r, control.RunCancelled, "its owner left the swarm", statement.Cancelled)
		}
	}
}

// disown buries a run of an earlier life of this peer: what was known of it here is gone. The mutex is held.
func (t *runs) disown(m *statement.SignedManifest) {
	now := time.Now()
	r := &run{manifest: m.Head(), mine: true, began: time.Unix(m.Created, 0), state: control.RunRunning, over: make(chan struct{})}
	t.table[m.Run] = r
	if _, err := t.p.answers.load(m.Run); err == nil {
		t.endOwn(r, control.RunDone, "", statement.Finished)
		return
	}
	t.p.log.Warn("own run of an earlier life is lost", "run", m.Run, "after", now.Sub(r.began).Round(time.Second))
	t.endOwn(r, control.RunFailed, "its peer was restarted in the middle of it, and what was done is lost: submit it again", statement.Cancelled)
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
	if !r.state.Ended() {
		t.endOwn(r, control.RunCancelled, "cancelled by its owner", statement.Cancelled)
	}
	return nil
}

// ownRun finds a run of this peer's own.
func (p *Peer) ownRun(name string) (*run, error) {
	id, ok := parseRunID(name)
	if !ok {
		return nil, control.Errorf(control.ErrBadInput, "%q is no run: want the 32 hexadecimal digits that 'satin-peer runs' shows", clip(name))
	}
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	r := p.runs.table[id]
	switch {
	case r == nil:
		return nil, control.Errorf(control.ErrNotFound, "there is no run %s here; 'satin-peer runs' lists those there are", name)
	case !r.mine:
		return nil, control.Errorf(control.ErrNotFound, "run %s belongs to %s: only its owner can do that", name, r.manifest.Owner)
	}
	return r, nil
}

// Wait waits for the end of an own run: see control.Daemon. Of a run of an earlier life of this peer the answer is on the disk.
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

// outcomeOf describes the end of an own run.
func (p *Peer) outcomeOf(r *run) control.Outcome {
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	o := control.Outcome{}
	if r.outcome != nil {
		o = judge(r.manifest, r.outcome)
	} else {
		o.Failure = r.why
	}
	o.Run, o.State, o.Elapsed = hexRun(r.manifest.Run), r.state, r.elapsed(time.Now()).Seconds()
	o.Peers, o.Stats = r.most, r.total().stats()
	if r.stored != nil {
		o.Warning = "the answer could not be kept on the disk and is lost when the daemon ends: " + r.stored.Error()
	}
	return o
}

// storedOutcome finds the answer to a run of an earlier life.
func (p *Peer) storedOutcome(name string) (control.Outcome, bool) {
	id, ok := parseRunID(name)
	if !ok {
		return control.Outcome{}, false
	}
	a, err := p.answers.load(id)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.log.Warn("stored answer cannot be read", "run", id, "error", err)
		}
		return control.Outcome{}, false
	}
	m, err := statement.OpenManifest(a.Manifest)
	if err != nil || m.Owner != p.host.ID() || m.Run != id {
		p.log.Warn("stored answer does not fit its run", "run", id, "error", err)
		return control.Outcome{}, false
	}
	o := judge(m, a.Outcome)
	o.Run, o.Elapsed, o.Peers, o.State = name, time.Duration(a.Elapsed).Seconds(), a.Peers, control.RunDone
	if o.Failure != "" {
		o.State = control.RunFailed
	}
	return o, true
}

// judge reads the root job's outcome.
func judge(m *statement.SignedManifest, outcome []byte) (o control.Outcome) {
	fn, ok := satin.Lookup(m.Entry)
	if !ok {
		o.Failure = fmt.Sprintf("this program has no function %q any more", m.Entry)
		return o
	}
	_, err, panicked, bad := session.DecodeOutcome(m.Run, outcome, fn)
	switch {
	case bad != nil:
		o.Failure = "the root job's outcome cannot be read: " + bad.Error()
	case panicked != nil:
		o.Failure, o.Stack = panicked.Error(), string(panicked.Stack)
	case err != nil:
		o.Failure = err.Error()
	default:
		var raw session.Outcome
		if bad := wire.Value().Decode(outcome, &raw); bad == nil {
			o.Result = raw.Value
		}
	}
	return o
}

// nextLife numbers this peer's sessions, over all its starts: a handle must not mean two jobs.
func (p *Peer) nextLife() steal.Incarnation {
	return steal.Incarnation(p.host.Incarnation()<<20 + p.lives.Add(1))
}
