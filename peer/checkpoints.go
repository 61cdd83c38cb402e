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
	"github.com/satin-peer/satin/steal"
)

// checkpoints are those of the runs on this peer's disk.
type checkpoints struct {
	*base.Base
	self      peer.ID
	dir       string
	quota     quota.Quota   // of the runs of others
	index     quota.Quota   // likewise, of memory: see maxIndex
	every     time.Duration // how long a result may wait before it is written; 0: nothing is kept
	most      int           // results of a run that can be used again, and their bytes
	mostBytes int
	vouch     *vouching.Border
	inUse     sync.Map // directory -> *ledger that has it
}

// maxIndex bounds the memory in which the logs of others' runs, and of what others have computed, have where each
// result is: small results with long paths take more of it than of the disk.
const maxIndex = 128 << 20

func (c *checkpoints) dirOf(run job.RunID) string { return filepath.Join(c.dir, run.Hex()) }

// argsRecord marks the record that has the arguments of an own run, so that a copy of the directory tells
// what was computed.
const argsRecord = "arguments"

// A stored run is what a checkpoint tells.
type stored struct {
	parts  []steal.Partial
	answer []byte // outcome of the root job, if that is there,
	of     []byte // and on whose word it rests: see statement.Keys
	args   []string
	by     map[peer.ID]int64 // bytes of it that others have computed, by whom
	memory map[peer.ID]int64 // and of the index
	bytes  int               // of parts
	cut    int               // steps of the path of the first of those beyond
	beyond int               // results that are more than a peer can keep at hand
}

// contents reads records, as many as a peer can use: those nearest to the root, which spare the most.
func (c *checkpoints) contents(m *statement.SignedManifest,
	records func(yield func(checkpoint.Record, error) bool)) (s stored) {
	refused, run := 0, m.Run
	s.by, s.memory = map[peer.ID]int64{}, map[peer.ID]int64{}
	for r, err := range records {
		p := steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome, Voucher: r.Voucher}
		switch {
		case err != nil:
			c.Log.Warn("damage in a checkpoint; what is intact is used", "problem", err)
		case r.Kind == checkpoint.RootOutcome:
			of, err := c.vouch.Answered(run, &p, m.Owner)
			if err != nil {
				c.Log.Warn("an answer in a checkpoint is not used, and is computed again", "run", run, "why", err)
				continue
			}
			s.answer, s.of = r.Outcome, of
		case r.Kind == checkpoint.JobResult:
			if by := vouching.AuthorOf(r.Voucher); by != "" && by != c.self {
				s.by[by] += recordBytes(r.Path, r.Outcome, r.Voucher)
				s.memory[by] += checkpoint.IndexBytes(r.Path)
			}
			if err := c.vouch.Restored(run, &p); err != nil {
				if refused++; refused == 1 {
					c.Log.Warn("results in a checkpoint are not used, because nobody answers for them", "run", run,
						"the first", err)
				}
				continue
			}
			s.take(c, p)
		case strings.HasPrefix(string(r.Identity[:]), argsRecord):
			if err := wire.Value().Decode(r.Outcome, &s.args); err != nil {
				c.Log.Warn("the arguments in a checkpoint cannot be read", "error", err)
			}
		}
	}
	s.trim(c)
	return s
}

// leaveOwn leaves what this peer has computed itself: of a run that is verified nobody here has compared the rest.
func (s *stored) leaveOwn(self, owner peer.ID) {
	s.parts = slices.DeleteFunc(s.parts, func(p steal.Partial) bool { return vouching.AuthorOf(p.Voucher) != self })
	if owner != self {
		s.answer, s.of = nil, nil
	}
}

// take adds a result. There may be far more of them than fit into memory.
func (s *stored) take(c *checkpoints, p steal.Partial) {
	if s.beyond > 0 && len(p.Path) >= s.cut {
		s.beyond++
		return
	}
	s.parts = append(s.parts, p)
	if s.bytes += partBytes(&p); s.bytes > 2*c.mostBytes || len(s.parts) > 2*c.most {
		s.trim(c)
	}
}

