package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
)

// A Log stores the results of one run in one directory. Its methods may be called by several goroutines at once.
type Log struct {
	cfg    Config
	s      *store
	unlock func() error
	wake   chan struct{} // one place
	done   chan struct{} // closed when the writer has ended
	err    error         // of Close; written before done is closed

	// mu guards what Append and the writer share. It is never held over a system call.
	mu        sync.Mutex
	queue     []Record
	queued    int // bytes in queue
	essential int // records in queue that are not to be dropped
	closing   bool
	discarded bool // what waits is not wanted
	syncs     []syncer
	compacts  []chan error
	stats     Stats

	w writer // the writer's own
}

// A syncer waits until the records up to a position are on disk.
type syncer struct {
	position uint64
	done     chan error // one place
}

// maxEssential is how many manifests and root outcomes wait at most when the queue is full.
const maxEssential = 16

// Open opens the checkpoint of a run in a directory for writing, or begins one, and makes the directory if
// there is none. What is there is read once, which blocks; Problems tells what is wrong with it. Nothing is
// written or renamed until the first record is.
//
// Errors: ErrLocked if another process has it open, ErrForeign or ErrNewer if it is not ours to go on with,
// ErrReadOnly if it may not be written (Read reads it), the system's otherwise.
func Open(dir string, h Header, cfg Config) (*Log, error) {
	l, err := open(dir, h, cfg)
	if err != nil {
		return nil, err
	}
	go l.w.run()
	return l, nil
}

// open is Open without the writer's goroutine.
func open(dir string, h Header, cfg Config) (*Log, error) {
	if h.Run == noRun {
		return nil, errors.New("a checkpoint needs the ID of its run")
	}
	cfg = cfg.withDefaults()
	if err := MakeDir(cfg.FS, dir); err != nil {
		return nil, classify(dir, err)
	}
	unlock, err := cfg.FS.Lock(filepath.Join(dir, lockName))
	if err != nil {
		if errors.Is(err, ErrLocked) {
			return nil, &FileError{File: dir, Problem: ErrLocked}
		}
		return nil, classify(dir, err)
	}
	s := &store{fs: cfg.FS, dir: dir}
	if err := s.open(h); err != nil {
		s.close()
		return nil, errors.Join(err, unlock())
	}
	l := &Log{cfg: cfg, s: s, unlock: unlock, wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.w.init(l)
	return l, nil
}

// open reads what there is, and makes sure that it is on disk: a process that was killed may have written it and not
// synced, and records that are not written because of it must not depend on that.
func (s *store) open(h Header) error {
	if err := s.load(h); err != nil {
		return classify(s.dir, err)
	}
	if s.refused != nil {
		return s.refused
	}
	if len(s.segments) == 0 {
		for dir := s.dir; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			_ = s.fs.SyncDir(filepath.Dir(dir)) // whoever made it may have been killed before; we may not be allowed to
		}
	}
	for _, g := range s.segments {
		if err := s.fs.SyncFile(g.name); err != nil {
			return classify(g.name, err)
		}
	}
	return classify(s.dir, s.fs.SyncDir(s.dir))
}

// MakeDir makes a directory and those above it, and their names durable: one whose name cannot be made so is removed.
func MakeDir(fsys FS, dir string) error {
	err := fsys.Mkdir(dir)
	above := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := MakeDir(fsys, above); err != nil {
			return err
		}
		err = fsys.Mkdir(dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = fsys.SyncDir(above); err != nil {
		err = errors.Join(err, fsys.Remove(dir))
	}
	return err
}

// Append takes a record to be stored and returns at once. It returns false if the record will not be: the
// queue is full, and the record can be computed again; or it is not valid; or the log is closed. Stats counts
// each. The log keeps path and outcome, which must not be changed any more.
func (l *Log) Append(r Record) (queued bool) {
	invalid := r.valid() != nil
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case invalid || l.closing:
		l.stats.Refused++
		return false
	case len(l.queue) < l.cfg.QueueRecords && l.queued+r.size() <= l.cfg.QueueBytes:
	case r.Kind != JobResult && l.essential < maxEssential:
	default:
		l.stats.DroppedFull++
		return false
	}
	if r.Kind != JobResult {
		l.essential++
	}
	before := l.pressing()
	l.queue = append(l.queue, r)
	l.queued += r.size()
	l.stats.Accepted++
	if len(l.queue) == 1 || !before && l.pressing() {
		l.wakeWriter()
	}
	return true
}

// pressing says that the queue is to be written before the interval is over.
func (l *Log) pressing() bool {
	return l.cfg.Interval < 0 && len(l.queue) > 0 || 2*len(l.queue) >= l.cfg.QueueRecords ||
		2*l.queued >= l.cfg.QueueBytes
}

func (l *Log) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default: // it will wake anyway
	}
}

// Sync waits until every record that Append took before is on disk, itself or by an ancestor. If they cannot
// be written it says why, at once; the log keeps trying, and another Sync makes it try. Errors: ErrDiskFull,
// the system's, ErrClosed, ctx's.
func (l *Log) Sync(ctx context.Context) error {
	l.mu.Lock()
	position := l.stats.Accepted
	if l.stats.Acknowledged >= position {
		l.mu.Unlock()
		return nil
	}
	if l.closing {
		l.mu.Unlock()
		return ErrClosed
	}
	done := make(chan error, 1)
	l.syncs = append(l.syncs, syncer{position, done})
	l.mu.Unlock()
	return l.await(ctx, done)
}

// Compact writes what is worth keeping to new files and removes the old ones. It waits until that is done;
// records may be appended and are written meanwhile. The log compacts by itself when more than half of what
// it holds, and more than a file, is superseded.
func (l *Log) Compact(ctx context.Context) error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return ErrClosed
	}
	done := make(chan error, 1)
	l.compacts = append(l.compacts, done)
	l.mu.Unlock()
	return l.await(ctx, done)
}

func (l *Log) await(ctx context.Context, done chan error) error {
	l.wakeWriter()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what waits, and releases the directory. The error says why records that Append took could not
// be written. It blocks as long as the disk takes; closing twice does no harm.
func (l *Log) Close() error { return l.close(false) }

// Discard is Close of a log whose directory is to be removed: what waits is not written.
func (l *Log) Discard() { _ = l.close(true) }

func (l *Log) close(discard bool) error {
	l.mu.Lock()
	l.closing, l.discarded = true, l.discarded || discard
	l.mu.Unlock()
	l.wakeWriter()
	<-l.done
	return l.err
}

// Problems tells what was wrong with the files when they were opened, each in one line: values of *FileError.
func (l *Log) Problems() []error { return l.s.problems }

// Records gives all records that are stored: manifests, then results in the order of their paths. None is an
// ancestor of another. Those that are stored while the loop runs may be seen or not. A record that cannot be
// read any more comes as an error, and the loop goes on. It blocks while it reads; Append goes on meanwhile.
func (l *Log) Records() iter.Seq2[Record, error] { return l.s.records() }

// Stats gives the log's figures.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	st := l.stats
	l.mu.Unlock()
	l.s.mu.RLock()
	defer l.s.mu.RUnlock()
	st.Records, st.Segments, st.Index = l.s.jobs.n, len(l.s.segments), l.s.jobs.memory()
	for _, g := range l.s.segments {
		st.Live += g.live
		st.Bytes += g.size
	}
	return st
}

// String names the log by its directory and run.
func (l *Log) String() string { return fmt.Sprintf("%s (run %x)", l.s.dir, l.s.header.Run[:4]) }
