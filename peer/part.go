package peer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// part is what this peer does, or has done, in a run. The conductor's mutex guards what changes; session and share do
// not, once set, but the session is let go of some time after the end.
type part struct {
	manifest *runs.Manifest // its head; never changed
	keeper   *keeper        // of its checkpoint; nil: there is none
	session  *session.Session
	life     uint64 // tells this session from others of the same run
	share    *share

	load  loadTeller
	loads map[peer.ID]*load // what the others that take part have told
	most  int               // peers that took part at one time

	master      peer.ID // who was last heard to hold the root job
	masterHeard time.Time
	began       time.Time

	reached float64          // share of the tree that was done when it was last looked at
	final   *report.RunStats // of this peer's part, once it has ended
	ended   time.Time
}

// resumption is what is known of an own run that is about to go on.
type resumption struct {
	keeper *keeper
	stored stored
}

// start makes the session of a run. The mutex is held.
func (t *conductor) start(o runs.Start) {
	p, id := t.p, o.Manifest.Run
	m, err := statement.OpenManifest(o.Manifest.Sealed)
	r := &part{manifest: headOf(o.Manifest), began: t.now(), most: 1}
	if old := t.parts[id]; old != nil { // it was suspended
		r.loads, r.most = old.loads, old.most
	}
	again := t.resumed[id]
	delete(t.resumed, id)
	var restored []steal.Partial
	if again != nil {
		r.keeper, restored = again.keeper, again.stored.parts
	}
	if d := p.deaths.of(id); err == nil && d.quarantined() {
		err = errors.New(d.text(id))
	}
	if err == nil {
		err = t.begin(r, m, o.Fresh, restored)
	}
	if err != nil {
		p.spawn(func(context.Context) { r.keeper.close(false) })
		t.orders = append(t.orders, t.core.NotStarted(t.now(), id, err.Error())...)
		return
	}
	t.parts[id] = r
	p.log.Info("taking part", "run", id, "app", m.App, "title", m.Title, "owner", m.Owner)
	if again != nil && again.stored.answer != nil {
		p.spawn(func(context.Context) { t.rootEnded(r.manifest, again.stored.answer) })
	}
}

func headOf(m *runs.Manifest) *runs.Manifest {
	head := *m
	head.Sealed = nil
	return &head
}

// begin makes the session itself.
func (t *conductor) begin(r *part, m *statement.SignedManifest, fresh bool, restored []steal.Partial) error {
	p := t.p
	policy, err := policy.ByName(m.Policy, steal.PeerID(m.Owner.String()))
	if err != nil {
		return err
	}
	of, err := plan(m)
	if err != nil {
		return err
	}
	of.Fresh, of.Restored = fresh, restored
	t.keep(r, m)
	engine, err := p.newEngine(m, compute.Config{Run: m.Run, Self: string(p.self), Workers: p.cfg.Workers,
		Idle: !p.cfg.FullPriority, Naive: of.Recovery == steal.Naive})
	if err != nil {
		return err
	}
	r.session, err = session.New(session.Config{
		Run: of, Self: steal.Address{Peer: p.self, Inc: p.nextLife()}, Core: p.cfg.Steal, Policy: policy,
		Members: p.membersOf(r.manifest), Engine: engine, Send: p.send, Tell: p.tellNews, Store: r.store(),
		Answer: func(outcome []byte) { p.spawn(func(context.Context) { t.rootEnded(r.manifest, outcome) }) },
		Died:   func(why error) { p.spawn(func(context.Context) { t.engineDied(r, why) }) },
		Log:    p.log.With("run", m.Run.String()),
	})
	if err != nil {
		return err
	}
	most := p.cfg.Workers
	if m.MaxCores > 0 {
		most = min(most, m.MaxCores)
	}
	s := r.session
	r.life = uint64(s.Started().UnixNano())
	t.live.Store(m.Run, s)
	r.share = &share{most: most, dry: func() bool { return dry(s) }, set: s.SetCores}
	p.arbiter.join(r.share)
	return nil
}

// newEngine starts what runs the jobs of a run: a process of their own, if there is a command for it.
func (p *Peer) newEngine(m *statement.SignedManifest, cfg compute.Config) (port.Live, error) {
	if len(p.cfg.Compute) == 0 {
		return compute.New(cfg)
	}
	process := child.Config{Command: p.cfg.Compute, Compute: cfg, Memory: p.cfg.Memory}
	if m.Entry == module.Func {
		var err error
		if process.Module, err = p.apps.modules.use(m); err != nil {
			return nil, err
		}
	}
	return child.Start(process)
}

