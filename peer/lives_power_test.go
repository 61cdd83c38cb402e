package peer

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

// A platter is what outlasts a power cut of a member's disk: what was synced. What was not may be there, in part or
// not at all.
type platter struct {
	w     *livesWorld
	trash string // where files are that were removed, or replaced, and may come back

	mu     sync.Mutex
	trashN int
	names  []nameChange     // in the order in which they were made, not synced yet
	synced map[string]int64 // of files that were written, how much is; all of the others
}

// A nameChange is in a directory.
type nameChange struct {
	dir  string
	undo func()
}

func newPlatter(w *livesWorld, dir string) *platter {
	return &platter{w: w, trash: dir + "-trash", synced: map[string]int64{}}
}

// changed notes that a name was changed.
func (p *platter) changed(path string, undo func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = append(p.names, nameChange{filepath.Dir(path), undo})
}

// flushed says that the names in a directory are on the disk.
func (p *platter) flushed(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = slices.DeleteFunc(p.names, func(c nameChange) bool { return c.dir == dir })
}

// wrote notes how much of a file is on the disk.
func (p *platter) wrote(path string, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.synced[path] = size
}

// isFlushed says that all of a directory is on the disk.
func (p *platter) isFlushed(dir string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, size := range p.synced {
		if info, err := os.Stat(path); filepath.Dir(path) == dir && err == nil && info.Size() > size {
			return false
		}
	}
	return !slices.ContainsFunc(p.names, func(c nameChange) bool { return c.dir == dir || c.dir == filepath.Dir(dir) })
}

// aside is a name for what is to come back, perhaps.
func (p *platter) aside() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trashN++
	_ = os.Mkdir(p.trash, 0o700)
	return filepath.Join(p.trash, strconv.Itoa(p.trashN))
}

// move gives a file or a directory another name, with what is known of it.
func (p *platter) move(from, to string) error {
	err := os.Rename(from, to)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	moved := map[string]int64{}
	for path, size := range p.synced {
		if rest, below := strings.CutPrefix(path, from); below && (rest == "" || rest[0] == filepath.Separator) {
			delete(p.synced, path)
			moved[to+rest] = size
		}
	}
	maps.Copy(p.synced, moved)
	return nil
}

// remove removes what may come back: of a directory some of what was in it.
func (p *platter) remove(path string) error {
	old := p.aside()
	if err := p.move(path, old); err != nil {
		return err
	}
	p.changed(path, func() {
		_ = p.move(old, path)
		whole := p.w.chance(0.5)
		for _, file := range filesIn(path, func(file string) bool { return whole || file == path }) {
			if p.w.chance(0.5) {
				_ = os.Remove(file)
			}
		}
	})
	return nil
}

// replace does what may put another file at a path, and says how it is undone.
func (p *platter) replace(path string, do func() error) (undo func(), err error) {
	old := p.aside()
	was := os.Link(path, old) == nil
	return func() {
		if was {
			_ = p.move(old, path)
		} else {
			_ = os.Remove(path)
		}
	}, do()
}

// cut takes the power away: of each directory only the first changes are there that were not synced, or none; of each
// file what was synced, and some of the rest, which may be zeros.
func (p *platter) cut() {
	p.mu.Lock()
	list, left, kept := p.names, map[string]int{}, map[string]int{}
	p.names = nil
	for _, c := range list {
		left[c.dir]++
	}
	p.mu.Unlock()
	for _, dir := range slices.Sorted(maps.Keys(left)) {
		kept[dir] = max(0, p.w.below(2*left[dir]+2)-left[dir]-1)
	}
	for _, c := range slices.Backward(list) {
		if left[c.dir]--; left[c.dir] >= kept[c.dir] {
			c.undo()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(p.synced)) {
		if b, err := os.ReadFile(path); err == nil && int64(len(b)) > p.synced[path] {
			size := int(p.synced[path])
			b = b[:size+p.w.below(len(b)-size+1)]
			if p.w.chance(0.5) {
				clear(b[size+p.w.below(len(b)-size+1):])
			}
			_ = os.WriteFile(path, b, 0o600)
		}
	}
	clear(p.synced)
	_ = os.RemoveAll(p.trash)
}

// drawn gives a part of a peer the disk of a life in a directory, of which a seed says what a power cut leaves.
func drawn(b *base.Base, seed uint64, dir string) *moodyDisk {
	w := newLives(seed, nil, nil)
	d := &moodyDisk{moods: &moods{w: w}, platter: newPlatter(w, dir)}
	b.Medium = d
	return d
}

// What a life finds of one that was cut off before it had flushed its name stays there: what goes because of it does
// not come back.
func TestFoundFilesOutliveAPowerCut(t *testing.T) {
	for seed := range uint64(20) {
		b, _ := standing()
		dir := t.TempDir()
		d := drawn(b, seed, dir)
		open := func() *cabinet.Cabinet {
			c, err := base.OpenCabinet(b, filepath.Join(dir, "answers"), ".answer", 2)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		if err := d.Mkdir(filepath.Join(dir, "answers")); err != nil { // and the process was killed
			t.Fatal(err)
		}
		d.deaf = true
		if err := open().Write("one", []byte("1")); !errors.Is(err, errName) {
			t.Fatal(err)
		}
		there := open().Has("one")
		d.platter.cut()
		if !there || !open().Has("one") {
			t.Fatalf("seed %d: it was found (%t), and is gone", seed, there)
		}
	}
}

// A power cut while the checkpoint of a run is removed leaves all of it or what the next life removes, and nothing that
// cannot be read.
func TestErasedWhole(t *testing.T) {
	for seed := range uint64(20) {
		c, signed := ofARun(t)
		d := drawn(c.Base, seed, c.Dir)
		for i := range uint32(2) { // each writes a file
			k := c.Ledger(signed.Run)
			l, err := k.Open(signed, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.AppendOutcome([]uint32{i + 1}, [16]byte{1}, []byte{1}, nil)
			k.Close(false)
		}
		c.Remove(signed.Run)
		d.platter.cut()
		list := c.Left(func(job.RunID) bool { return false })
		files := filesIn(c.Dir, func(string) bool { return false })
		if whole := len(list) == 1 && len(files) == 3; !whole && len(files) > 0 {
			t.Fatalf("seed %d: %d runs, %q", seed, len(list), files)
		}
	}
}

// A module that was handed in is there after a power cut, and so the run that is begun with it goes on.
func TestModulesOutliveAPowerCut(t *testing.T) {
	for seed := range uint64(20) {
		b, _ := standing()
		cfg := Config{Host: host.Config{StateDir: t.TempDir()}, Compute: []string{"satin-peer"}}
		d := drawn(b, seed, cfg.Host.StateDir)
		x := &modules{Base: b, changed: func() {}}
		if err := x.open(&cfg); err != nil {
			t.Fatal(err)
		}
		info, err := x.add(control.ModuleFile{Bytes: make([]byte, 1<<16)})
		if err != nil {
			t.Fatal(err)
		}
		d.set(func() { d.killed = true })
		x.close()
		d.platter.cut()
		if err := x.open(&cfg); err != nil {
			t.Fatal(err)
		}
		if list := x.list(); len(list) != 1 || list[0] != info {
			t.Fatalf("seed %d: there are %v, want %v", seed, list, info)
		}
		x.close()
	}
}
