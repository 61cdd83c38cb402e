package checkpoint

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// Compaction copies what an index points to out of several files into one, and removes them. It goes on in
// steps between commits, each of at most a file's worth of records, and each complete in itself: write under
// a name that does not count, sync, rename, sync the directory, and only then remove the old files. A crash
// in between leaves records twice, never not at all.
//
// A file that holds nothing any more is removed without a copy: what supersedes its records was synced before
// it counted.

// autoSegments is how many files there may be, besides the full ones, before they are put together.
const autoSegments = 64

// compactSome does one step if it was asked for or is worth it, and sees to it that the next comes.
func (w *writer) compactSome() {
	l := w.l
	l.mu.Lock()
	asked := len(l.compacts)
	l.mu.Unlock()
	full := errors.Is(w.failed, ErrDiskFull) && slices.ContainsFunc(w.s.segments, w.empty)
	if asked == 0 && !full && (!w.wasteful() || time.Now().Before(w.notCompact)) {
		return
	}
	if asked > 0 {
		w.seal()
	}
	sources := w.pick()
	var err error
	if len(sources) > 0 {
		if err = w.rewrite(sources); err != nil {
			w.notCompact = time.Now().Add(w.cfg.RetryEvery)
		}
	}
	if err == nil && len(sources) > 0 {
		l.wakeWriter()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.compacts[:asked] {
		c <- err
	}
	l.compacts = slices.Delete(l.compacts, 0, asked)
	if len(l.compacts) > 0 {
		l.wakeWriter()
	}
}

// wasteful says whether compaction is worth its while.
func (w *writer) wasteful() bool {
	var dead, live int64
	for _, g := range w.s.segments {
		dead += g.dead()
		live += g.live
	}
	return dead > max(live, w.cfg.SegmentBytes) ||
		int64(len(w.s.segments)) > autoSegments+2*(live+dead)/w.cfg.SegmentBytes
}

// empty says whether a file can be removed without a copy, even if the disk is full.
func (w *writer) empty(g *segment) bool { return g != w.active && g.live == 0 }

// pick gives the files to be replaced: those that hold nothing if there are any; or else as many as make one
// new file, the emptiest first. Nil if it would change nothing.
func (w *writer) pick() (sources []*segment) {
	for _, g := range w.s.segments {
		if w.empty(g) {
			sources = append(sources, g)
		}
	}
	if len(sources) > 0 {
		return sources
	}
	for _, g := range w.s.segments {
		if g != w.active && (g.dead() > 0 || g.size < w.cfg.SegmentBytes/2) {
			sources = append(sources, g)
		}
	}
	slices.SortStableFunc(sources, func(a, b *segment) int { return cmp.Compare(a.live, b.live) })
	total := int64(0)
	for i, g := range sources {
		if total += g.live; i > 0 && total > w.cfg.SegmentBytes {
			sources = sources[:i]
			break
		}
	}
	if len(sources) == 1 && sources[0].dead() == 0 {
		return nil
	}
	return sources
}

// A move is an entry whose record gets another place.
type move struct {
	in *index
	e  entry
}

// rewrite copies what is live in files to a new one and removes them, or sets them aside if they are damaged.
func (w *writer) rewrite(sources []*segment) error {
	s := w.s
	moves := s.liveIn(sources)
	var g *segment
	if len(moves) > 0 {
		var err error
		if g, moves, err = w.copyOut(moves); err != nil {
			return err
		}
	}
	s.mu.Lock()
	for _, m := range moves {
		m.in.find(m.e.key, m.e.id).at = m.e.at
	}
	s.segments = slices.DeleteFunc(s.segments, func(g *segment) bool { return slices.Contains(sources, g) })
	if g != nil {
		s.segments = append(s.segments, g)
	}
	for _, old := range sources {
		old.file.Close()
	}
	s.mu.Unlock()
	for _, old := range sources {
		if err := w.discard(old); err != nil {
			return err
		}
	}
	return nil
}

// discard removes a file that is not needed any more; what was damaged in it may be needed by somebody else.
// A file that cannot be removed is read again at the next Open, and does no harm.
func (w *writer) discard(g *segment) error {
	if !g.damaged {
		return classify(g.name, w.s.fs.Remove(g.name))
	}
	now := g.name + damagedSuffix // free: numbers are not used twice
	if err := w.s.fs.Rename(g.name, now); err != nil {
		return classify(g.name, err)
	}
	w.cfg.Notify(Event{Kind: FileSetAside, File: g.name, Now: now})
	return classify(w.s.dir, w.s.fs.SyncDir(w.s.dir))
}

// liveIn gives the entries that lie in files, in the order in which they lie there.
func (s *store) liveIn(sources []*segment) (moves []move) {
	wanted := map[*segment]bool{}
	for _, g := range sources {
		wanted[g] = true
	}
	for _, x := range []*index{&s.manifests, &s.jobs} {
		for _, block := range x.blocks {
			for _, e := range block {
				if wanted[e.at.in] {
					moves = append(moves, move{x, e})
				}
			}
		}
	}
	slices.SortFunc(moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.e.at.in.seq, b.e.at.in.seq), cmp.Compare(a.e.at.off, b.e.at.off))
	})
	return moves
}

