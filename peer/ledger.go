package peer

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/steal"
)

// A ledger is the checkpoint of a run on this peer: a directory under the state directory, in which
// internal/checkpoint keeps what finishes here. It is written beside the work; when it cannot be, the run
// goes on and says so. It is removed when the run has ended, and found again by a peer that was restarted.
type ledger struct {
	of  *checkpoints
	run job.RunID
	dir string

	mu      sync.Mutex
	log     *checkpoint.Log // nil until it is open, and if it cannot be
	trouble error           // why it is not
	full    error           // why the last result was not taken
	closed  bool
	more    atomic.Bool // it had more when it was opened than is at hand
	// unwanted says that the directory is to be removed when the log is closed.
	unwanted bool
	opened   chan struct{} // closed when open has come to an end
	ended    chan struct{} // closed when the log is, after close
}

// ledger is that of a run.
func (c *checkpoints) ledger(run job.RunID) *ledger {
	return &ledger{of: c, run: run, dir: c.dirOf(run), opened: make(chan struct{}), ended: make(chan struct{})}
}

// await waits until the log is open, or cannot be.
func (k *ledger) await(ctx context.Context) {
	select {
	case <-k.opened:
	case <-ctx.Done():
	}
}

// done is closed when the directory is nobody's any more.
func (k *ledger) done() <-chan struct{} { return k.ended }

// errOpening is why a ledger stores nothing in its first moments.
var errOpening = errors.New("the checkpoint is being opened")

// recordBytes is about what a record takes.
func recordBytes(path []uint32, outcome, voucher []byte) int64 {
	return int64(len(outcome) + len(voucher) + 4*len(path) + 64)
}

// AppendOutcome takes an outcome if the log does: see session.Store.
func (k *ledger) AppendOutcome(path []uint32, identity [16]byte, outcome, voucher []byte) bool {
	k.mu.Lock()
	l := k.log
	k.mu.Unlock()
	if l == nil {
		return false
	}
	by := vouching.AuthorOf(voucher)
	if by == k.of.self {
		by = ""
	}
	why, news := k.of.index.Take(k.run, by, checkpoint.IndexBytes(path))
	if why == "" {
		why, news = k.of.quota.Take(k.run, by, recordBytes(path, outcome, voucher))
	}
	if news {
		k.of.Log.Warn("results of a run are kept no more", "run", k.run, "why", why)
	}
	k.mu.Lock()
	if k.full = nil; why != "" {
		k.full = errors.New(why)
	}
	k.mu.Unlock()
	return why == "" && l.AppendOutcome(path, identity, outcome, voucher)
}

// Trouble is why nothing is stored at present, or nil.
func (k *ledger) Trouble() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.log != nil && k.full != nil:
		return k.full
	case k.log != nil:
		return k.log.Trouble()
	case k.trouble != nil:
		return k.trouble
	}
	return errOpening
}

// open opens the log and writes the manifest, and the arguments if they are known, into it. It waits for the disk.
func (k *ledger) open(m *statement.SignedManifest, args []string) (*checkpoint.Log, error) {
	c := k.of
	// the run was given up a moment ago, and its directory may still be being removed
	if last, was := c.inUse.Swap(k.dir, k); was {
		select {
		case <-last.(*ledger).ended:
		case <-c.Ctx.Done():
		}
	}
	l, err := checkpoint.Open(k.dir, checkpoint.HeaderOf(m.Run, m.Bytes), checkpoint.Config{
		FS: c.Medium, Interval: c.every, Complete: k.sign,
		Notify: func(e checkpoint.Event) {
			c.Log.Warn("the run's checkpoint", "run", m.Run, "news", e.String())
		},
	})
	if err == nil {
		for _, problem := range l.Problems() {
			c.Log.Warn("damage in a checkpoint; what is intact is used", "run", m.Run, "problem", problem)
		}
		c.quota.Enter(m.Run, peerName(m.Owner), m.Owner == c.self, func() (int64, bool) {
			st := l.Stats()
			return st.Bytes, st.Acknowledged == st.Accepted
		})
		c.index.Enter(m.Run, peerName(m.Owner), m.Owner == c.self, func() (int64, bool) {
			st := l.Stats()
			return st.Index, st.Acknowledged == st.Accepted
		})
		l.KeepManifest(m.Bytes)
		if b, bad := wire.Value().Encode(args); bad == nil && len(args) > 0 {
			r := checkpoint.Record{Kind: checkpoint.RunManifest, Outcome: b}
			copy(r.Identity[:], argsRecord)
			l.Append(r)
		}
	}
	k.mu.Lock()
	closed, unwanted := k.closed, k.unwanted
	if k.trouble = err; err == nil && !closed {
		k.log = l
	}
	close(k.opened)
	k.mu.Unlock()
	switch {
	case closed: // in the meantime
		k.end(l, unwanted)
		return nil, checkpoint.ErrClosed
	case err != nil:
		return nil, err
	}
	return l, nil
}

// sign signs for an outcome that goes to the disk: whoever reads it there trusts nothing else.
func (k *ledger) sign(r *checkpoint.Record) {
	if r.Kind != checkpoint.RunManifest {
		p := steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome, Voucher: r.Voucher}
		k.of.vouch.Sign(k.run, &p)
		r.Voucher = p.Voucher
	}
}

// get is the open log; nil if there is none.
func (k *ledger) get() *checkpoint.Log {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.log
}

// close writes what waits, and removes the directory if it is not needed any more. One that could not be
// opened is not this peer's to remove. It waits for the disk.
func (k *ledger) close(remove bool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	l, done, opening := k.log, k.closed, !k.isOpened()
	k.log, k.closed, k.unwanted = nil, true, k.unwanted || remove
	k.mu.Unlock()
	if !done && !opening { // else open does it
		k.end(l, remove)
	}
}

// hasMore says whether it has results that its session was never given.
func (k *ledger) hasMore() bool { return k != nil && k.more.Load() }

func (k *ledger) isOpened() bool {
	select {
	case <-k.opened:
		return true
	default:
		return false
	}
}

// erase removes the directory, which this ledger has. Its files go one by one, and without the one that has the
// manifest the others are nobody's: so it gets another name first, that says what is left after a crash.
func (k *ledger) erase() {
	c := k.of
	c.quota.Leave(k.run)
	dir := filepath.Join(c.dir, erased+k.run.Hex())
	if errors.Join(c.Medium.RemoveAll(dir), c.Medium.Rename(k.dir, dir)) != nil {
		dir = k.dir // or it is not there
	}
	_ = c.Medium.SyncDir(c.dir) // if it can be: then no crash takes the name back
	if err := c.Medium.RemoveAll(dir); err != nil {
		c.Log.Warn("what is left of a run cannot be removed", "run", k.run, "error", err)
	}
}

// erased begins the names of directories that are being removed.
const erased = ".gone-"

// end lets go of the directory; l is nil if the log was never open.
func (k *ledger) end(l *checkpoint.Log, remove bool) {
	defer close(k.ended)
	defer k.of.inUse.CompareAndDelete(k.dir, k)
	defer k.of.index.Leave(k.run)
	if l == nil {
		return
	}
	if remove {
		l.Discard()
		k.erase()
	} else if err := l.Close(); err != nil {
		k.of.Log.Warn("the end of a checkpoint could not be written", "directory", k.dir, "error", err)
	}
	if !remove {
		k.of.quota.Rest(k.run, "", l.Stats().Bytes)
	}
}
