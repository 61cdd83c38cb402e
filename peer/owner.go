package peer

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/presence"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// runLife is how long a run may take before peers drop it.
const runLife = 90 * 24 * time.Hour

// An owner is what the user of this peer does with runs of his own.
type owner struct {
	*base.Base
	key    crypto.PrivKey
	policy string // of new runs
	host   interface {
		SwarmName() string
		Proof() []byte
	}
	apps        *catalog
	swarm       *swarm
	runs        *conductor
	files       *archive
	checkpoints *ledger.Store
	deaths      *infirmary
	presence    *presence.Presence
	reporter    *reporter
}

// submit starts a run.
func (o *owner) submit(ctx context.Context, sub control.Submission) (control.RunInfo, error) {
	if why := o.apps.outdated(sub.App, sub.Sources); why != "" {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
	}
	now := o.Now()
	m := &statement.Manifest{
		Swarm: o.host.SwarmName(), App: sub.App, Version: o.apps.built[sub.App].Version, Entry: sub.Function,
		Arg:   sub.Argument,
		Nonce: statement.NewNonce(), Policy: o.policy, Created: now.Unix(), Expires: now.Add(runLife).Unix(),
		Title: plain.Name(plain.Clip(sub.Title)), Recovery: sub.Recovery, MaxCores: sub.MaxCores, Eager: sub.Eager,
		Proof: o.host.Proof(),
	}
	var err error
	var why string
	if m.Executables, why = o.apps.needs(o.apps.built[sub.App]); why != "" {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
	}
	if m.Verify, err = parseVerify(sub.Verify); err != nil {
		return control.RunInfo{}, err
	}
	if m.Adapt, err = parseAdapt(&sub); err != nil {
		return control.RunInfo{}, err
	}
	m.MinPeers, m.MaxPeers = sub.MinPeers, sub.MaxPeers
	if m.Constants, err = o.apps.constants.Named(sub.Constants); err != nil {
		return control.RunInfo{}, err
	}
	if sub.Module != "" {
		h, ok := wire.ParseHash(sub.Module)
		if !ok || sub.Function != module.Func {
			return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%q is no module: want its hash",
				plain.Clip(sub.Module))
		}
		m.Version = h
		if why := o.apps.modules.unlike(h); why != "" && m.Verify != "" {
			return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
		}
	}
	if m.Verify == "" {
		m.Deputies = o.swarm.deputies(m)
	}
	if why := comparable(m); why != "" {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
	}
	signed, err := m.Sign(o.key)
	if err == nil {
		if why := o.apps.unfit(signed); why != "" {
			return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
		}
		_, err = plan(signed, signed.Owner)
	}
	if err == nil {
		_, err = compute.ArgumentOf(m.Entry, m.Arg) // of any size: it is the user's own
	}
	if err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	}
	info, err := o.begin(ctx, signed, sub.Args)
	info.Help = o.swarm.helpers(manifestOf(signed))
	return info, err
}

// begin submits a run.
func (o *owner) begin(ctx context.Context, m *statement.SignedManifest, args []string) (control.RunInfo, error) {
	if err := o.staying(); err != nil {
		return control.RunInfo{}, err
	}
	o.apps.constants.Keep(m)
	// It begins when it is written down, whether or not somebody still waits: with all that it is to have.
	ctx = context.WithoutCancel(ctx)
	no, err := o.runs.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
		return c.Submit(now, at, manifestOf(m), args)
	})
	if err != nil || no != nil {
		o.apps.constants.Forget(m.Run)
		return control.RunInfo{}, refused(no, err)
	}
	return o.reporter.describe(m.Run), nil
}

// staying is why nothing new is begun.
func (o *owner) staying() error {
	if o.presence.Leaving() {
		return control.Errorf(control.ErrRefused, "the peer is leaving the swarm: start it again")
	}
	return nil
}

// refused puts why a command was not carried out into the words of package control.
func refused(no *runs.Refusal, err error) error {
	if err != nil || no == nil {
		return err
	}
	kind := control.ErrRefused
	switch no.Kind {
	case runs.NotFound:
		kind = control.ErrNotFound
	case runs.Unavailable:
		kind = control.ErrUnavailable
	}
	return control.Errorf(kind, "%s", no.Text)
}

// cancel ends an own run everywhere.
func (o *owner) cancel(ctx context.Context, name string) error {
	id, err := runNamed(name)
	if err != nil {
		return err
	}
	return refused(o.runs.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
		return c.Cancel(now, at, id)
	}))
}

// suspend ends a run everywhere until it is resumed.
func (o *owner) suspend(ctx context.Context, name string) error {
	info, r, err := o.ownRun(name)
	if err != nil {
		return err
	}
	id := info.Manifest.Run
	no, err := o.runs.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
		return c.Suspend(now, at, id)
	})
	if err != nil || no != nil {
		return refused(no, err)
	}
	select {
	case <-r.ledger.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runNamed reads a run's name.
func runNamed(name string) (job.RunID, error) {
	id, ok := job.ParseRunID(name)
	if !ok {
		return id, control.Errorf(control.ErrBadInput,
			"%q is no run: want the 32 hexadecimal digits that 'satin-peer runs' shows", plain.Clip(name))
	}
	return id, nil
}

// ownRun finds a run of this peer's own.
func (o *owner) ownRun(name string) (runs.Info, *part, error) {
	id, err := runNamed(name)
	if err != nil {
		return runs.Info{}, nil, err
	}
	info, r, ok := o.runs.info(id)
	switch {
	case !ok:
		return info, nil, control.Errorf(control.ErrNotFound,
			"there is no run %s here; 'satin-peer runs' lists those there are", name)
	case !info.Mine:
		return info, nil, control.Errorf(control.ErrNotFound, "run %s belongs to %s: only its owner can do that", name,
			info.Manifest.Owner)
	}
	return info, r, nil
}

// wait waits for the end of an own run.
func (o *owner) wait(ctx context.Context, name string, progress func(control.Progress)) (control.Outcome, error) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		info, r, err := o.ownRun(name)
		if err != nil {
			return control.Outcome{}, err
		}
		over := o.runs.ending(info.Manifest.Run)
		if over == nil {
			info, r, _ = o.runs.info(info.Manifest.Run)
			o.hearOut(ctx, r)
			return o.reporter.outcomeOfRun(&info, r), nil
		}
		if progress != nil {
			progress(o.reporter.progress(&info, r))
		}
		select {
		case <-ctx.Done():
			return control.Outcome{}, context.Cause(ctx)
		case <-o.presence.Gone():
			return control.Outcome{}, control.Errorf(control.ErrUnavailable,
				"this peer has left the swarm; the run goes on there if others take part, and here when the peer is "+
					"started again: satin-peer wait %s then prints the answer", name)
		case <-over:
		case <-tick.C:
		}
	}
}

// ending is closed when a run has ended; nil if it has.
func (t *conductor) ending(id job.RunID) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.core.Run(id); !ok || i.State.Ended() {
		return nil
	}
	ch := t.over[id]
	if ch == nil {
		ch = make(chan struct{})
		t.over[id] = ch
	}
	return ch
}

// progressEvery is how often Wait calls progress.
const progressEvery = 500 * time.Millisecond
