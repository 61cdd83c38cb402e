package ledger

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
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A Ledger is the checkpoint of a run on this peer: a directory, in which package checkpoint keeps what finishes here.
// It is written beside the work; when it cannot be, the run goes on and says so. It is removed when the run has ended,
// and found again by a peer that was restarted.
type Ledger struct {
	of  *Store
	run job.RunID
	Dir string

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

// Ledger is that of a run, which is not open yet.
func (c *Store) Ledger(run job.RunID) *Ledger {
	return &Ledger{of: c, run: run, Dir: c.DirOf(run), opened: make(chan struct{}), ended: make(chan struct{})}
}

// Await waits until the log is open, or cannot be.
func (k *Ledger) Await(ctx context.Context) {
	select {
	case <-k.opened:
	case <-ctx.Done():
	}
}

// Done is closed when the directory is nobody's any more.
func (k *Ledger) Done() <-chan struct{} { return k.ended }

// ErrOpening is why a ledger stores nothing in its first moments.
var ErrOpening = errors.New("the checkpoint is being opened")

// recordBytes is about what a record takes.
func recordBytes(path []uint32, outcome, voucher []byte) int64 {
	return int64(len(outcome) + len(voucher) + 4*len(path) + 64)
}

// AppendOutcome takes an outcome if the log does: see session.Store.
func (k *Ledger) AppendOutcome(path []uint32, identity [16]byte, outcome, voucher []byte) bool {
	k.mu.Lock()
	l := k.log
	k.mu.Unlock()
	if l == nil {
		return false
	}
	by := vouching.AuthorOf(voucher)
	if by == k.of.Self {
		by = ""
	}
	why, news := k.of.Index.Take(k.run, by, checkpoint.IndexBytes(path))
	if why == "" {
		why, news = k.of.Quota.Take(k.run, by, recordBytes(path, outcome, voucher))
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
func (k *Ledger) Trouble() error {
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
	return ErrOpening
}

// Open opens the log and writes the manifest, and the arguments if they are known, into it. It waits for the disk.
func (k *Ledger) Open(m *statement.SignedManifest, args []string) (*checkpoint.Log, error) {
	c := k.of
	// the run was given up a moment ago, and its directory may still be being removed
	if last, was := c.inUse.Swap(k.Dir, k); was {
		select {
		case <-last.(*Ledger).ended:
		case <-c.Ctx.Done():
		}
	}
	l, err := checkpoint.Open(k.Dir, checkpoint.HeaderOf(m.Run, m.Bytes), checkpoint.Config{
		FS: c.Medium, Interval: c.Within, Complete: k.sign,
		Notify: func(e checkpoint.Event) {
			c.Log.Warn("the run's checkpoint", "run", m.Run, "news", e.String())
		},
	})
	if err == nil {
		for _, problem := range l.Problems() {
			c.Log.Warn("damage in a checkpoint; what is intact is used", "run", m.Run, "problem", problem)
		}
		c.Quota.Enter(m.Run, runs.PeerID(m.Owner.String()), m.Owner == c.Self, func() (int64, bool) {
			st := l.Stats()
			return st.Bytes, st.Acknowledged == st.Accepted
		})
		c.Index.Enter(m.Run, runs.PeerID(m.Owner.String()), m.Owner == c.Self, func() (int64, bool) {
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
func (k *Ledger) sign(r *checkpoint.Record) {
	if r.Kind != checkpoint.RunManifest {
		p := steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome, Voucher: r.Voucher}
		k.of.Vouch.Sign(k.run, &p)
		r.Voucher = p.Voucher
	}
}

// Log is the open one; nil if there is none.
func (k *Ledger) Log() *checkpoint.Log {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.log
}

// Close writes what waits, and removes the directory if it is not needed any more. One that could not be
// opened is not this peer's to remove. It waits for the disk.
func (k *Ledger) Close(remove bool) {
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

// HasMore says whether it has results that its session was never given.
func (k *Ledger) HasMore() bool { return k != nil && k.more.Load() }

func (k *Ledger) isOpened() bool {
	select {
	case <-k.opened:
		return true
	default:
		return false
	}
}

// erase removes the directory, which this ledger has. Its files go one by one, and without the one that has the
// manifest the others are nobody's: so it gets another name first, that says what is left after a crash.
func (k *Ledger) erase() {
	c := k.of
	c.Quota.Leave(k.run)
	dir := filepath.Join(c.Dir, erased+k.run.Hex())
	if errors.Join(c.Medium.RemoveAll(dir), c.Medium.Rename(k.Dir, dir)) != nil {
		dir = k.Dir // or it is not there
	}
	_ = c.Medium.SyncDir(c.Dir) // if it can be: then no crash takes the name back
	if err := c.Medium.RemoveAll(dir); err != nil {
		c.Log.Warn("what is left of a run cannot be removed", "run", k.run, "error", err)
	}
}

// erased begins the names of directories that are being removed.
const erased = ".gone-"

// end lets go of the directory; l is nil if the log was never open.
func (k *Ledger) end(l *checkpoint.Log, remove bool) {
	defer close(k.ended)
	defer k.of.inUse.CompareAndDelete(k.Dir, k)
	defer k.of.Index.Leave(k.run)
	if l == nil {
		return
	}
	if remove {
		l.Discard()
		k.erase()
	} else if err := l.Close(); err != nil {
		k.of.Log.Warn("the end of a checkpoint could not be written", "directory", k.Dir, "error", err)
	}
	if !remove {
		k.of.Quota.Rest(k.run, "", l.Stats().Bytes)
	}
}
