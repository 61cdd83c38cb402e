package peer

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// A beginning says how a peer begins to take part in a run.
type beginning struct {
	fresh    bool            // it owns the run and starts the root at once
	restored []steal.Partial // what a checkpoint has of it
}

// plan is what package steal is to know of a run.
func plan(m *statement.SignedManifest, b beginning) (steal.Run, error) {
	root, err := session.RootOf(m.Entry, m.Arg)
	if err != nil {
		return steal.Run{}, err
	}
	recovery := steal.Salvage
	if m.Recovery != "" {
		if recovery, err = steal.ParseRecovery(m.Recovery); err != nil {
			return steal.Run{}, err
		}
	}
	return steal.Run{ID: m.Run, Root: root, Deputies: ranks(m), Recovery: recovery, Fresh: b.fresh,
		Restored: b.restored}, nil
}

// start makes the session of a run. The mutex is held.
func (t *runs) start(r *run, m *statement.SignedManifest, b beginning) error {
	p := t.p
	policy, err := steal.PolicyByName(m.Policy, steal.PeerID(m.Owner.String()))
	var of steal.Run
	if err == nil {
		of, err = plan(m, b)
	}
	if err == nil {
		t.keep(r, m)
		r.session, err = session.New(session.Config{
			Run: of, Self: steal.Address{Peer: p.self, Inc: p.nextLife()}, Core: p.cfg.Steal, Policy: policy,
			Members: p.membersOf(&m.Manifest), Workers: p.cfg.Workers, Idle: !p.cfg.FullPriority, Send: p.send,
			Tell: p.tellNews, Store: r.store(),
			Answer: func(outcome []byte) { p.spawn(func(ctx context.Context) { t.finish(ctx, r, outcome) }) },
			Log:    p.log.With("run", m.Run.String()),
		})
	}
	if err != nil {
		r.state, r.why, r.ended = control.RunRefused, err.Error(), time.Now()
		close(r.over)
		p.spawn(func(context.Context) { r.keeper.close(p, false) })
		return fmt.Errorf("run %s cannot be taken up: %w", m.Run, err)
	}
	most := p.cfg.Workers
	if m.MaxCores > 0 {
		most = min(most, m.MaxCores)
	}
	s := r.session
	t.live.Store(m.Run, s)
	r.share = &share{most: most, dry: func() bool { return dry(s) }, set: s.SetCores}
	p.arbiter.join(r.share)
	p.log.Info("taking part", "run", r.manifest.Run, "app", m.App, "title", m.Title, "owner", m.Owner)
	return nil
}

// stop ends a run here. The mutex is held; the session ends by itself afterwards.
func (t *runs) stop(r *run, state control.RunState, why string) {
	if r.state.Ended() {
		return
	}
	if r.session != nil {
		r.look()
	}
	r.state, r.why, r.ended = state, why, time.Now()
	r.bytes = nil // nobody asks for them any more
	if s := r.session; s != nil {
		t.live.Delete(r.manifest.Run)
		t.p.arbiter.leave(r.share)
		final := r.stats()
		r.final = &final
		t.p.past.add(&final)
		if !r.mine {
			t.p.publishLoad(&load{Run: r.manifest.Run, Stats: final})
		}
		over := !r.mine || state != control.RunSuspended
		t.p.spawn(func(context.Context) {
			s.Cancel()
			r.keeper.close(t.p, over)
			// there may be one of an earlier life, from before checkpoints were switched off
			if r.keeper == nil && over {
				t.p.discard(r.manifest.Run)
			}
			s.Close()
		})
	}
	close(r.over)
	t.p.log.Info("run ended", "run", r.manifest.Run, "state", string(state), "why",
		cmp.Or(why, "its root job has ended"))
}

// store is the run's checkpoint for its session; nil if there is none.
func (r *run) store() session.Store {
	if r.keeper == nil {
		return nil
	}
	return r.keeper
}
