package checkpoint

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// writer is the log's goroutine: the only one that changes files, and the only one that changes the store.
//
// What waits is written in one piece and synced once (group commit), in this order: write, sync the file,
// sync the directory if the file is new, enter the records into the index, acknowledge. A record counts as
// stored, and so makes others superfluous, only from then on. After a failure nothing is known of what lies
// behind the last acknowledged byte, even if a later sync succeeded; so the file is not written any more, and
// all of the batch goes to a new one. A record that is stored twice does no harm: results of pure jobs do not
// change.
type writer struct {
	l     *Log
	s     *store
	cfg   Config
	timer *time.Timer
	due   time.Time // when to write, or to try again; zero if nothing waits

	batch    []Record // taken from the queue, not stored yet
	position uint64   // of the last in batch
	failed   error    // of the last try; nil if it succeeded

	active  *segment // nil if the next batch begins a file
	out     WriteFile
	buf     []byte
	payload bytes.Buffer

	tidied     bool      // what was damaged when the log was opened is dealt with
	notCompact time.Time // compaction failed; not to be tried before
}

// keptBuffer is how much memory the writer holds between commits.
const keptBuffer = 4 << 20

func (w *writer) init(l *Log) {
	*w = writer{l: l, s: l.s, cfg: l.cfg, timer: time.NewTimer(0)}
	w.timer.Stop()
	w.tidied = len(w.s.unfinished) == 0 && !slices.ContainsFunc(w.s.segments,
		func(g *segment) bool { return g.damaged })
}

func (w *writer) run() {
	defer close(w.l.done)
	for {
		w.wait()
		for more := true; more; {
			more = w.wanted() && w.try() == nil
			if w.closing() {
				w.finish()
				return
			}
			w.compactSome() // also when there is always more to write: or else the disk fills up
		}
	}
}

// wait returns when something was asked for or is due.
func (w *writer) wait() {
	var alarm <-chan time.Time
	if !w.due.IsZero() {
		w.timer.Reset(time.Until(w.due))
		alarm = w.timer.C
	}
	select {
	case <-w.l.wake:
	case <-alarm:
	}
}

func (w *writer) closing() bool {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	return w.l.closing
}

// wanted says whether to write now.
func (w *writer) wanted() bool {
	l := w.l
	l.mu.Lock()
	waits := !l.discarded && (len(w.batch) > 0 || len(l.queue) > 0)
	asked := len(l.syncs) > 0 || len(l.compacts) > 0 || l.closing
	pressing := l.pressing() && w.failed == nil
	l.mu.Unlock()
	if !waits {
		w.due = time.Time{}
		return false
	}
	now := time.Now()
	if w.due.IsZero() {
		w.due = now.Add(max(0, w.cfg.Interval))
	}
	return asked || pressing || !now.Before(w.due)
}

// try writes what was not stored at the last try, or what is in the queue, and tells those who wait.
func (w *writer) try() error {
	l := w.l
	if len(w.batch) == 0 {
		l.mu.Lock()
		w.batch, l.queue = l.queue, w.batch[:0]
		l.queued, l.essential = 0, 0
		w.position = l.stats.Accepted
		l.mu.Unlock()
	}
	done, err := w.commit()
	l.mu.Lock()
	was := w.failed
	w.failed, l.stats.NotStoring = err, err
	if err != nil {
		l.stats.Failures++
	} else {
		l.stats.Acknowledged = w.position
		l.stats.Covered += done.covered
		l.stats.Written += done.written
		if done.written > 0 {
			l.stats.Commits++
		}
	}
	l.syncs = slices.DeleteFunc(l.syncs, func(s syncer) bool {
		if err == nil && s.position > w.position {
			return false
		}
		s.done <- err
		return true
	})
	l.mu.Unlock()
	if err != nil {
		w.due = time.Now().Add(w.cfg.RetryEvery)
		if was == nil {
			w.cfg.Notify(Event{Kind: StoringStopped, Err: err})
		}
		return err
	}
	clear(w.batch)
	w.batch, w.due = w.batch[:0], time.Time{}
	w.cfg.Acknowledged(w.position)
	if was != nil {
		w.cfg.Notify(Event{Kind: StoringResumed})
	}
	return nil
}

// committed says what became of a batch.
type committed struct{ covered, written uint64 }

// commit puts the batch on disk.
func (w *writer) commit() (done committed, err error) {
	w.tidy()
	rest := w.uncovered(w.batch)
	done.covered = uint64(len(w.batch) - len(rest))
	if len(rest) == 0 {
		return done, nil
	}
	if err := w.write(rest); err != nil {
		return done, err
	}
	done.written = uint64(len(rest))
	return done, nil
}

