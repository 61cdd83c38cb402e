package peer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/pace"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/arbiter"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// part is what this peer does, or has done, in a run. The conductor's mutex guards what changes; session and cores do
// not, once set, but the session is let go of some time after the end.
type part struct {
	manifest *runs.Manifest // its head, and of one that is verified the whole: for accusations; never changed
	ledger   *ledger.Ledger // of its checkpoint; nil: there is none
	session  *session.Session
	input    uint64       // bytes of what the root's argument names
	roster   *runs.Roster // that the session was told by
	life     uint64       // tells this session from others of the same run
	cores    *arbiter.Allotment

	load  loadTeller
	loads map[peer.ID]*load // what the others that take part have told
	most  int               // peers that took part at one time

	began time.Time
	now   func() time.Time
	pace  pace.Meter
	gauge *gauge // while the root is here
	// yardstick is what tells how fast the peers of the run are, measures its identity; nil: nobody has named one.
	yardstick *yardstick
	measures  job.Identity
	counted   report.Span      // of it, see hours
	reached   float64          // share of the tree that was done when it was last looked at
	final     *report.RunStats // of this peer's part, once it has ended
	settled   bool             // nothing is added to them any more
	toldLast  bool             // the others have been told of them
	late      int              // workers that were in a leaf then, for long, so that they lack something
	proofs    driver.Proofs    // what was compared, by then
	restored  uint64           // results that it began with
	oaths     oaths            // on whose word that was believed
	earlier   []driver.Earned  // before it was suspended
	ended     time.Time
}

// resumption is what is known of an own run that is about to go on.
type resumption struct {
	ledger *ledger.Ledger
	stored ledger.Contents
}

// start makes the session of a run. The mutex is held.
func (t *conductor) start(o runs.Start) {
	if t.Ctx.Err() != nil {
		return // nobody would end it: this peer is being closed
	}
	id := o.Manifest.Run
	m, err := statement.OpenManifest(o.Manifest.Sealed)
	r := &part{manifest: headOf(o.Manifest), began: t.Now(), now: t.Now, most: 1}
	if o.Manifest.Verify != "" && len(o.Manifest.Sealed) <= maxAccusation {
		r.manifest.Sealed = o.Manifest.Sealed
	}
	if old := t.parts[id]; old != nil { // it was suspended
		r.loads, r.most, r.earlier = old.loads, old.most, old.earned()
	}
	again := t.resumed[id]
	delete(t.resumed, id)
	var restored []steal.Partial
	if again != nil {
		r.ledger, restored = again.ledger, again.stored.Parts
	}
	if d := t.deaths.of(id); err == nil && d.Quarantined() {
		err = errors.New(d.Text(id))
	}
	if err == nil {
		err = t.begin(r, m, o.Fresh, restored)
	}
	if err != nil {
		waits := ""
		if m != nil {
			waits = t.apps.unfit(m) // for its module, whose file was damaged: it is fetched
		}
		why := cmp.Or(waits, err.Error())
		t.Log.Warn("no part is taken in a run", "run", id, "app", o.Manifest.App, "why", why)
		t.Spawn(func(context.Context) {
			if r.ledger.Close(false); waits == "" {
				t.apps.modules.unuse(r.manifest)
			}
		})
		t.orders = append(t.orders, t.core.NotStarted(t.Now(), id, why)...)
		return
	}
	t.parts[id] = r
	t.Log.Info("taking part", "run", id, "app", m.App, "title", m.Title, "owner", m.Owner)
	if again != nil && again.stored.Answer != nil {
		t.Spawn(func(context.Context) { t.rootEnded(r.manifest, again.stored.Answer, again.stored.Of) })
	}
}

func headOf(m *runs.Manifest) *runs.Manifest {
	head := *m
	head.Sealed = nil
	return &head
}

// begin makes the session itself.
func (t *conductor) begin(r *part, m *statement.SignedManifest, fresh bool, restored []steal.Partial) error {
	of, err := plan(m, t.host.ID())
	if err != nil {
		return err
	}
	of.Fresh, of.Restored = fresh, restored
	recording := !of.Hoard && t.checkpoints.Within > 0 && r.ledger == nil
	if recording {
		r.ledger = t.checkpoints.Ledger(m.Run)
	}
	proving := t.jury.proving(r.manifest)
	if proving != nil {
		proving.Agreed = r.oaths.note
	}
	s, err := t.crew.session(m, of, t.swarm.takingPart(r.manifest, t.core), session.Config{
		Store: r.store(), Proving: proving,
		Answer: func(outcome []byte, of verify.Authors) {
			t.Spawn(func(context.Context) { t.rootEnded(r.manifest, outcome, t.crew.vouch.Keys(m.Run, &of)) })
		},
		Died: func(d session.Death) { t.Spawn(func(context.Context) { t.engineDied(r, d) }) },
	})
	if err != nil {
		return err
	}
	r.session, r.life = s, uint64(s.Started().UnixNano())
	if recording {
		t.record(r, m)
	}
	s.Shun(t.crew.vouch.Outcasts())
	t.sessions.live.Store(m.Run, s)
	for i := range m.Constants {
		r.input += m.Constants[i].Size
	}
	t.apps.constants.Lend(m, s)
	r.cores = t.crew.allot(s, m.Owner.String(), m.MaxCores)
	return nil
}

