package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

var (
	errCrashed = errors.New("the machine has crashed")
	errSync    = errors.New("injected failure of a sync")
)

// memFS is a file system in memory that knows what is on disk and what is not: writes to a file until it is
// synced, and names in a directory until the directory is. It counts what changes it, crashes after any
// count, and crash gives what a disk may hold then.
type memFS struct {
	mu       sync.Mutex
	names    map[string]*inode // files and directories, by path
	durable  map[string]*inode // of which a crash knows
	pending  []nameChange
	locked   map[string]bool
	ops      int
	crashAt  int // no operation after that many; 0: never
	crashed  bool
	capacity int  // bytes of all files; 0: no limit
	readOnly bool // EROFS
	badSyncs int  // so many syncs of files fail, and what they should have synced never reaches the disk
}

type inode struct {
	dir     bool
	data    []byte // as it is read
	durable []byte
	pending []dataChange
}

type dataChange struct {
	off      int
	data     []byte
	truncate bool
}

// nameChange gives inode the name to, and takes the name from away; either may be empty.
type nameChange struct {
	dir, from, to string
	node          *inode
}

func newMemFS() *memFS {
	root := &inode{dir: true}
	return &memFS{names: map[string]*inode{"/": root}, durable: map[string]*inode{"/": root}, locked: map[string]bool{}}
}

// change counts an operation and says whether it may happen.
func (m *memFS) change() error {
	if m.crashed {
		return errCrashed
	}
	if m.readOnly {
		return syscall.EROFS
	}
	m.ops++
	if m.ops == m.crashAt {
		m.crashed = true // this one still happens
	}
	return nil
}

func (m *memFS) link(to string, n *inode) {
	m.names[to] = n
	m.pending = append(m.pending, nameChange{filepath.Dir(to), "", to, n})
}

func (m *memFS) Mkdir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[dir] != nil {
		return fs.ErrExist
	}
	if m.names[filepath.Dir(dir)] == nil {
		return fs.ErrNotExist
	}
	if err := m.change(); err != nil {
		return err
	}
	m.link(dir, &inode{dir: true})
	return nil
}

func (m *memFS) List(dir string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[dir] == nil {
		return nil, fs.ErrNotExist
	}
	for name := range m.names {
		if filepath.Dir(name) == dir && name != dir {
			names = append(names, filepath.Base(name))
		}
	}
	return names, nil
}

func (m *memFS) Open(name string) (ReadFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.crashed {
		return nil, errCrashed
	}
	n := m.names[name]
	if n == nil {
		return nil, fs.ErrNotExist
	}
	return memFile{m, n}, nil
}

func (m *memFS) Create(name string) (WriteFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[name] != nil {
		return nil, fs.ErrExist
	}
	if err := m.change(); err != nil {
		return nil, err
	}
	n := &inode{}
	m.link(name, n)
	return memFile{m, n}, nil
}

func (m *memFS) SyncFile(name string) error {
	m.mu.Lock()
	n := m.names[name]
	m.mu.Unlock()
	if n == nil {
		return fs.ErrNotExist
	}
	return memFile{m, n}.Sync()
}

func (m *memFS) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	m.pending = slices.DeleteFunc(m.pending, func(c nameChange) bool {
		if c.dir == dir {
			c.apply(m.durable)
		}
		return c.dir == dir
	})
	return nil
}

func (c nameChange) apply(names map[string]*inode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.node
	}
}

func (m *memFS) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[from]
	if n == nil {
		return fs.ErrNotExist
	}
	if m.names[to] != nil {
		panic("rename overwrites " + to)
	}
	if err := m.change(); err != nil {
		return err
	}
	c := nameChange{filepath.Dir(to), from, to, n}
	c.apply(m.names)
	m.pending = append(m.pending, c)
	return nil
}

func (m *memFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[name] == nil {
		return fs.ErrNotExist
	}
	if err := m.change(); err != nil {
		return err
	}
	delete(m.names, name)
	m.pending = append(m.pending, nameChange{filepath.Dir(name), name, "", nil})
	return nil
}

func (m *memFS) Lock(name string) (func() error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readOnly {
		return nil, syscall.EROFS
	}
	if m.locked[name] {
		return nil, ErrLocked
	}
	m.locked[name] = true
	return func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locked, name)
		return nil
	}, nil
}

type memFile struct {
	m *memFS
	n *inode
}

func (f memFile) Close() error { return nil }

func (f memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return int64(len(f.n.data)), nil
}

func (f memFile) ReadAt(b []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if off > int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.n.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f memFile) Write(b []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.change(); err != nil {
		return 0, err
	}
	full := false
	if f.m.capacity > 0 {
		if room := max(0, f.m.capacity-f.m.used()); room < len(b) {
			b, full = b[:room], true
		}
	}
	f.n.pending = append(f.n.pending, dataChange{off: len(f.n.data), data: slices.Clone(b)})
	f.n.data = append(f.n.data, b...)
	if full {
		return len(b), syscall.ENOSPC
	}
	return len(b), nil
}

