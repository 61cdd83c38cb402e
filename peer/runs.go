package peer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// Bounds of the table of runs, and periods of its upkeep.
const (
	// maxActive bounds the runs that a peer takes part in or has refused, maxPerOwner those of one owner among them. More
	// are not looked at.
	maxActive   = 64
	maxPerOwner = 16
	// maxManifests bounds the bytes of the manifests of runs in progress.
	maxManifests = 256 << 20
	// maxEnded is how many ended runs are remembered, maxGraves how many tombstones.
	maxEnded  = 64
	maxGraves = 4096
	// maxFetches bounds the manifests that are being fetched, maxFetchesFrom those from one peer, who may be slow on purpose.
	maxFetches     = 16
	maxFetchesFrom = 2
	// announceEvery is how often an owner announces its runs again; askEvery how often a participant asks the owner after
	// one, and ownerPatience how long an owner may not be reached before its run is given up.
	announceEvery = 10 * time.Second
	askEvery      = 10 * time.Second
	ownerPatience = 60 * time.Second
)

// runs is the table of runs.
type runs struct {
	p  *Peer
	mu sync.Mutex

	table    map[satin.RunID]*run
	fetching map[satin.RunID]peer.ID          // from whom
	waiting  map[satin.RunID][]*steal.Message // requests that came before the runs that are being fetched
	graves   map[satin.RunID]grave

	told [][]byte // the newest tombstones of own runs, for those whom gossip did not reach

	// live holds the sessions of the runs in progress, for those who must not wait for the mutex: messages.
	live sync.Map // satin.RunID -> *session.Session
}

// grave is a tombstone.
type grave struct {
	bytes  []byte
	author peer.ID
	reason statement.Reason
	until  time.Time
}

func newRuns(p *Peer) *runs {
	return &runs{p: p, table: map[satin.RunID]*run{}, fetching: map[satin.RunID]peer.ID{}, graves: map[satin.RunID]grave{}, waiting: map[satin.RunID][]*steal.Message{}}
}

// heard says that somebody spoke of a run. If it is new, its manifest is fetched from there.
func (t *runs) heard(id satin.RunID, from peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.table[id]
	_, buried := t.graves[id]
	_, fetched := t.fetching[id]
	if (r != nil && !r.lost) || buried || fetched || len(t.fetching) >= maxFetches || from == t.p.host.ID() {
		return
	}
	same := 0
	for _, other := range t.fetching {
		if other == from {
			same++
		}
	}
	if same >= maxFetchesFrom {
		return // it will be announced again
	}
	t.fetching[id] = from
	t.p.spawn(func(ctx context.Context) {
		defer t.fetched(id)
		m, err := t.p.fetchManifest(ctx, id, from)
		if err == nil && m != nil {
			err = t.adopt(m)
		}
		if err != nil {
			t.p.log.Debug("run not taken up", "run", id, "error", err)
		}
	})
}

// adopt takes up another peer's run.
func (t *runs) adopt(m *statement.SignedManifest) error {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if g, ok := t.graves[m.Run]; ok {
		if g.author == m.Owner {
			return nil // it is over
		}
		delete(t.graves, m.Run) // somebody else's word
	}
	if old := t.table[m.Run]; old != nil && !old.lost {
		return nil
	}
	if m.Owner == t.p.host.ID() {
		t.disown(m)
		return nil
	}
	if now.Unix() >= m.Expires {
		return fmt.Errorf("run %s expired at %s", m.Run, time.Unix(m.Expires, 0).UTC().Format(time.RFC3339))
	}
	active, owners, bytes := 0, 0, len(m.Bytes)
	for _, r := range t.table {
		if !r.state.Ended() || r.state == control.RunRefused {
			active++
			bytes += len(r.bytes)
			if r.manifest.Owner == m.Owner {
				owners++
			}
		}
	}
	if active >= maxActive || owners >= maxPerOwner {
		return fmt.Errorf("run %s: %d runs are known, %d of them of its owner; at most %d and %d are looked at", m.Run, active, owners, maxActive, maxPerOwner)
	}
	if bytes > maxManifests {
		return fmt.Errorf("run %s: its manifest and those of the runs in progress have %d bytes, at most %d are kept", m.Run, bytes, maxManifests)
	}
	r := &run{manifest: m.Head(), bytes: m.Bytes, began: now, asked: now, heardOwner: now, state: control.RunRunning, over: make(chan struct{})}
	t.table[m.Run] = r
	if r.why = t.p.unfit(&m.Manifest); r.why != "" {
		r.state, r.ended = control.RunRefused, now
		r.bytes = nil
		close(r.over)
		t.p.log.Warn("run refused", "run", m.Run, "app", m.App, "owner", m.Owner, "why", r.why)
		return nil
	}
	return t.start(r)
}

// start makes the session of a run. The mutex is held.
func (t *runs) start(r *run) error {
	p, m := t.p, &r.manifest.Manifest
	policy, err := steal.PolicyByName(m.Policy, steal.PeerID(r.manifest.Owner.String()))
	if err == nil {
		r.session, err = session.New(session.Config{
			Run: steal.Run{ID: r.manifest.Run, Recovery: steal.Naive}, Self: steal.Address{Peer: p.self, Inc: p.nextLife()}, Core: p.cfg.Steal, Policy: policy,
			Members: p.membersOf(m), Workers: p.cfg.Workers, Idle: !p.cfg.FullPriority, Send: p.send,
			Log: p.log.With("run", r.manifest.Run.String()),
		})
	}
	if err != nil {
		r.state, r.why, r.ended = control.RunRefused, err.Error(), time.Now()
		close(r.over)
		return fmt.Errorf("run %s cannot be taken up: %w", r.manifest.Run, err)
	}
	most := p.cfg.Workers
	if m.MaxCores > 0 {
		most = min(most, m.MaxCores)
	}
	s := r.session
	t.live.Store(r.manifest.Run, s)
	r.share = &share{most: most, dry: func() bool { return dry(s) }, set: s.SetCores}
	p.arbiter.join(r.share)
	p.log.Info("taking part", "run", r.manifest.Run, "app", m.App, "title", m.Title, "owner", r.manifest.Owner)
	return nil
}

