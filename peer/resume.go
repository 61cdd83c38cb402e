package peer

import (
	"context"
	"path/filepath"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// resume takes a run up again.
func (o *owner) resume(ctx context.Context, q control.Resumption) (control.RunInfo, error) {
	if err := o.staying(); err != nil {
		return control.RunInfo{}, err
	}
	if q.Directory == "" {
		id, err := runNamed(q.Run)
		if err != nil {
			return control.RunInfo{}, err
		}
		switch lifted, err := o.deaths.lift(id); {
		case err != nil:
			return control.RunInfo{}, control.Errorf(control.ErrUnavailable, "the quarantine cannot be lifted: %v", err)
		case lifted:
			o.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.NotStarted(now, id, "") })
			return o.reporter.describe(id), nil
		}
		return o.resumeOwn(ctx, id, nil)
	}
	snap, err := checkpoint.Read(q.Directory, checkpoint.Header{}, nil)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", plain.OneLine(err))
	}
	defer snap.Close()
	for _, problem := range snap.Problems() {
		o.Log.Warn("damage in a checkpoint; what is intact is used", "problem", problem)
	}
	b, err := snap.Manifest()
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", plain.OneLine(err))
	}
	m, err := statement.OpenManifest(b)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s: the manifest in it: %v", q.Directory, err)
	}
	s := o.checkpoints.Read(m, snap.Records())
	if m.Verify != "" && filepath.Clean(q.Directory) != o.checkpoints.DirOf(m.Run) {
		s.LeaveOwn(o.checkpoints.Self, m.Owner)
	}
	if m.Owner == o.swarm.self && o.files.own.Has(m.Run.Hex()) && o.Now().Unix() < m.Expires {
		return o.resumeOwn(ctx, m.Run, &s)
	}
	return o.resumeAsNew(ctx, q.Directory, m, s)
}

// alone has one run taken up at a time, until done is called.
func (o *owner) alone(ctx context.Context) (done func(), err error) {
	select {
	case o.runs.resuming <- struct{}{}:
	default: // else whoever has given up already would not begin though nobody is in its way
		select {
		case o.runs.resuming <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return func() { <-o.runs.resuming }, nil
}

// resumeOwn goes on with a suspended run of this peer's own. What a copy of its checkpoint holds is used besides.
func (o *owner) resumeOwn(ctx context.Context, id job.RunID, also *ledger.Contents) (control.RunInfo, error) {
	done, err := o.alone(ctx) // the log is opened before the run goes on
	if err != nil {
		return control.RunInfo{}, err
	}
	defer done()
	t := o.runs
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
	own, m, err := o.files.readOwn(id.Hex())
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrRefused,
			"what was written down of run %s cannot be read: %v", id.Hex(), err)
	}
	if own.Unfit != "" {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "%s", own.Unfit)
	}
	k, kept, err := o.checkpoints.Reopen(m, own.Args)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "the checkpoint cannot be used: %s",
			plain.OneLine(err))
	}
	if also != nil {
		kept.Parts = append(kept.Parts, also.Parts...)
		if kept.Answer == nil {
			kept.Answer, kept.Of = also.Answer, also.Of
		}
	}
	ctx = context.WithoutCancel(ctx)
	return o.goOn(ctx, m, &resumption{k, kept}, false, func() error {
		return refused(t.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
			return c.Resume(now, at, manifestOf(m))
		}))
	})
}

// goesOnAs is the run of this peer's own that goes on with what another one has left, and has no answer yet; "" if none
// does.
func (o *owner) goesOnAs(left job.RunID) string {
	for _, f := range o.files.own.Files() {
		if _, m, err := o.files.readOwn(f.Name); err == nil && statement.IsAfter(m.Nonce, left) {
			return f.Name
		}
	}
	return ""
}

// resumeAsNew begins a new run of the same problem, with what the checkpoint of another one holds: only the
// owner can go on with a run.
func (o *owner) resumeAsNew(ctx context.Context, dir string, from *statement.SignedManifest,
	s ledger.Contents) (control.RunInfo, error) {
	done, err := o.alone(ctx)
	if err != nil {
		return control.RunInfo{}, err
	}
	defer done()
	if run := o.goesOnAs(from.Run); run != "" {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "run %s goes on with this checkpoint already: "+
			"satin-peer wait %s gives its answer, satin-peer resume %s has it go on if it is suspended", run, run, run)
	}
	if why := o.apps.unfit(from); why != "" {
		return control.RunInfo{}, control.Errorf(control.ErrRefused, "%s", why)
	}
	if err := o.apps.constants.Bring(dir, from.Constants); err != nil {
		return control.RunInfo{}, err
	}
	now := o.Now()
	m := from.Manifest
	m.Swarm, m.Nonce, m.Created, m.Expires = o.host.SwarmName(), statement.NonceAfter(from.Run), now.Unix(),
		now.Add(runLife).Unix()
	if m.Deputies = nil; m.Verify == "" {
		m.Deputies = o.swarm.deputies(&m)
	}
	signed, err := m.Sign(o.key)
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	}
	for i := range s.Parts {
		o.checkpoints.Vouch.Again(signed.Run, &s.Parts[i])
	}
	k, _, err := o.checkpoints.Reopen(signed, s.Args)
	if err != nil {
		o.Log.Warn("what is computed of a run is not kept on the disk", "run", signed.Run, "error", err)
	}
	info, err := o.goOn(ctx, signed, &resumption{k, s}, true, func() error {
		_, err := o.begin(ctx, signed, s.Args)
		return err
	})
	if err == nil {
		whose := "belongs to " + from.Owner.String()
		if from.Owner == o.swarm.self {
			whose = "is over"
		}
		info.Why = "a new run of the same problem, with what the checkpoint holds: run " + from.Run.Hex() + " " +
			whose
	}
	return info, err
}

// write writes what is known to the log of the run that goes on, also if whoever has asked for that is gone. What is
// there already is not written again.
func (r *resumption) write(ctx context.Context) {
	l := r.ledger.Log()
	if l == nil {
		return
	}
	for i := range r.stored.Parts {
		p := &r.stored.Parts[i]
		if l.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher) {
			continue
		}
		if l.Sync(context.WithoutCancel(ctx)) != nil { // which the log has told
			return
		}
		l.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher)
	}
}

// goOn has a run begin with what was kept of it.
func (o *owner) goOn(ctx context.Context, m *statement.SignedManifest, again *resumption, fresh bool,
	begin func() error) (control.RunInfo, error) {
	again.write(ctx)
	t := o.runs
	t.mu.Lock()
	t.resumed[m.Run] = again
	t.mu.Unlock()
	err := begin()
	t.mu.Lock()
	_, unused := t.resumed[m.Run]
	delete(t.resumed, m.Run)
	t.mu.Unlock()
	if unused {
		o.Spawn(func(ctx context.Context) { // a run that is written down as the peer is closed goes on in the next life
			again.ledger.Close(fresh && ctx.Err() == nil)
		})
	}
	if err != nil {
		return control.RunInfo{}, err
	}
	o.Log.Info("run resumed", "run", m.Run, "title", m.Title, "results", len(again.stored.Parts), "too_many",
		again.stored.Beyond)
	return o.reporter.describe(m.Run), nil
}
