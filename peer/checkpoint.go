package peer

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// A keeper is a run's checkpoint on this peer: a directory under the state directory, in which
// internal/checkpoint keeps what finishes here. It is written beside the work; when it cannot be, the run
// goes on and says so. It is removed when the run has ended, and found again by a peer that was restarted.
type keeper struct {
	dir string

	mu      sync.Mutex
	log     *checkpoint.Log // nil until it is open, and if it cannot be
	trouble error           // why it is not
	closed  bool
	// unwanted says that the directory is to be removed when the log is closed.
	unwanted bool
	opened   chan struct{} // closed when open has come to an end
	ended    chan struct{} // closed when the log is, after close
}

func newKeeper(dir string) *keeper {
	return &keeper{dir: dir, opened: make(chan struct{}), ended: make(chan struct{})}
}

// await waits until the log is open, or cannot be.
func (k *keeper) await(ctx context.Context) {
	select {
	case <-k.opened:
	case <-ctx.Done():
	}
}

// done is closed when the directory is nobody's any more.
func (k *keeper) done() <-chan struct{} { return k.ended }

// errOpening is why a keeper stores nothing in its first moments.
var errOpening = errors.New("the checkpoint is being opened")

// argsRecord marks the record that has the arguments of an own run, so that a copy of the directory tells
// what was computed.
const argsRecord = "arguments"

func (p *Peer) checkpointDir(run job.RunID) string {
	return filepath.Join(p.cfg.Host.StateDir, "checkpoints", run.Hex())
}

// AppendOutcome takes an outcome if the log does: see session.Store.
func (k *keeper) AppendOutcome(path []uint32, identity [16]byte, outcome []byte) bool {
	k.mu.Lock()
	l := k.log
	k.mu.Unlock()
	return l != nil && l.AppendOutcome(path, identity, outcome)
}

// Trouble is why nothing is stored: see session.Store.
func (k *keeper) Trouble() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.log != nil:
		return k.log.Trouble()
	case k.trouble != nil:
		return k.trouble
	}
	return errOpening
}

// open opens the log and writes the manifest, and the arguments if they are known, into it. It waits for the disk.
func (k *keeper) open(p *Peer, m *statement.SignedManifest, args []string) (*checkpoint.Log, error) {
	// the run was given up a moment ago, and its directory may still be being removed
	if last, was := p.keepers.Swap(k.dir, k); was {
		select {
		case <-last.(*keeper).ended:
		case <-p.ctx.Done():
		}
	}
	l, err := checkpoint.Open(k.dir, checkpoint.HeaderOf(m.Run, m.Bytes), checkpoint.Config{
		Interval: p.cfg.Checkpoint,
		Notify: func(e checkpoint.Event) {
			p.log.Warn("the run's checkpoint", "run", m.Run, "news", e.String())
		},
	})
	if err == nil {
		for _, problem := range l.Problems() {
			p.log.Warn("damage in a checkpoint; what is intact is used", "run", m.Run, "problem", problem)
		}
		l.KeepManifest(m.Bytes)
		if b, bad := wire.Value().Encode(args); bad == nil && len(args) > 0 {
			r := checkpoint.Record{Kind: checkpoint.RunManifest, Outcome: b}
			copy(r.Identity[:], argsRecord)
			l.Append(r)
		}
	}
	k.mu.Lock()
	closed := k.closed
	if k.trouble = err; err == nil && !closed {
		k.log = l
	}
	close(k.opened)
	k.mu.Unlock()
	switch {
	case closed: // in the meantime
		k.end(p, l, k.unwanted)
		return nil, checkpoint.ErrClosed
	case err != nil:
		return nil, err
	}
	return l, nil
}

// get is the open log; nil if there is none.
func (k *keeper) get() *checkpoint.Log {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.log
}

// close writes what waits, and removes the directory if it is not needed any more. One that could not be
// opened is not this peer's to remove. It waits for the disk.
func (k *keeper) close(p *Peer, remove bool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	l, done, opening := k.log, k.closed, !k.isOpened()
	k.log, k.closed, k.unwanted = nil, true, k.unwanted || remove
	k.mu.Unlock()
	if !done && !opening { // else open does it
		k.end(p, l, remove)
	}
}

func (k *keeper) isOpened() bool {
	select {
	case <-k.opened:
		return true
	default:
		return false
	}
}

// end lets go of the directory; l is nil if the log was never open.
func (k *keeper) end(p *Peer, l *checkpoint.Log, remove bool) {
	defer close(k.ended)
	defer p.keepers.CompareAndDelete(k.dir, k)
	if l == nil {
		return
	}
	if err := l.Close(); err != nil && !remove {
		p.log.Warn("the end of a checkpoint could not be written", "directory", k.dir, "error", err)
	}
	if remove {
		k.remove(p)
	}
}

func (k *keeper) remove(p *Peer) {
	if err := os.RemoveAll(k.dir); err != nil {
		p.log.Warn("the checkpoint of a run that is over cannot be removed", "directory", k.dir, "error", err)
	}
}

// A stored run is what a checkpoint tells.
type stored struct {
	parts  []steal.Partial
	answer []byte // outcome of the root job, if that is there
	args   []string
	beyond int // results that are more than a peer can keep at hand
}

// contents reads records, as many as a peer can use: those nearest to the root, which spare the most.
func (p *Peer) contents(records func(yield func(checkpoint.Record, error) bool)) (s stored) {
	for r, err := range records {
		switch {
		case err != nil:
			p.log.Warn("damage in a checkpoint; what is intact is used", "problem", err)
		case r.Kind == checkpoint.RootOutcome:
			s.answer = r.Outcome
		case r.Kind == checkpoint.JobResult:
			s.parts = append(s.parts, steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome})
		case strings.HasPrefix(string(r.Identity[:]), argsRecord):
			if err := wire.Value().Decode(r.Outcome, &s.args); err != nil {
				p.log.Warn("the arguments in a checkpoint cannot be read", "error", err)
			}
		}
	}
	slices.SortStableFunc(s.parts, func(a, b steal.Partial) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	size := 0
	for i := range s.parts {
		if size += len(s.parts[i].Outcome); i == p.cfg.Steal.MaxKept || size > p.cfg.Steal.MaxKeptBytes {
			s.beyond = len(s.parts) - i
			s.parts = s.parts[:i]
			break
		}
	}
	return s
}

// keep begins to keep what finishes of a run, if that has not begun yet, and gives it what was kept in
// earlier lives. The mutex is held.
func (t *conductor) keep(r *part, m *statement.SignedManifest) {
	p := t.p
	if p.cfg.Checkpoint <= 0 || r.keeper != nil {
		return
	}
	info, _ := t.core.Run(m.Run)
	k, args := newKeeper(p.checkpointDir(m.Run)), info.Args
	r.keeper = k
	p.spawn(func(context.Context) {
		l, err := k.open(p, m, args)
		if err != nil {
			if !errors.Is(err, checkpoint.ErrClosed) {
				p.log.Warn("what is computed of a run is not kept on the disk", "run", m.Run, "error", err)
			}
			return
		}
		s := p.contents(l.Records())
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