// plan is what package steal is to know of a run.
func plan(m *statement.SignedManifest) (steal.Run, error) {
	root, err := compute.RootOf(m.Entry, m.Arg)
	if err != nil {
		return steal.Run{}, err
	}
	recovery := steal.Salvage
	if m.Recovery != "" {
		if recovery, err = steal.ParseRecovery(m.Recovery); err != nil {
			return steal.Run{}, err
		}
	}
	return steal.Run{ID: m.Run, Root: root, Deputies: ranks(m), Recovery: recovery}, nil
}

// stop ends this peer's part in a run. The mutex is held; the session ends by itself afterwards.
func (t *conductor) stop(o runs.Stop) {
	r, p := t.parts[o.Run], t.p
	if r == nil || r.final != nil {
		return
	}
	r.look()
	s, final := r.session, r.stats()
	t.live.Delete(o.Run)
	p.arbiter.leave(r.share)
	r.final, r.ended, t.spent = &final, t.now(), true
	p.past.add(&final)
	if r.manifest.Owner != peerName(p.host.ID()) {
		p.publishLoad(&load{Run: o.Run, Stats: final})
	}
	p.spawn(func(context.Context) {
		s.Cancel()
		r.keeper.close(o.Discard)
		// there may be one of an earlier life, from before checkpoints were switched off
		if r.keeper == nil && o.Discard {
			p.checkpoints.remove(o.Run)
		}
		s.Close()
		p.apps.modules.unuse(r.manifest)
	})
	p.log.Info("run ended", "run", o.Run, "state", string(o.State), "why", cmp.Or(o.Why, "its root job has ended"))
}

// maxPastSessions is how many sessions of runs that have ended are kept for those who watch them later: one may hold
// more than a megabyte.
const maxPastSessions = 2 * maxPastRuns

// releaseSessions lets go of older ones. The mutex is held.
func (t *conductor) releaseSessions() {
	var past []*part
	for _, r := range t.parts {
		if r.final != nil && r.session != nil {
			past = append(past, r)
		}
	}
	slices.SortFunc(past, func(a, b *part) int { return a.ended.Compare(b.ended) })
	for _, r := range past[:max(0, len(past)-maxPastSessions)] {
		r.session, r.share, r.keeper = nil, nil, nil
	}
}

// store is the run's checkpoint for its session; nil if there is none.
func (r *part) store() session.Store {
	if r.keeper == nil {
		return nil
	}
	return r.keeper
}

// stats are the figures of this peer's part in the run so far.
func (r *part) stats() report.RunStats {
	switch {
	case r == nil:
		return report.RunStats{}
	case r.final != nil:
		return *r.final
	}
	return statsOf(r.session.Figures(), r.session.Stats())
}

// look notes how far the run is, if its root runs here.
func (r *part) look() {
	if r.session.Stats().Master {
		r.reached = r.session.Figures().Progress
	}
}

// dry says whether the run has no work on this peer at the moment.
func dry(s *session.Session) bool {
	st := s.Stats()
	return st.Held == 0 && st.Given == 0 && st.Load.Queued == 0 && st.Load.Idle == st.Load.Workers
}

// keep begins to keep what finishes of a run, if that has not begun yet, and gives it what was kept in
// earlier lives. The mutex is held.
func (t *conductor) keep(r *part, m *statement.SignedManifest) {
	p := t.p
	if p.checkpoints.every <= 0 || r.keeper != nil {
		return
	}
	info, _ := t.core.Run(m.Run)
	k, args := p.checkpoints.keeper(m.Run), info.Args
	r.keeper = k
	p.spawn(func(context.Context) {
		l, err := k.open(m, args)
		if err != nil {
			if !errors.Is(err, checkpoint.ErrClosed) {
				p.log.Warn("what is computed of a run is not kept on the disk", "run", m.Run, "error", err)
			}
			return
		}
		s := p.checkpoints.contents(l.Records())
		if s.answer != nil {
			t.rootEnded(r.manifest, s.answer)
			return
		}
		if session := t.sessionOf(m.Run); session != nil && len(s.parts) > 0 {
			p.log.Info("results of an earlier life are used", "run", m.Run, "results", len(s.parts), "too_many",
				s.beyond)
			session.Restore(s.parts)
		}
	})
}
