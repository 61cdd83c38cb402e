package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// ResumeRun takes a run up again: see control.Daemon.
func (p *Peer) ResumeRun(ctx context.Context, q control.Resumption) (control.RunInfo, error) {
	if err := p.staying(); err != nil {
		return control.RunInfo{}, err
	}
	if q.Directory == "" {
		id, err := runNamed(q.Run)
		if err != nil {
			return control.RunInfo{}, err
		}
		switch lifted, err := p.deaths.lift(id); {
		case err != nil:
			return control.RunInfo{}, control.Errorf(control.ErrUnavailable, "the quarantine cannot be lifted: %v", err)
		case lifted:
			p.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.NotStarted(now, id, "") })
			return p.describe(id), nil
		}
		return p.resumeOwn(ctx, id, nil)
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
		return p.resumeOwn(ctx, m.Run, &s)
	}
	return p.resumeAsNew(ctx, m, s)
}

// resumeOwn goes on with a suspended run of this peer's own. What a copy of its checkpoint holds is used besides.
func (p *Peer) resumeOwn(ctx context.Context, id job.RunID, also *stored) (control.RunInfo, error) {
	t := p.runs
	t.resuming.Lock() // one at a time: the log is opened before the run goes on
	defer t.resuming.Unlock()
	t.mu.Lock()
	no := t.core.MayResume(id)
	info, there := t.core.Run(id)
	t.mu.Unlock()
	switch {
	case there && !info.Mine:
		return control.RunInfo{}, control.Errorf(control.ErrRefused,
			"run %s belongs to %s: resume it by its directory, and it becomes a new run of yours", id.Hex(),
			info.Manifest.Owner)
	case no != nil:
		return control.RunInfo{}, refused(no, nil)
	}
	o, m, err := p.readOwn(id.Hex())
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrRefused,
			"what was written down of run %s cannot be read: %v", id.Hex(), err)
	}
	if o.Unfit != "" {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "%s", o.Unfit)
	}
	again, err := p.reopen(m, o.Args)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "the checkpoint cannot be used: %s", oneLine(err))
	}
	if also != nil {
		again.stored.parts = append(again.stored.parts, also.parts...)
		if again.stored.answer == nil {
			again.stored.answer = also.answer
		}
	}
	return p.goOn(m, again, false, func() error {
		return refused(t.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
			return c.Resume(now, at, manifestOf(m))
		}))
	})
}

// resumeAsNew begins a new run of the same problem, with what the checkpoint of another one holds: only the
// owner can go on with a run.
func (p *Peer) resumeAsNew(ctx context.Context, from *statement.SignedManifest, s stored) (control.RunInfo, error) {
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
	again, err := p.reopen(signed, s.args)
	if err != nil {
		p.log.Warn("what is computed of a run is not kept on the disk", "run", signed.Run, "error", err)
		again = &resumption{}
	}
	again.stored = s
	info, err := p.goOn(signed, again, true, func() error {
		_, err := p.begin(ctx, signed, s.args)
		return err
	})
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

// reopen opens the checkpoint of a run that is to go on, and reads what it holds.
func (p *Peer) reopen(m *statement.SignedManifest, args []string) (*resumption, error) {
	r := &resumption{}
	if p.cfg.Checkpoint <= 0 { // it was on when the run was suspended
		snap, err := checkpoint.Read(p.checkpointDir(m.Run), checkpoint.HeaderOf(m.Run, m.Bytes), nil)
		if errors.Is(err, checkpoint.ErrNoCheckpoint) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		defer snap.Close()
		r.stored = p.contents(snap.Records())
		return r, nil
	}
	r.keeper = newKeeper(p.checkpointDir(m.Run))
	l, err := r.keeper.open(p, m, args)
	if err != nil {
		return nil, err
	}
	r.stored = p.contents(l.Records())
	return r, nil
}

// goOn has a run begin with what was kept of it.
func (p *Peer) goOn(m *statement.SignedManifest, again *resumption, fresh bool, begin func() error) (
	control.RunInfo, error) {
	if l := again.keeper.get(); l != nil {
		for _, part := range again.stored.parts { // those that are there already are not written again
			l.AppendOutcome(part.Path, part.Identity, part.Outcome)
		}
	}
	t := p.runs
	t.mu.Lock()
	t.resumed[m.Run] = again
	t.mu.Unlock()
	err := begin()
	t.mu.Lock()
	_, unused := t.resumed[m.Run]
	delete(t.resumed, m.Run)
	t.mu.Unlock()
	if unused {
		p.spawn(func(context.Context) { again.keeper.close(p, fresh) })
	}
	if err != nil {
		return control.RunInfo{}, err
	}
	p.log.Info("run resumed", "run", m.Run, "title", m.Title, "results", len(again.stored.parts), "too_many",
		again.stored.beyond)
	return p.describe(m.Run), nil
}

// oneLine puts an error that has several lines into one.
func oneLine(err error) string {
	if err == nil {
		return "nobody knows why"
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}

// discard removes the checkpoint of a run that is over, after a crash.
func (p *Peer) discard(run job.RunID) {
	if err := os.RemoveAll(p.checkpointDir(run)); err != nil {
		p.log.Warn("the checkpoint of a run that is over cannot be removed", "run", run, "error", err)
	}
}

// findDormant looks for the checkpoints of runs, once. Empty ones are removed; those that cannot be read are left
// alone.
func (t *conductor) findDormant(context.Context) {
	p := t.p
	dir := filepath.Join(p.cfg.Host.StateDir, "checkpoints")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		run, ok := job.ParseRunID(e.Name())
		if !ok || p.own.has(e.Name()) || t.sessionOf(run) != nil {
			continue
		}
		m, err := manifestIn(filepath.Join(dir, e.Name()))
		switch {
		case err != nil && hasNothing(filepath.Join(dir, e.Name())):
			p.discard(run)
		case err != nil:
			p.log.Warn("a checkpoint cannot be read and is left alone", "run", run, "error", oneLine(err))
		case m.Run != run || m.Swarm != p.host.SwarmName():
			p.log.Warn("a checkpoint is of another run or swarm and is left alone", "directory",
				filepath.Join(dir, e.Name()))
		default:
			unfit := p.unfit(&m.Manifest)
			t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Dormant(now, manifestOf(m), unfit) })
		}
	}
}

// hasNothing says whether a checkpoint has no file but its lock: the peer was killed before it had written anything.
func hasNothing(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "lock" })
}

func manifestIn(dir string) (*statement.SignedManifest, error) {
	snap, err := checkpoint.Read(dir, checkpoint.Header{}, nil)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	b, err := snap.Manifest()
	if err != nil {
		return nil, err
	}
	return statement.OpenManifest(b)
}