func (m *memFS) used() (sum int) {
	for _, n := range m.names {
		sum += len(n.data)
	}
	return sum
}

func (f memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.change(); err != nil {
		return err
	}
	if f.m.badSyncs > 0 {
		f.m.badSyncs--
		f.n.pending = nil // as Linux does: the pages count as clean, and are not written
		return errSync
	}
	for _, c := range f.n.pending {
		f.n.durable = c.apply(f.n.durable)
	}
	f.n.pending = nil
	return nil
}

func (c dataChange) apply(b []byte) []byte {
	if c.truncate {
		return slices.Clone(b[:min(c.off, len(b))])
	}
	if len(b) < c.off {
		b = append(b, make([]byte, c.off-len(b))...)
	}
	return append(slices.Clone(b[:c.off]), c.data...)
}

func (f memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.change(); err != nil {
		return err
	}
	f.n.data = slices.Clone(f.n.data[:size])
	f.n.pending = append(f.n.pending, dataChange{off: int(size), truncate: true})
	return nil
}

// room lets all files grow by so many bytes together; 0 is no limit.
func (m *memFS) room(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.capacity = 0; bytes > 0 {
		m.capacity = m.used() + bytes
	}
}

// failSyncs lets the next n syncs of files fail.
func (m *memFS) failSyncs(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.badSyncs = n
}

// stop lets no operation happen any more.
func (m *memFS) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crashed = true
}

// A crashKind is what a crash may leave of what was not synced.
type crashKind int

const (
	killed       crashKind = iota // only the process: everything is there, and still not on disk
	allLost                       // nothing that was not synced
	allKept                       // everything
	namesKept                     // names, but no data: files of the length 0, or as they were
	zerosKept                     // names and lengths, but zeros for data
	dataKept                      // data, but no names
	lastTorn                      // everything but the second half of each file's last write
	lastHalfLost                  // everything, but zeros for the first half of each file's last write
	random                        // each sector and each name or not; this and what follows, by the seed
	crashKinds   = random + 6
)

const sector = 64 // bytes; small, so that a small record has several

// crash gives the file system after a crash.
func (m *memFS) crash(kind crashKind) *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := newMemFS()
	if kind == killed {
		after.names, after.durable, after.pending = m.names, m.durable, m.pending
		return after
	}
	rng := rand.New(rand.NewPCG(uint64(kind), uint64(m.ops)))
	names := maps.Clone(m.durable)
	for i, c := range m.pending {
		switch {
		case kind == allLost || kind == dataKept:
		case kind < random, kind%2 == 0 && i < rng.IntN(len(m.pending)+1), kind%2 == 1 && rng.IntN(2) == 0:
			c.apply(names)
		}
	}
	made := map[*inode]*inode{}
	for name, n := range names {
		if names[filepath.Dir(name)] == nil {
			continue // its directory is lost
		}
		if made[n] == nil {
			data := n.after(kind, rng)
			made[n] = &inode{dir: n.dir, data: data, durable: slices.Clone(data)}
		}
		after.names[name], after.durable[name] = made[n], made[n]
	}
	return after
}

// after gives what is left of a file.
func (n *inode) after(kind crashKind, rng *rand.Rand) []byte {
	data := slices.Clone(n.durable)
	for i, c := range n.pending {
		last := i == len(n.pending)-1
		switch {
		case c.truncate:
			if kind != allLost && kind != namesKept && (kind < random || rng.IntN(2) == 0) {
				data = c.apply(data)
			}
			continue
		case kind == allLost || kind == namesKept:
			continue
		case kind == zerosKept:
			c.data = make([]byte, len(c.data))
		case kind == lastTorn && last:
			c.data = c.data[:len(c.data)/2]
		case kind == lastHalfLost && last:
			c.data = slices.Clone(c.data)
			clear(c.data[:len(c.data)/2])
		case kind >= random:
			c.data = slices.Clone(c.data)
			for at := 0; at < len(c.data); at += sector {
				if rng.IntN(2) == 0 {
					clear(c.data[at:min(at+sector, len(c.data))])
				}
			}
			if rng.IntN(3) == 0 {
				c.data = c.data[:rng.IntN(len(c.data)+1)]
			}
		}
		data = c.apply(data)
	}
	return data
}

// files gives the files of a directory.
func (m *memFS) files(dir string) map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string][]byte{}
	for name, n := range m.names {
		if filepath.Dir(name) == dir && !n.dir {
			all[filepath.Base(name)] = slices.Clone(n.data)
		}
	}
	return all
}

// put writes a file, on disk.
func (m *memFS) put(name string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for dir := filepath.Dir(name); m.names[dir] == nil; dir = filepath.Dir(dir) {
		n := &inode{dir: true}
		m.names[dir], m.durable[dir] = n, n
	}
	n := &inode{data: slices.Clone(data), durable: slices.Clone(data)}
	m.names[name], m.durable[name] = n, n
}
