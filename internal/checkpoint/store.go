package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// store is what lies in a directory: its files and where the records are in them. A Log writes to it, a
// Snapshot does not.
type store struct {
	fs     FS
	dir    string
	header Header

	// mu guards what follows, and the files against being removed while they are read.
	mu        sync.RWMutex
	jobs      index // the root outcome too, whose key is empty
	manifests index
	segments  []*segment // in the order of their numbers
	problems  []error    // of reading, in the order of the files
	refused   error      // the first file that another run or a newer version wrote
	highest   uint64     // number of a file, of whatever kind

	unfinished []string // names of files that a compaction did not finish
	vanished   bool     // a file was removed while the directory was read
}

// A segment is one file of the log.
type segment struct {
	seq     uint64
	name    string   // path
	file    ReadFile // nil until somebody reads
	size    int64    // what counts of it, in bytes
	head    int64    // where its records begin
	live    int64    // bytes of frames that an index points to
	damaged bool     // not to be removed: somebody may want to look into it
}

func (s *segment) dead() int64 { return s.size - s.head - s.live }

// Names in the directory. A file is complete unless its name ends in unfinishedSuffix.
const (
	lockName         = "lock"
	segmentSuffix    = ".satinlog"
	unfinishedSuffix = ".unfinished"
	damagedSuffix    = ".damaged"
	segmentDigits    = 8
	// noNumber is more than this program gives to a file. Whoever has made a directory may have gone up to where there
	// are no higher numbers, and what is written next would not be read again.
	noNumber = 1 << 62
)

func segmentName(seq uint64) string {
	return fmt.Sprintf("%0*d%s", segmentDigits, seq, segmentSuffix)
}

// numberOf gives the number in the name of a segment, or of what was one, and what follows it.
func numberOf(name string) (seq uint64, rest string, ok bool) {
	digits, rest, ok := strings.Cut(name, segmentSuffix)
	if !ok || len(digits) < segmentDigits {
		return 0, "", false
	}
	seq, err := strconv.ParseUint(digits, 10, 63)
	return seq, rest, err == nil
}

// Owns says whether a log makes files of that name.
func Owns(name string) bool {
	_, rest, ok := numberOf(name)
	return name == lockName || ok && rest == ""
}

// load reads the directory. want.Run may be zero: then the first intact header says which run it is. The
// error is of the directory; what is wrong with files goes to s.problems.
func (s *store) load(want Header) error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		seq, rest, ok := numberOf(name)
		if !ok {
			continue
		}
		if seq < noNumber {
			s.highest = max(s.highest, seq)
		}
		switch rest {
		case "":
			s.segments = append(s.segments, &segment{seq: seq, name: filepath.Join(s.dir, name)})
		case unfinishedSuffix:
			s.unfinished = append(s.unfinished, name)
		}
	}
	slices.SortFunc(s.segments, func(a, b *segment) int { return cmp.Compare(a.seq, b.seq) })
	openings := s.openAll()
	s.header = want
	if want.Run == noRun {
		for _, g := range s.segments {
			if o := openings[g]; o.headed {
				s.header = o.header
				break
			}
		}
	}
	s.segments = slices.DeleteFunc(s.segments, func(g *segment) bool { return !s.readSegment(g, openings[g]) })
	return nil
}

// openAll opens the files and reads how they begin; it forgets those that cannot be read.
func (s *store) openAll() map[*segment]opening {
	openings := map[*segment]opening{}
	s.segments = slices.DeleteFunc(s.segments, func(g *segment) bool {
		err := s.openSegment(g)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				s.vanished = true
			} else {
				s.problems = append(s.problems, &FileError{File: g.name, Problem: ErrUnreadable, Cause: err})
			}
			return true
		}
		w := window{r: g.file, size: min(g.size, maxOpening)}
		b, err := w.bytes(0, maxOpening)
		if err != nil {
			s.problems = append(s.problems, &FileError{File: g.name, Problem: ErrUnreadable, Cause: err})
			g.file.Close()
			return true
		}
		openings[g] = openingOf(b)
		return false
	})
	return openings
}

func (s *store) openSegment(g *segment) error {
	f, err := s.fs.Open(g.name)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil {
		f.Close()
		return err
	}
	g.file, g.size = f, size
	return nil
}

