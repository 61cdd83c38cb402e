package peer

import (
	"context"
	"io"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

// What the commands ask of a peer; control.Daemon says what each does.

var _ control.Daemon = (*Peer)(nil)

// Status is the peer at one glance.
func (p *Peer) Status(context.Context) (control.Status, error) { return p.reporter.status(), nil }

// Peers lists the other members.
func (p *Peer) Peers(context.Context) ([]control.PeerInfo, error) { return p.reporter.others(), nil }

// Runs lists the runs.
func (p *Peer) Runs(context.Context) ([]control.RunInfo, error) { return p.reporter.list(), nil }

// Submit starts a run that this peer owns.
func (p *Peer) Submit(ctx context.Context, s control.Submission) (control.RunInfo, error) {
	return p.owner.submit(ctx, s)
}

// Wait waits for the end of an own run.
func (p *Peer) Wait(ctx context.Context, run string, progress func(control.Progress)) (control.Outcome, error) {
	return p.owner.wait(ctx, run, progress)
}

// Cancel ends an own run everywhere.
func (p *Peer) Cancel(ctx context.Context, run string) error { return p.owner.cancel(ctx, run) }

// Suspend ends an own run everywhere until it is resumed.
func (p *Peer) Suspend(ctx context.Context, run string) error { return p.owner.suspend(ctx, run) }

// ResumeRun takes a run up again.
func (p *Peer) ResumeRun(ctx context.Context, r control.Resumption) (control.RunInfo, error) {
	return p.owner.resume(ctx, r)
}

// Pause stops computing.
func (p *Peer) Pause(_ context.Context, d time.Duration) error { return p.caretaker.pause(d) }

// Finish stops computing when the jobs that are here are done.
func (p *Peer) Finish(context.Context) error { return p.caretaker.presence.Finish() }

// Resume ends a pause, or takes Finish back.
func (p *Peer) Resume(context.Context) error { return p.caretaker.presence.Pause(false, time.Time{}) }

// Invite makes an invitation.
func (p *Peer) Invite(ctx context.Context, i control.Invitation) (control.Invited, error) {
	return p.door.invite(ctx, i)
}

// Revoke puts a peer out.
func (p *Peer) Revoke(_ context.Context, peer string) error { return p.door.revoke(peer) }

// Refuse takes no part in a run, or in an owner's, or does again.
func (p *Peer) Refuse(ctx context.Context, r control.Refused) error { return p.owner.refuse(ctx, r) }

// Join connects to a member.
func (p *Peer) Join(ctx context.Context, address string) (control.PeerInfo, error) {
	return p.door.join(ctx, address)
}

// Doctor looks at everything that may keep a peer from being useful.
func (p *Peer) Doctor(context.Context) ([]control.Finding, error) { return p.doctor.examine(), nil }

// Share makes a link for visitors.
func (p *Peer) Share(_ context.Context, s control.Sharing) (control.Shared, error) {
	return p.sharing.share(s)
}

// AddConstant takes in a value that the argument of a run to come names.
func (p *Peer) AddConstant(ctx context.Context, c control.Constant, from io.Reader) (control.ConstantInfo, error) {
	return p.constants.Add(ctx, c, from)
}

// AddModule takes in a module that its user wants to run.
func (p *Peer) AddModule(_ context.Context, f control.ModuleFile) (control.ModuleInfo, error) {
	return p.modules.add(f)
}

// Modules lists what is published, and what is here.
func (p *Peer) Modules(context.Context) ([]control.ModuleInfo, error) {
	return p.publications.list(), nil
}

// Module gives the bytes of one.
func (p *Peer) Module(ctx context.Context, name string) (control.ModuleFile, error) {
	return p.publications.find(ctx, name)
}

// Publish stands for a module under a name.
func (p *Peer) Publish(_ context.Context, b control.Publication) (control.ModuleInfo, error) {
	return p.publications.publish(b)
}

// Deposit has bytes kept by other members.
func (p *Peer) Deposit(ctx context.Context, d control.Deposit) (control.DepositInfo, error) {
	if d.Size > 0 && len(d.Bytes) == 0 {
		return p.depot.Claim(ctx, d)
	}
	return p.depot.Deposit(d)
}

// Deposited gives the bytes of a deposit.
func (p *Peer) Deposited(ctx context.Context, hash string) (control.Deposit, error) {
	return p.depot.Get(ctx, hash)
}

// Watch gives what the members, and this peer, have reported of the segments of runs since the last call, and has them
// asked for the next few seconds. It does not wait for them.
func (p *Peer) Watch(context.Context) ([]report.Part, error) { return p.watching.take(), nil }