// plan is what package steal is to know of a run.
func plan(m *statement.SignedManifest, self peer.ID) (steal.Run, error) {
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
	run := steal.Run{ID: m.Run, Root: root, Deputies: ranks(m), Recovery: recovery}
	switch {
	case m.Verify == "":
	case m.Owner == self:
		run.Proving = true
	default: // what it computes is compared with what others do: it has nothing of them, and gives them nothing
		run.Root, run.Recovery, run.Hoard = steal.Job{}, steal.Naive, true
	}
	return run, nil
}

// stop ends this peer's part in a run. The mutex is held; the session ends by itself afterwards.
func (t *conductor) stop(o runs.Stop) {
	r := t.parts[o.Run]
	if r == nil || r.final != nil {
		return
	}
	s, final := r.session, r.lately()
	if !o.HandOver {
		t.sessions.live.Delete(o.Run)
	}
	t.crew.arbiter.Leave(r.cores)
	t.crew.memory.leave(o.Run)
	t.crew.commitments.forget(o.Run)
	last := s.Stats()
	r.final, r.ended, r.proofs, r.restored = &final, t.Now(), last.Proofs, last.Steal.PartialsRestored
	switch {
	case r.manifest.Owner != t.self && o.HandOver: // settled later: it may take a while
		r.tellLast(t, &final, 0)
	case r.manifest.Owner == t.self && o.State != runs.StateSuspended && !o.HandOver:
		t.jury.receipts.owe(r)
	}
	t.Spawn(func(ctx context.Context) {
		if o.HandOver {
			s.Leave(t.crew.cfg.LeavePatience) // it hears what others answer, until then
			t.sessions.live.CompareAndDelete(o.Run, s)
		} else {
			s.Cancel()
		}
		f := s.Last()
		r.settle(t, f, s.Stats())
		r.ledger.Close(o.Discard)
		if o.Discard { // there may be a checkpoint of an earlier life, from before they were switched off
			t.discard(o.Run)
		}
		for again := 0; f.Late > 0 && again < afterthoughts && ctx.Err() == nil; again++ {
			if f = s.Last(); f.Late == 0 {
				r.settle(t, f, s.Stats())
			}
		}
		s.Close()
		t.jury.records.save()
		t.apps.modules.unuse(r.manifest)
	})
	if o.HandOver {
		t.Log.Info("run left", "run", o.Run, "why", o.Why)
		return
	}
	t.Log.Info("run ended", "run", o.Run, "state", string(o.State), "why", cmp.Or(o.Why, "its root job has ended"))
}

// afterthoughts is how often the workers are asked again that have not told what they did last: some seconds in all, in
// which jobs that look at nothing go on.
const afterthoughts = 12

// settle takes down what there is of a part in the end, and has it told.
func (r *part) settle(t *conductor, f port.Figures, s session.Stats) {
	final := statsOf(f, s)
	t.mu.Lock()
	defer t.mu.Unlock()
	r.late = f.Late
	r.conclude(t, &final)
	next := t.parts[r.manifest.Run] // another one if the run was resumed
	if r.manifest.Owner != t.self && (next == nil || next == r) {
		r.tellLast(t, &final, f.Late)
	}
}

// conclude takes the figures down that are a part's last ones, for now. The mutex is held.
func (r *part) conclude(t *conductor, final *report.RunStats) {
	more := *final
	if r.settled {
		more = final.Grown(*r.final)
	}
	r.final, r.settled = final, true
	t.work.add(&more)
	t.hours.count(r, r.manifest.Owner == t.self, *final, r.ended)
}

// tellLast tells the others what this peer did last in a run: it has no workers any more, of which late have not told
// what they did. No load is told afterwards. The mutex is held.
func (r *part) tellLast(t *conductor, final *report.RunStats, late int) {
	r.toldLast = true
	t.voice.tell(gossip.KindLoad, encode(&load{Run: r.manifest.Run, Stats: *final, Late: late}))
}

