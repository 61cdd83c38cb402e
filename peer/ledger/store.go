// Package ledger has the checkpoints of runs on a peer's disk: each is a directory in which package checkpoint keeps
// what finishes here. Whose it is of what they hold counts, on the disk as in memory, so that nobody fills them; what
// nobody answers for is not written, and not believed when it is read.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/quota"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A Store has the checkpoints of the runs on this peer's disk. Who makes it sets the exported fields, and changes none
// while it is used; its methods may be called at the same time.
type Store struct {
	*base.Base
	Self      peer.ID
	Dir       string        // has one for each run; it need not be there
	Quota     quota.Quota   // of the runs of others
	Index     quota.Quota   // likewise, of memory: see MaxIndex
	Within    time.Duration // how long a result may wait before it is written; 0: nothing is kept
	Most      int           // results of a run that can be used again, and their bytes
	MostBytes int
	Vouch     *vouching.Border
	inUse     sync.Map // directory -> *Ledger that has it
}

// MaxIndex bounds the memory in which the logs of others' runs, and of what others have computed, have where each
// result is: small results with long paths take more of it than of the disk.
const MaxIndex = 128 << 20

// DirOf is the directory of a run, be it there or not.
func (c *Store) DirOf(run job.RunID) string { return filepath.Join(c.Dir, run.Hex()) }

// argsRecord marks the record that has the arguments of an own run, so that a copy of the directory tells
// what was computed.
const argsRecord = "arguments"

// Contents are what a checkpoint tells of a run.
type Contents struct {
	Parts  []steal.Partial
	Answer []byte // outcome of the root job, if that is there,
	Of     []byte // and on whose word it rests: see statement.Keys
	Args   []string
	by     map[peer.ID]int64 // bytes of it that others have computed, by whom
	memory map[peer.ID]int64 // and of the index
	bytes  int               // of parts
	cut    int               // steps of the path of the first of those beyond
	Beyond int               // results that are more than a peer can keep at hand
}

// Read reads records, as many as a peer can use: those nearest to the root, which spare the most.
func (c *Store) Read(m *statement.SignedManifest,
	records func(yield func(checkpoint.Record, error) bool)) (s Contents) {
	refused, run := 0, m.Run
	s.by, s.memory = map[peer.ID]int64{}, map[peer.ID]int64{}
	for r, err := range records {
		p := steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome, Voucher: r.Voucher}
		switch {
		case err != nil:
			c.Log.Warn("damage in a checkpoint; what is intact is used", "problem", err)
		case r.Kind == checkpoint.RootOutcome:
			of, err := c.Vouch.Answered(run, &p, m.Owner)
			if err != nil {
				c.Log.Warn("an answer in a checkpoint is not used, and is computed again", "run", run, "why", err)
				continue
			}
			s.Answer, s.Of = r.Outcome, of
		case r.Kind == checkpoint.JobResult:
			if by := vouching.AuthorOf(r.Voucher); by != "" && by != c.Self {
				s.by[by] += recordBytes(r.Path, r.Outcome, r.Voucher)
				s.memory[by] += checkpoint.IndexBytes(r.Path)
			}
			if err := c.Vouch.Restored(run, &p); err != nil {
				if refused++; refused == 1 {
					c.Log.Warn("results in a checkpoint are not used, because nobody answers for them", "run", run,
						"the first", err)
				}
				continue
			}
			s.take(c, p)
		case strings.HasPrefix(string(r.Identity[:]), argsRecord):
			if err := wire.Value().Decode(r.Outcome, &s.Args); err != nil {
				c.Log.Warn("the arguments in a checkpoint cannot be read", "error", err)
			}
		}
	}
	s.trim(c)
	return s
}

// LeaveOwn leaves what this peer has computed itself: of a run that is verified nobody here has compared the rest.
func (s *Contents) LeaveOwn(self, owner peer.ID) {
	s.Parts = slices.DeleteFunc(s.Parts, func(p steal.Partial) bool { return vouching.AuthorOf(p.Voucher) != self })
	if owner != self {
		s.Answer, s.Of = nil, nil
	}
}

// take adds a result. There may be far more of them than fit into memory.
func (s *Contents) take(c *Store, p steal.Partial) {
	if s.Beyond > 0 && len(p.Path) >= s.cut {
		s.Beyond++
		return
	}
	s.Parts = append(s.Parts, p)
	if s.bytes += partBytes(&p); s.bytes > 2*c.MostBytes || len(s.Parts) > 2*c.Most {
		s.trim(c)
	}
}

func partBytes(p *steal.Partial) int { return int(recordBytes(p.Path, p.Outcome, p.Voucher)) }

