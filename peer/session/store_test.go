package session_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

var _ session.Store = (*checkpoint.Log)(nil)

// badDisk is the disk, but what is written to it takes until the gate is opened, and then what the gate says.
type badDisk struct {
	checkpoint.Disk
	begun chan struct{} // a write has begun
	gate  chan struct{}
	err   error
	once  sync.Once
}

type badFile struct {
	checkpoint.WriteFile
	disk *badDisk
}

func (d *badDisk) Create(name string) (checkpoint.WriteFile, error) {
	f, err := d.Disk.Create(name)
	return badFile{f, d}, err
}

func (f badFile) Write(b []byte) (int, error) {
	f.disk.once.Do(func() { close(f.disk.begun) })
	<-f.disk.gate
	if f.disk.err != nil {
		return 0, f.disk.err
	}
	return f.WriteFile.Write(b)
}

func newBadDisk() *badDisk {
	return &badDisk{begun: make(chan struct{}), gate: make(chan struct{})}
}

// memStore is a store in memory.
type memStore struct {
	mu       sync.Mutex
	outcomes map[string]string // by path and identity
}

func (m *memStore) AppendOutcome(path []uint32, identity [16]byte, outcome, _ []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[fmt.Sprintf("%v %x", path, identity)] = string(outcome)
	return true
}

// agrees checks that what both have stored is the same.
func (m *memStore) agrees(t *testing.T, other *memStore) {
	t.Helper()
	theirs := other.all()
	for job, outcome := range m.all() {
		if o, ok := theirs[job]; ok && o != outcome {
			t.Errorf("two outcomes of job %s", job)
		}
	}
}

func (m *memStore) all() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.outcomes)
}

// only lists the jobs whose outcomes m has and none of the others.
func only(m *memStore, others []*memStore) (jobs []string) {
	mine := m.all()
	for _, o := range others {
		for job := range o.all() {
			delete(mine, job)
		}
	}
	return slices.Collect(maps.Keys(mine))
}

// openLog opens a checkpoint of the world's run.
func (w *world) openLog(dir string, cfg checkpoint.Config) *checkpoint.Log {
	w.t.Helper()
	l, err := checkpoint.Open(dir, checkpoint.HeaderOf(w.run.ID, []byte("manifest")), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// storedIn is what the checkpoints in some directories hold.
func (w *world) storedIn(dirs ...string) (parts []steal.Partial) {
	w.t.Helper()
	for _, dir := range dirs {
		s, err := checkpoint.Read(dir, checkpoint.HeaderOf(w.run.ID, []byte("manifest")), nil)
		if errors.Is(err, checkpoint.ErrNoCheckpoint) {
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		for r, err := range s.Records() {
			if err != nil {
				w.t.Fatal(err)
			}
			parts = append(parts, steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome})
		}
		s.Close()
	}
	return parts
}

// Nothing in front of the work waits for the disk: the run ends while the first write still hangs.
func TestTheDiskHoldsUpNobody(t *testing.T) {
	arg := newTree(t, 5)
	w := newWorld(t, 3, "session_test.tree", arg)
	disk := newBadDisk()
	dir := filepath.Join(t.TempDir(), "log")
	l := w.openLog(dir, checkpoint.Config{FS: disk, Interval: -1, QueueRecords: 4})
	p := w.start(0, l)
	w.start(1, nil)
	w.start(2, nil)
	if got := w.answer(); got != arg.want() {
		t.Errorf("got %v, want %d", got, arg.want())
	}
	<-disk.begun
	if st := l.Stats(); st.Acknowledged != 0 {
		t.Errorf("the disk was not in the way: %+v", st)
	}
	w.until("the store is told", func() bool { return l.Stats().Accepted > 0 })
	close(disk.gate)
	w.kill(p)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// the answer, which makes all else superfluous
	if parts := w.storedIn(dir); len(parts) != 1 || len(parts[0].Path) != 0 {
		t.Errorf("%d outcomes are stored", len(parts))
	}
}

// On a full disk the run goes on, and says so.
func TestFullDisk(t *testing.T) {
	arg := newTree(t, 5)
	w := newWorld(t, 2, "session_test.tree", arg)
	disk := newBadDisk()
	disk.err = syscall.ENOSPC
	close(disk.gate)
	l := w.openLog(filepath.Join(t.TempDir(), "log"), checkpoint.Config{FS: disk, Interval: -1, RetryEvery: time.Hour})
	w.start(0, l)
	w.start(1, nil)
	if got := w.answer(); got != arg.want() {
		t.Errorf("got %v, want %d", got, arg.want())
	}
	w.until("the log tells", func() bool { return errors.Is(l.Trouble(), checkpoint.ErrDiskFull) })
	if err := l.Close(); !errors.Is(err, checkpoint.ErrDiskFull) {
		t.Errorf("Close: %v", err)
	}
}
