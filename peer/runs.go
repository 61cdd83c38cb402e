package peer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// Bounds of the table of runs, and periods of its upkeep.
const (
	// maxActive bounds the runs that a peer takes part in or has refused, maxPerOwner those of one owner
	// among them. More are not looked at.
	maxActive   = 64
	maxPerOwner = 16
	// maxManifests bounds the bytes of the manifests of runs in progress.
	maxManifests = 256 << 20
	// maxEnded is how many ended runs are remembered, maxGraves how many tombstones.
	maxEnded  = 64
	maxGraves = 4096
	// maxBesides bounds what is told beside a manifest.
	maxBesides = statement.MaxTombstone + statement.MaxAnswered + 64
	// maxFetches bounds the manifests that are being fetched, maxFetchesFrom those from one peer, who may be
	// slow on purpose.
	maxFetches     = 16
	maxFetchesFrom = 2
	// announceEvery is how often an owner announces its runs again, once they are some time old; askEvery how
	// often a participant asks after one; and answeredEvery how often, in the end, a peer tells that it has
	// the answer to a run whose owner is away.
	announceEvery = 10 * time.Second
	askEvery      = 10 * time.Second
	answeredEvery = 10 * time.Minute
)

// runs is the table of runs.
type runs struct {
	p  *Peer
	mu sync.Mutex

	table    map[job.RunID]*run
	fetching map[job.RunID]peer.ID          // from whom
	waiting  map[job.RunID][]*steal.Message // requests that came before the runs that are being fetched
	graves   map[job.RunID]grave

	told [][]byte // the newest tombstones of own runs, for those whom gossip did not reach

	reviewed   time.Time // when the answers that are kept for others were
	dormant    map[job.RunID]*dormant
	dormantFor time.Duration
	resuming   sync.Mutex // one suspended run is taken up at a time

	// one answer to an own run at a time; not held together with mu but by who takes it first
	concluding      sync.Mutex
	fetchingAnswers int

	// live holds the sessions of the runs in progress, for those who must not wait for the mutex: messages.
	live sync.Map // job.RunID -> *session.Session
}

// grave is a tombstone.
type grave struct {
	statement.Tombstone
	bytes  []byte
	author peer.ID
}

// holds says whether the run is over by it.
func (g grave) holds() bool { return g.Reason != statement.Resumed }

func newRuns(p *Peer) *runs {
	return &runs{p: p, table: map[job.RunID]*run{}, fetching: map[job.RunID]peer.ID{},
		graves: map[job.RunID]grave{}, waiting: map[job.RunID][]*steal.Message{},
		dormant: map[job.RunID]*dormant{}, dormantFor: defaultDormantFor}
}

// heard says that somebody spoke of a run. If it is new, its manifest is fetched from there.
func (t *runs) heard(id job.RunID, from peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.table[id]
	g, buried := t.graves[id]
	if buried && !g.Reason.Final() && from == g.author {
		buried = false // it may have resumed it
	}
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
		m, answered, err := t.p.fetchManifest(ctx, id, from)
		if err == nil && m != nil {
			err = t.adopt(m)
		}
		if err == nil && answered != nil {
			err = t.hearAnswered(answered, from)
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
		if g.author == m.Owner && g.holds() {
			return nil // it is over
		}
		if g.author != m.Owner {
			delete(t.graves, m.Run) // somebody else's word
		}
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
		return fmt.Errorf("run %s: %d runs are known, %d of them of its owner; at most %d and %d are looked at",
			m.Run, active, owners, maxActive, maxPerOwner)
	}
	if bytes > maxManifests {
		return fmt.Errorf(
			"run %s: its manifest and those of the runs in progress have %d bytes, at most %d are kept", m.Run,
			bytes, maxManifests)
	}
	r := &run{manifest: m.Head(), bytes: m.Bytes, began: now, asked: now, state: control.RunRunning,
		over: make(chan struct{})}
	t.table[m.Run] = r
	if r.why = t.p.unfit(&m.Manifest); r.why != "" {
		r.state, r.ended = control.RunRefused, now
		r.bytes = nil
		close(r.over)
		t.p.log.Warn("run refused", "run", m.Run, "app", m.App, "owner", m.Owner, "why", r.why)
		return nil
	}
	return t.start(r, m, beginning{})
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
	t.p.release(stone, author)
	old, ok := t.graves[stone.Run]
	switch {
	case ok && (old.author != author || !stone.Supersedes(&old.Tombstone)):
		return nil // known, or out of date
	case ok || len(t.graves) < maxGraves:
		t.graves[stone.Run] = grave{*stone, b, author}
	}
	if r == nil || r.mine {
		return nil
	}
	switch stone.Reason {
	case statement.Finished:
		t.stop(r, control.RunDone, "its owner says that it is finished")
	case statement.Cancelled:
		t.stop(r, control.RunCancelled, "its owner says that it is cancelled")
	case statement.Suspended:
		r.lost = true // until it is heard of again
		t.stop(r, control.RunSuspended, "its owner has suspended it")
	case statement.Resumed: // it will be announced
	}
	return nil
}

// tell answers a question after a run.
func (t *runs) tell(q runQuestion) *runAnswer {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &runAnswer{Answered: t.p.holding.answered(q.Run)}
	if g, ok := t.graves[q.Run]; ok {
		a.Tombstone = g.bytes
		if g.holds() {
			return a
		}
	}
	r := t.table[q.Run]
	if r == nil || r.lost || (r.mine && r.state.Ended() && r.state != control.RunRefused) {
		return a
	}
	switch {
	case a.Answered != nil:
	case r.answered != nil:
		a.Answered = r.answered.Bytes
	case len(r.claims) > 0:
		a.Answered = r.claims[0].Bytes
	}
	if a.Known = true; q.Full && !r.state.Ended() {
		a.Manifest, a.Known = r.bytes, false
		if len(a.Manifest)+maxBesides > wire.MaxValue {
			a.Tombstone, a.Answered = nil, nil // they will be asked for
		}
	}
	return a
}

// active lists at most so many runs in progress.
func (t *runs) active(most int) (ids []job.RunID) {
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
func (t *runs) sessionOf(id job.RunID) *session.Session {
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

// forget drops what is older than need be. The mutex is held.
func (t *runs) forget(now time.Time) {
	for id, g := range t.graves {
		if now.Unix() > g.Until {
			delete(t.graves, id)
		}
	}
	ended := slices.DeleteFunc(slices.Collect(maps.Values(t.table)), func(r *run) bool { return !r.state.Ended() })
	slices.SortFunc(ended, func(a, b *run) int { return a.ended.Compare(b.ended) })
	for ; len(ended) > maxEnded; ended = ended[1:] {
		delete(t.table, ended[0].manifest.Run)
	}
}