// discard removes what is on the disk of a run that is over: its checkpoint, and how often it has killed, but not if it
// is suspended and may go on; unless it has been taken up again meanwhile.
func (t *conductor) discard(run job.RunID) {
	var k *ledger.Ledger
	t.mu.Lock()
	r := t.parts[run]
	if r != nil {
		k = r.ledger
	}
	goesOn := r != nil && r.final == nil
	info, _ := t.core.Run(run)
	t.mu.Unlock()
	if goesOn {
		return
	}
	if k != nil { // it may be about to be closed
		k.Close(true)
		<-k.Done()
	}
	t.apps.constants.Forget(run)
	t.checkpoints.Remove(run)
	if info.State == runs.StateSuspended {
		return
	}
	if err := t.deaths.forget(run); err != nil {
		t.Log.Warn("the deaths of a run that is over cannot be removed", "run", run, "error", err)
	}
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
		r.session, r.cores = nil, nil // its end may still have to close the ledger
	}
}

// store is the run's checkpoint for its session; nil if there is none.
func (r *part) store() session.Store {
	if r.ledger == nil {
		return nil
	}
	return r.ledger
}

// jobsHeld is how many jobs of some runs are here that others wait for.
func jobsHeld(parts []*part) (n int) {
	for _, r := range parts {
		n += r.session.Stats().Holding
	}
	return n
}

// stats are the figures of this peer's part in the run so far.
func (r *part) stats() report.RunStats { return r.statsBy((*session.Session).Figures) }

// lately are stats for whoever looks at them now and then.
func (r *part) lately() report.RunStats { return r.statsBy((*session.Session).Lately) }

func (r *part) statsBy(count func(*session.Session) port.Figures) report.RunStats {
	switch {
	case r == nil:
		return report.RunStats{}
	case r.final != nil:
		return *r.final
	}
	f, s := count(r.session), r.session.Stats()
	r.note(f, s, r.now())
	return statsOf(f, s)
}

// note takes in how far the run is: from the root if it runs here, else from whoever holds it. The estimate may fall
// when a frame turns out to have more children, or when work is lost; what is told does not. The mutex is held.
func (r *part) note(f port.Figures, s session.Stats, now time.Time) {
	if s.Master {
		r.reached = max(r.reached, f.Progress)
	} else if l := r.loads[r.master(&s)]; l != nil {
		r.reached = max(r.reached, float64(l.Share)/wholeShare)
	}
	r.pace.Add(now.Sub(r.began), r.reached)
}

// master is who holds the root, by what the core of package steal believes and not by what anybody says; "" if that is
// not known. The owner of a run that is verified gives its root to nobody.
func (r *part) master(s *session.Stats) peer.ID {
	name := string(s.MasterID)
	if r.manifest.Verify != "" {
		name = string(r.manifest.Owner)
	}
	id, _ := peer.Decode(name)
	return id
}

// left is how long the run will still take; nil while nobody knows. The mutex is held.
func (r *part) left(now time.Time) *report.Left {
	if r == nil || r.final != nil {
		return nil
	}
	left, known := r.pace.Left(now.Sub(r.began))
	if !known {
		return nil
	}
	return &report.Left{Least: left.Least.Seconds(), Most: left.Most.Seconds()}
}

// record begins to write down what finishes of a run, and gives its session what was kept in earlier lives. The mutex
// is held.
func (t *conductor) record(r *part, m *statement.SignedManifest) {
	info, _ := t.core.Run(m.Run)
	k, s, args := r.ledger, r.session, info.Args
	t.Spawn(func(context.Context) {
		l, err := k.Open(m, args)
		if err != nil {
			if !errors.Is(err, checkpoint.ErrClosed) {
				t.Log.Warn("what is computed of a run is not kept on the disk", "run", m.Run, "error", err)
			}
			return
		}
		kept := t.checkpoints.Read(m, l.Records())
		k.Found(&kept)
		if kept.Answer != nil {
			t.rootEnded(r.manifest, kept.Answer, kept.Of)
			return
		}
		if len(kept.Parts) > 0 {
			t.Log.Info("results of an earlier life are used", "run", m.Run, "results", len(kept.Parts), "too_many",
				kept.Beyond)
			s.Restore(kept.Parts)
		}
	})
}

// trace finds the session of a run in progress, or of one that has ended, and what tells its lives apart.
func (t *conductor) trace(id job.RunID) (*session.Session, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.parts[id]
	if r == nil || r.session == nil {
		return nil, 0
	}
	return r.session, r.life
}

// lives lists this peer's parts in all runs.
func (t *conductor) lives() (list []life) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, r := range t.parts {
		list = append(list, life{id, r.final != nil, r.ended, r.session != nil})
	}
	return list
}