func partBytes(p *steal.Partial) int { return int(recordBytes(p.Path, p.Outcome, p.Voucher)) }

// trim leaves the results of the shortest paths, as far as there is room for them.
func (s *stored) trim(c *checkpoints) {
	slices.SortStableFunc(s.parts, func(a, b steal.Partial) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	s.bytes = 0
	for i := range s.parts {
		n := partBytes(&s.parts[i])
		if i == c.most || s.bytes+n > c.mostBytes {
			s.beyond, s.cut = s.beyond+len(s.parts)-i, len(s.parts[i].Path)
			clear(s.parts[i:])
			s.parts = s.parts[:i]
			break
		}
		s.bytes += n
	}
}

// reopen opens the checkpoint of a run that is to go on, and reads what it holds.
func (c *checkpoints) reopen(m *statement.SignedManifest, args []string) (*resumption, error) {
	r := &resumption{}
	if c.every <= 0 { // it was on when the run was suspended
		snap, err := checkpoint.Read(c.dirOf(m.Run), checkpoint.HeaderOf(m.Run, m.Bytes), nil)
		if errors.Is(err, checkpoint.ErrNoCheckpoint) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		defer snap.Close()
		r.stored = c.contents(m, snap.Records())
		return r, nil
	}
	r.ledger = c.ledger(m.Run)
	l, err := r.ledger.open(m, args)
	if err != nil {
		r.ledger.close(false) // whoever opens it next would wait for that
		return nil, err
	}
	r.stored = c.contents(m, l.Records())
	r.ledger.found(&r.stored)
	return r, nil
}

// found says of what a checkpoint held when it was opened who had computed it, and whether that is at hand.
func (k *ledger) found(s *stored) {
	k.of.quota.Found(k.run, s.by)
	k.of.index.Found(k.run, s.memory)
	k.more.Store(s.beyond > 0)
}

// remove removes the checkpoint of a run that is over, unless that has been taken up meanwhile.
func (c *checkpoints) remove(run job.RunID) {
	k := c.ledger(run)
	if _, taken := c.inUse.LoadOrStore(k.dir, k); !taken {
		defer k.end(nil, true)
		k.erase()
	}
}

// makesWay removes what rests of a run, likewise.
func (c *checkpoints) makesWay(run job.RunID) {
	k := c.ledger(run)
	if _, taken := c.inUse.LoadOrStore(k.dir, k); taken {
		return
	}
	c.Spawn(func(context.Context) {
		c.Log.Info("what is left of a run makes way for others", "run", run)
		defer k.end(nil, true)
		k.erase()
	})
}

// left lists the manifests of the checkpoints that earlier lives have left, but for some. Empty ones are removed; those
// that cannot be read are left alone.
func (c *checkpoints) left(but func(job.RunID) bool) (list []*statement.SignedManifest) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), erased) {
			_ = c.Medium.RemoveAll(filepath.Join(c.dir, e.Name())) // or in the next life
		}
		run, ok := job.ParseRunID(e.Name())
		if !ok || but(run) {
			continue
		}
		m, err := manifestIn(c.dirOf(run))
		switch {
		case err != nil && c.hasNothing(run):
			c.remove(run)
		case err != nil:
			c.Log.Warn("a checkpoint cannot be read and is left alone", "run", run, "error", plain.OneLine(err))
		case m.Run != run:
			c.Log.Warn("a checkpoint is of another run and is left alone", "directory", c.dirOf(run))
		default:
			list = append(list, m)
			if _, counted := c.quota.Has(run); m.Owner != c.self && !counted {
				c.quota.Rest(run, peerName(m.Owner), sizeOf(c.dirOf(run)))
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
func (c *checkpoints) hasNothing(run job.RunID) bool {
	entries, err := os.ReadDir(c.dirOf(run))
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !checkpoint.Owns(e.Name()) }) {
		return false
	}
	snap, err := checkpoint.Read(c.dirOf(run), checkpoint.Header{Run: run}, nil)
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