// uncovered leaves out what is stored, and what another record of the batch covers.
func (w *writer) uncovered(batch []Record) (rest []*Record) {
	var jobs, manifests index
	drop := make([]bool, len(batch))
	for i := range batch {
		r, x := &batch[i], &jobs
		if r.Kind == RunManifest {
			x = &manifests
		}
		key := r.key()
		if w.s.covered(r) || x.covered(key, r.Identity) {
			drop[i] = true
			continue
		}
		x.insert(entry{key, r.Identity, place{off: int64(i)}}, func(old entry) { drop[old.at.off] = true })
	}
	for i := range batch {
		if !drop[i] {
			rest = append(rest, &batch[i])
		}
	}
	return rest
}

// write appends records to the active file, or begins one.
func (w *writer) write(rest []*Record) (err error) {
	estimate := int64(0)
	for _, r := range rest {
		estimate += int64(r.size() + len(r.Path) + headSize)
	}
	if w.active != nil && w.active.size+estimate > w.cfg.SegmentBytes {
		w.seal()
	}
	g, fresh := w.active, w.active == nil
	w.buf = w.buf[:0]
	if fresh {
		if g, err = w.begin(); err != nil {
			return err
		}
	}
	entries, err := w.encode(g, rest)
	if err == nil {
		_, err = w.out.Write(w.buf)
	}
	if err == nil {
		err = w.out.Sync()
	}
	if err == nil && fresh {
		err = w.s.fs.SyncDir(w.s.dir)
	}
	if err != nil {
		w.abandon(g, fresh)
		return classify(g.name, err)
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	g.size += int64(len(w.buf))
	if fresh {
		w.active = g
		w.s.segments = append(w.s.segments, g)
	}
	for i, e := range entries {
		w.s.enter(e, rest[i].Kind)
	}
	if cap(w.buf) > keptBuffer {
		w.buf = nil
	}
	return nil
}

// begin makes a file and puts what it begins with into buf.
func (w *writer) begin() (g *segment, err error) {
	w.s.highest++
	g, err = w.create(segmentName(w.s.highest), w.s.highest)
	if err != nil {
		return nil, err
	}
	w.buf, err = appendOpening(w.buf, w.s.header)
	g.head = int64(len(w.buf))
	return g, err
}

// encode puts the frames of records into buf, behind what is there, and says where they will lie.
func (w *writer) encode(g *segment, rest []*Record) (entries []entry, err error) {
	for _, r := range rest {
		w.cfg.Complete(r)
		w.payload.Reset()
		if err := encoding.MarshalToBuffer(r, &w.payload); err != nil {
			return nil, fmt.Errorf("record of kind %d: %w", r.Kind, err)
		}
		at, before := g.size+int64(len(w.buf)), len(w.buf)
		w.buf = appendFrame(w.buf, w.s.header.Run, at, w.payload.Bytes())
		entries = append(entries, entry{r.key(), r.Identity, place{g, at, int64(len(w.buf) - before)}})
	}
	if w.payload.Cap() > keptBuffer {
		w.payload = bytes.Buffer{}
	}
	return entries, nil
}

// seal ends the active file.
func (w *writer) seal() {
	if w.active != nil {
		w.out.Close() // all that counts is synced
		w.active, w.out = nil, nil
	}
}

// abandon ends the active file after a failure. What lies behind its size is cut off, or removed with the
// file, to give the space back; if that fails too, what remains is true or torn, and harmless.
func (w *writer) abandon(g *segment, fresh bool) {
	if !fresh {
		_ = w.out.Truncate(g.size)
	}
	w.out.Close()
	w.active, w.out = nil, nil
	if fresh {
		g.file.Close()
		_ = w.s.fs.Remove(g.name)
	}
}

// finish writes what waits, if that is wanted, and releases everything.
func (w *writer) finish() {
	var err error
	for w.wanted() && err == nil {
		err = w.try()
	}
	w.seal()
	l := w.l
	l.mu.Lock()
	if left := len(w.batch) + len(l.queue); left > 0 && !l.discarded {
		l.err = fmt.Errorf("%d results could not be stored: %w", left, err)
	}
	for _, s := range l.syncs {
		s.done <- ErrClosed
	}
	for _, c := range l.compacts {
		c <- ErrClosed
	}
	l.syncs, l.compacts = nil, nil
	l.mu.Unlock()
	w.s.close()
	if err := l.unlock(); err != nil && l.err == nil {
		l.err = fmt.Errorf("%s: %w", w.s.dir, err)
	}
}
