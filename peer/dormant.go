package peer

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
)

// A peer that was restarted finds the checkpoints of other peers' runs in its state directory. Such a run is
// dormant until somebody says that it goes on, and forgotten when somebody says that it is over. When nobody
// says anything for a while, all who took part may be lost, and this peer takes it up by itself: it has the
// manifest.

// dormant is one of them.
type dormant struct {
	manifest     *statement.SignedManifest
	since, asked time.Time
	asking       bool
	turn         int
}

const (
	// defaultDormantFor is how long nobody must have known a run before it is taken up without a word.
	defaultDormantFor = 30 * time.Second
	askDormantEvery   = 3 * time.Second
)

// findDormant looks for them, once. Checkpoints of runs that are over, and empty ones, are removed; those
// that cannot be read are left alone.
func (t *runs) findDormant(context.Context) {
	p := t.p
	dir := filepath.Join(p.cfg.Host.StateDir, "checkpoints")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		run, ok := job.ParseRunID(e.Name())
		if !ok || p.own.has(e.Name()) {
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
		case m.Owner == p.host.ID() || time.Now().Unix() >= m.Expires || p.holding.has(run):
			p.discard(run)
		default:
			t.mu.Lock()
			if t.table[run] == nil && len(t.dormant) < maxActive {
				t.dormant[run] = &dormant{manifest: m, since: time.Now()}
			}
			t.mu.Unlock()
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

// wake looks at the dormant runs, every second. The mutex is held.
func (t *runs) wake(now time.Time) {
	for run, d := range t.dormant {
		g, buried := t.graves[run]
		switch {
		case t.table[run] != nil: // it was heard of
			delete(t.dormant, run)
		case buried && g.author == d.manifest.Owner && g.holds(), now.Unix() >= d.manifest.Expires:
			delete(t.dormant, run)
			t.p.spawn(func(context.Context) { t.p.discard(run) })
		case now.Sub(d.since) > t.dormantFor && !d.asking:
			delete(t.dormant, run)
			t.p.log.Info("nobody knows of a run that this peer took part in: it goes on here", "run", run, "title",
				d.manifest.Title)
			t.p.spawn(func(context.Context) { t.rouse(d.manifest) })
		case now.Sub(d.asked) >= askDormantEvery && !d.asking:
			d.asked, d.asking = now, true
			d.turn++
			t.p.spawn(func(ctx context.Context) { t.askAfterDormant(ctx, run, d) })
		}
	}
}

// askAfterDormant asks members about a dormant run.
func (t *runs) askAfterDormant(ctx context.Context, id job.RunID, d *dormant) {
	known := false
	for _, whom := range t.p.whomToAsk(&run{manifest: d.manifest, turn: d.turn}) {
		var a runAnswer
		if t.p.ask(ctx, whom, runProtocol, &runQuestion{Run: id}, &a, 1<<13, exchangeTime) != nil {
			continue
		}
		if a.Tombstone != nil {
			if bad := t.bury(a.Tombstone); bad != nil {
				t.p.log.Debug("tombstone refused", "from", whom, "error", bad)
			}
		}
		if a.Known || a.Answered != nil {
			known = true
			t.rouse(d.manifest)
		}
		if a.Answered != nil {
			if bad := t.hearAnswered(a.Answered, whom); bad != nil {
				t.p.log.Debug("statement of an answer refused", "from", whom, "error", bad)
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d.asking = false
	if known {
		delete(t.dormant, id)
	}
}

// rouse takes a dormant run up.
func (t *runs) rouse(m *statement.SignedManifest) {
	if err := t.adopt(m); err != nil {
		t.p.log.Warn("run of an earlier life not taken up", "run", m.Run, "error", err)
	}
}