// trim leaves the results of the shortest paths, as far as there is room for them.
func (s *Contents) trim(c *Store) {
	slices.SortStableFunc(s.Parts, func(a, b steal.Partial) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	s.bytes = 0
	for i := range s.Parts {
		n := partBytes(&s.Parts[i])
		if i == c.Most || s.bytes+n > c.MostBytes {
			s.Beyond, s.cut = s.Beyond+len(s.Parts)-i, len(s.Parts[i].Path)
			clear(s.Parts[i:])
			s.Parts = s.Parts[:i]
			break
		}
		s.bytes += n
	}
}

// Reopen opens the checkpoint of a run that is to go on, and reads what it holds. The ledger is nil where nothing is
// kept any more.
func (c *Store) Reopen(m *statement.SignedManifest, args []string) (k *Ledger, s Contents, err error) {
	if c.Within <= 0 { // it was on when the run was suspended
		snap, err := checkpoint.Read(c.DirOf(m.Run), checkpoint.HeaderOf(m.Run, m.Bytes), nil)
		if errors.Is(err, checkpoint.ErrNoCheckpoint) {
			return nil, s, nil
		}
		if err != nil {
			return nil, s, err
		}
		defer snap.Close()
		return nil, c.Read(m, snap.Records()), nil
	}
	k = c.Ledger(m.Run)
	l, err := k.Open(m, args)
	if err != nil {
		k.Close(false) // whoever opens it next would wait for that
		return nil, s, err
	}
	s = c.Read(m, l.Records())
	k.Found(&s)
	return k, s, nil
}

// Found says of what a checkpoint held when it was opened who had computed it, and whether that is at hand.
func (k *Ledger) Found(s *Contents) {
	k.of.Quota.Found(k.run, s.by)
	k.of.Index.Found(k.run, s.memory)
	k.more.Store(s.Beyond > 0)
}

// InUse is how many directories ledgers have.
func (c *Store) InUse() (n int) {
	c.inUse.Range(func(any, any) bool { n++; return true })
	return n
}

// Remove removes the checkpoint of a run that is over, unless that has been taken up meanwhile.
func (c *Store) Remove(run job.RunID) {
	k := c.Ledger(run)
	if _, taken := c.inUse.LoadOrStore(k.Dir, k); !taken {
		defer k.end(nil, true)
		k.erase()
	}
}

// MakeWay removes what rests of a run, likewise.
func (c *Store) MakeWay(run job.RunID) {
	k := c.Ledger(run)
	if _, taken := c.inUse.LoadOrStore(k.Dir, k); taken {
		return
	}
	c.Spawn(func(context.Context) {
		c.Log.Info("what is left of a run makes way for others", "run", run)
		defer k.end(nil, true)
		k.erase()
	})
}

// Left lists the manifests of the checkpoints that earlier lives have left, but for some. Empty ones are removed; those
// that cannot be read are left alone.
func (c *Store) Left(but func(job.RunID) bool) (list []*statement.SignedManifest) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), erased) {
			_ = c.Medium.RemoveAll(filepath.Join(c.Dir, e.Name())) // or in the next life
		}
		run, ok := job.ParseRunID(e.Name())
		if !ok || but(run) {
			continue
		}
		m, err := manifestIn(c.DirOf(run))
		switch {
		case err != nil && c.hasNothing(run):
			c.Remove(run)
		case err != nil:
			c.Log.Warn("a checkpoint cannot be read and is left alone", "run", run, "error", plain.OneLine(err))
		case m.Run != run:
			c.Log.Warn("a checkpoint is of another run and is left alone", "directory", c.DirOf(run))
		default:
			list = append(list, m)
			if _, counted := c.Quota.Has(run); m.Owner != c.Self && !counted {
				c.Quota.Rest(run, runs.PeerID(m.Owner.String()), sizeOf(c.DirOf(run)))
			}
		}
	}
	return list
}

// sizeOf is how many bytes the files of a directory have.
func sizeOf(dir string) (n int64) {
	entries, _ := os.ReadDir(dir) // what cannot be read is not there
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// hasNothing says whether a checkpoint has no record at all: the peer was killed before it had written anything, or
// while it wrote the first one.
func (c *Store) hasNothing(run job.RunID) bool {
	entries, err := os.ReadDir(c.DirOf(run))
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !checkpoint.Owns(e.Name()) }) {
		return false
	}
	snap, err := checkpoint.Read(c.DirOf(run), checkpoint.Header{Run: run}, nil)
	if err != nil {
		return errors.Is(err, checkpoint.ErrNoCheckpoint)
	}
	defer snap.Close()
	for range snap.Records() {
		return false
	}
	return !slices.ContainsFunc(snap.Problems(), func(e error) bool { return !errors.Is(e, checkpoint.ErrTorn) })
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