// copyOut writes the records to a new file, and gives the moves to their new places. A record that was intact and is
// not any more is forgotten, and its file counts as damaged.
func (w *writer) copyOut(moves []move) (g *segment, moved []move, err error) {
	s := w.s
	s.highest++
	name := filepath.Join(s.dir, segmentName(s.highest))
	out, err := s.fs.Create(name + unfinishedSuffix)
	if err != nil {
		return nil, nil, classify(name, err)
	}
	fail := func(err error) (*segment, []move, error) {
		out.Close()
		_ = s.fs.Remove(name + unfinishedSuffix) // or at the next Open
		_ = s.fs.Remove(name)                    // if it has its name already: each try would leave one
		return nil, nil, classify(name, err)
	}
	buf, err := appendOpening(nil, s.header)
	if err != nil {
		return fail(err)
	}
	g = &segment{seq: s.highest, name: name, head: int64(len(buf))}
	flush := func() error {
		_, err := out.Write(buf)
		g.size += int64(len(buf))
		buf = buf[:0]
		return err
	}
	for _, m := range moves {
		payload, err := s.payload(&m.e)
		if errors.Is(err, ErrCorrupt) {
			s.forget(m)
			continue
		}
		if err != nil {
			return fail(err)
		}
		at, before := g.size+int64(len(buf)), len(buf)
		buf = appendFrame(buf, s.header.Run, at, payload)
		m.e.at = place{g, at, int64(len(buf) - before)}
		g.live += m.e.at.size
		moved = append(moved, m)
		if len(buf) >= windowStep {
			if err := flush(); err != nil {
				return fail(err)
			}
		}
	}
	if err := flush(); err != nil {
		return fail(err)
	}
	if err := out.Sync(); err != nil {
		return fail(err)
	}
	if err := w.publish(g, out); err != nil {
		return fail(err)
	}
	return g, moved, nil
}

// publish gives a complete file its name, for good.
func (w *writer) publish(g *segment, out WriteFile) error {
	if err := out.Close(); err != nil {
		return err
	}
	if err := w.s.fs.Rename(g.name+unfinishedSuffix, g.name); err != nil {
		return err
	}
	if err := w.s.fs.SyncDir(w.s.dir); err != nil {
		return err
	}
	var err error
	g.file, err = w.s.fs.Open(g.name)
	if err == nil {
		w.l.mu.Lock()
		w.l.stats.Compactions++
		w.l.mu.Unlock()
	}
	return err
}

// forget drops a record that cannot be read any more.
func (s *store) forget(m move) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.in.remove(m.e.key, m.e.id)
	m.e.at.in.live -= m.e.at.size
	m.e.at.in.damaged = true
}

// create makes a file of the log, and opens it for reading too.
func (w *writer) create(name string, seq uint64) (*segment, error) {
	name = filepath.Join(w.s.dir, name)
	out, err := w.s.fs.Create(name)
	if err != nil {
		return nil, classify(name, err)
	}
	in, err := w.s.fs.Open(name)
	if err != nil {
		out.Close()
		_ = w.s.fs.Remove(name)
		return nil, classify(name, err)
	}
	w.out = out
	return &segment{seq: seq, name: name, file: in}, nil
}

// tidy deals with what earlier lives of the log left, once, when something is written for the first time:
// files that were not finished are removed, and damaged ones set aside. If it fails, there is time for it at
// the next commit but RetryEvery from now.
func (w *writer) tidy() {
	if w.tidied || time.Now().Before(w.notCompact) {
		return
	}
	w.tidied = true
	for _, name := range w.s.unfinished {
		if err := w.s.fs.Remove(filepath.Join(w.s.dir, name)); err != nil {
			w.tidied = false
		}
	}
	for _, g := range slices.Clone(w.s.segments) {
		if g.damaged {
			if err := w.rewrite([]*segment{g}); err != nil {
				w.tidied = false
			}
		}
	}
	if !w.tidied {
		w.notCompact = time.Now().Add(w.cfg.RetryEvery)
	}
}