// readSegment takes the records of a file into the index; false if the file is not to be touched.
func (s *store) readSegment(g *segment, o opening) bool {
	var refused *FileError
	switch {
	case o.ours && o.version > formatVersion:
		refused = &FileError{File: g.name, Problem: ErrNewer,
			Detail: fmt.Sprintf("format %d; this program reads format %d", o.version, formatVersion)}
	case o.headed && o.header.Run != s.header.Run:
		refused = &FileError{File: g.name, Problem: ErrForeign,
			Detail: fmt.Sprintf("run %x, not %x", o.header.Run[:4], s.header.Run[:4])}
	case o.headed && s.header.Manifest != [32]byte{} && o.header.Manifest != s.header.Manifest:
		refused = &FileError{File: g.name, Problem: ErrForeign,
			Detail: fmt.Sprintf("the same run with manifest %x, not %x", o.header.Manifest[:4], s.header.Manifest[:4])}
	}
	if refused != nil {
		s.problems = append(s.problems, refused)
		if s.refused == nil {
			s.refused = refused
		}
		g.file.Close()
		return false
	}
	begin := o.size
	if !o.headed {
		begin = 0 // the records behind a damaged header may be intact
	}
	intact := 0
	lost, err := scan(g.file, g.size, begin, s.header.Run, func(at, size int64, rec Record) {
		intact++
		s.take(&rec, place{g, at, size})
	})
	g.head = begin
	if err != nil {
		g.damaged = true
		s.problems = append(s.problems, &FileError{File: g.name, Problem: ErrUnreadable, Cause: err,
			Detail: fmt.Sprintf("%d intact records were read before", intact)})
	} else if lost.stretches > 0 || !o.headed {
		lost.torn = lost.torn || g.size == 0
		e := damaged(g.name, lost, intact)
		if !o.ours && intact == 0 && !lost.torn {
			e.Problem, e.Detail = ErrForeign,
				"not a checkpoint of this program, or its beginning is damaged; nothing in it is used"
		}
		g.damaged = !lost.torn
		s.problems = append(s.problems, e)
	}
	return true
}

// take enters a record that lies at a place, unless it is covered.
func (s *store) take(r *Record, at place) {
	s.enter(entry{r.key(), r.Identity, at}, r.Kind)
}

func (s *store) enter(e entry, kind Kind) {
	x := &s.jobs
	if kind == RunManifest {
		x = &s.manifests
	}
	if x.covered(e.key, e.id) {
		return
	}
	e.at.in.live += e.at.size
	x.insert(e, func(old entry) { old.at.in.live -= old.at.size })
}

// covered says whether a record need not be written.
func (s *store) covered(r *Record) bool {
	if r.Kind == RunManifest {
		return s.manifests.covered("", r.Identity)
	}
	return s.jobs.covered(r.key(), r.Identity)
}

// read gives the record of an entry. The caller holds mu.
func (s *store) read(e *entry) (Record, error) {
	payload, err := s.payload(e)
	if err != nil {
		return Record{}, err
	}
	rec, err := decodeRecord(payload)
	if err != nil || rec.key() != e.key || rec.Identity != e.id {
		return Record{}, s.rotten(e)
	}
	return rec, nil
}

func (s *store) rotten(e *entry) error {
	return &FileError{File: e.at.in.name, Problem: ErrCorrupt,
		Detail: fmt.Sprintf("the record at byte %d was intact before and is not any more", e.at.off)}
}

func (s *store) payload(e *entry) ([]byte, error) {
	g := e.at.in
	if g.file == nil {
		return nil, ErrClosed
	}
	frame := make([]byte, e.at.size)
	if _, err := g.file.ReadAt(frame, e.at.off); err != nil {
		return nil, &FileError{File: g.name, Problem: ErrUnreadable, Cause: err}
	}
	n, sum, ok := headOf(frame, s.header.Run, e.at.off)
	if !ok || n != len(frame)-headSize || !intact(frame[headSize:], sum) {
		return nil, s.rotten(e)
	}
	return frame[headSize:], nil
}

// records gives all records: manifests, and then jobs in the order of their paths. Records that come while
// the loop runs may be seen or not. A record that cannot be read any more comes as an error, and the loop
// goes on.
func (s *store) records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, x := range []*index{&s.manifests, &s.jobs} {
			key, id, first := "", [16]byte{}, true
			for {
				rec, e, err := s.after(x, key, id, first)
				if e == nil {
					break
				}
				if !yield(rec, err) {
					return
				}
				key, id, first = e.key, e.id, false
			}
		}
	}
}

func (s *store) after(x *index, key string, id [16]byte, first bool) (Record, *entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := x.next(key, id, first)
	if !ok {
		return Record{}, nil, nil
	}
	rec, err := s.read(&e)
	return rec, &e, err
}

// close closes the files.
func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.segments {
		if g.file != nil {
			g.file.Close()
			g.file = nil
		}
	}
}