// stop ends a run here. The mutex is held; the session ends by itself afterwards.
func (t *runs) stop(r *run, state control.RunState, why string) {
	if r.state.Ended() {
		return
	}
	if r.session != nil {
		r.reached = r.session.Pool().Progress()
	}
	r.state, r.why, r.ended = state, why, time.Now()
	r.bytes = nil // nobody asks for them any more
	if s := r.session; s != nil {
		t.live.Delete(r.manifest.Run)
		t.p.arbiter.leave(r.share)
		f := r.figures()
		r.final = &f
		t.p.past.add(&f)
		if !r.mine {
			t.p.publishLoad(&load{Run: r.manifest.Run, Figures: f})
		}
		t.p.spawn(func(context.Context) {
			s.Cancel()
			s.Close()
		})
	}
	close(r.over)
	t.p.log.Info("run ended", "run", r.manifest.Run, "state", string(state), "why", cmp.Or(why, "its root job has ended"))
}

// bury takes in a tombstone from anywhere.
func (t *runs) bury(b []byte) error {
	stone, author, err := statement.OpenTombstone(b)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.table[stone.Run]
	if r != nil && r.manifest.Owner != author {
		return fmt.Errorf("%s buries run %s of %s", author, stone.Run, r.manifest.Owner)
	}
	if _, ok := t.graves[stone.Run]; !ok && len(t.graves) < maxGraves {
		t.graves[stone.Run] = grave{b, author, stone.Reason, time.Unix(stone.Until, 0)}
	}
	if r != nil {
		state := control.RunDone
		if stone.Reason == statement.Cancelled {
			state = control.RunCancelled
		}
		t.stop(r, state, "its owner says that it is "+stone.Reason.String())
	}
	return nil
}

// tell answers a question after a run.
func (t *runs) tell(q runQuestion) *runAnswer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g, ok := t.graves[q.Run]; ok {
		return &runAnswer{Tombstone: g.bytes}
	}
	r := t.table[q.Run]
	if r == nil || r.lost || (r.mine && r.state.Ended()) {
		return &runAnswer{}
	}
	if q.Full && !r.state.Ended() {
		return &runAnswer{Manifest: r.bytes}
	}
	return &runAnswer{Known: true}
}

// active lists at most so many runs in progress.
func (t *runs) active(most int) (ids []satin.RunID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, r := range t.table {
		if !r.state.Ended() && len(ids) < most {
			ids = append(ids, id)
		}
	}
	return ids
}

// stones are the newest tombstones of own runs.
func (t *runs) stones() [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.told)
}

// sessionOf finds the session of a run in progress here; nil if there is none.
func (t *runs) sessionOf(id satin.RunID) *session.Session {
	if s, ok := t.live.Load(id); ok {
		return s.(*session.Session)
	}
	return nil
}

// inProgress lists the runs that this peer takes part in.
func (t *runs) inProgress() (list []*run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.table {
		if !r.state.Ended() {
			list = append(list, r)
		}
	}
	return list
}

// keepUp is done every second: own runs are announced again, others' owners asked after theirs, and what is old is forgotten.
func (t *runs) keepUp(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.table {
		switch {
		case r.state.Ended():
		case now.Unix() >= r.manifest.Expires && !r.mine:
			t.stop(r, control.RunCancelled, "its manifest has expired")
		case r.mine:
			if now.Sub(r.asked) >= announceEvery {
				r.asked = now
				t.p.announce(r.manifest)
			}
		case now.Sub(r.heardOwner) > ownerPatience:
			r.lost = true
			t.stop(r, control.RunCancelled, "its owner has not been reached for a minute")
		case now.Sub(r.asked) >= askEvery && !r.asking:
			r.asked, r.asking = now, true
			t.p.spawn(func(ctx context.Context) { t.askAfter(ctx, r) })
		}
	}
	t.forget(now)
}

// askAfter asks the owner whether its run goes on.
func (t *runs) askAfter(ctx context.Context, r *run) {
	var a runAnswer
	err := t.p.ask(ctx, r.manifest.Owner, runProtocol, &runQuestion{Run: r.manifest.Run}, &a, 1<<12, exchangeTime)
	if a.Tombstone != nil {
		if bad := t.bury(a.Tombstone); bad != nil {
			t.p.log.Debug("tombstone refused", "from", r.manifest.Owner, "error", bad)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.asking = false
	switch {
	case err != nil:
	case a.Known:
		r.heardOwner = time.Now()
	default: // it came back and has forgotten
		r.lost = true
		t.stop(r, control.RunCancelled, "its owner knows nothing of it any more")
	}
}

// forget drops what is older than need be. The mutex is held.
func (t *runs) forget(now time.Time) {
	for id, g := range t.graves {
		if now.After(g.until) {
			delete(t.graves, id)
		}
	}
	ended := slices.DeleteFunc(slices.Collect(maps.Values(t.table)), func(r *run) bool { return !r.state.Ended() })
	slices.SortFunc(ended, func(a, b *run) int { return a.ended.Compare(b.ended) })
	for ; len(ended) > maxEnded; ended = ended[1:] {
		delete(t.table, ended[0].manifest.Run)
	}
}
