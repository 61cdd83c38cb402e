package library

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// Host is what a library needs of the peer that it is part of.
type Host struct {
	Dir  string // of the files
	Self PeerID
	// Replace writes a file whole, and returns when it is on the disk.
	Replace func(path string, fill func(io.Writer) error) error
	// Send sends a message to m.To. It must not block, and may lose it; then it may have NotSent called, later.
	Send func(m *sharedobj.Message)
	// Here is told what has come that was wanted, without a lock, on a goroutine of the library's.
	Here func(h Hash)
	Log  *slog.Logger
}

// A Library carries out what a Core decides. Its methods may be called from any goroutine.
type Library struct {
	host  Host
	kind  Kind
	began time.Time
	kick  chan struct{} // the core's next time may have changed
	quit  chan struct{}
	wg    sync.WaitGroup
	users atomic.Uint64 // of Fetch so far

	mu    sync.Mutex
	core  *Core
	tasks []func() // for the disk and the host, in order
	bell  chan struct{}
}

// compiledDir is where code is kept that was compiled of modules.
const compiledDir = "compiled"

// Open opens what is kept in a folder, which it makes.
func Open(cfg Config, host Host) (*Library, error) {
	if err := os.MkdirAll(filepath.Join(host.Dir, compiledDir), 0o700); err != nil {
		return nil, err
	}
	l := &Library{host: host, kind: cfg.Kind, began: time.Now(), kick: make(chan struct{}, 1),
		bell: make(chan struct{}, 1), quit: make(chan struct{})}
	core, err := New(cfg, host.Self, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), l.scan())
	if err != nil {
		return nil, err
	}
	l.core = core
	l.do(func(time.Duration) Orders { return core.Unuse("") }) // the bound may be smaller than it was
	l.wg.Go(l.tick)
	l.wg.Go(l.work)
	return l, nil
}

// Close ends what is under way; what was to be written is.
func (l *Library) Close() {
	close(l.quit)
	l.wg.Wait()
}

func (l *Library) now() time.Duration { return time.Since(l.began) + time.Second }

// do gives the core an input and carries out what follows.
func (l *Library) do(f func(now time.Duration) Orders) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.carryOut(f(l.now()))
}

// carryOut has orders carried out; the mutex is held.
func (l *Library) carryOut(o Orders) {
	for _, h := range o.Remove {
		l.tasks = append(l.tasks, func() { l.remove(h) })
	}
	for _, s := range o.Store {
		l.tasks = append(l.tasks, func() { l.write(s) })
	}
	for _, h := range o.Load {
		l.tasks = append(l.tasks, func() { l.load(h) })
	}
	for _, h := range o.Here {
		l.tasks = append(l.tasks, func() { l.host.Here(h) })
	}
	for _, m := range o.Messages {
		l.host.Send(m)
	}
	ring(l.kick)
	ring(l.bell)
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// tick lets the core's time pass.
func (l *Library) tick() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.mu.Lock()
		next := l.core.Next()
		l.mu.Unlock()
		wait := time.Hour
		if next != 0 {
			wait = max(next-l.now(), 0)
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
			l.do(l.core.Tick)
		case <-l.kick:
		case <-l.quit:
			return
		}
	}
}

// work does what takes its time, in order, and at the end what is left of it.
func (l *Library) work() {
	for over := false; !over; {
		select {
		case <-l.bell:
		case <-l.quit:
			over = true
		}
		for {
			l.mu.Lock()
			if len(l.tasks) == 0 {
				l.mu.Unlock()
				break
			}
			task := l.tasks[0]
			l.tasks = l.tasks[1:]
			l.mu.Unlock()
			task()
		}
	}
}

// Has says whether a module is here.
func (l *Library) Has(h Hash) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Has(h)
}

// Wanted says whether a module is being fetched.
func (l *Library) Wanted(h Hash) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Wanted(h)
}

// Files lists the modules on the disk, the one used longest ago first.
func (l *Library) Files() []File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Files()
}

// Add takes in a module from this machine. The bytes may not be changed any more. It waits until they are on the disk,
// or cannot be: a run that is begun with them goes on after a crash.
func (l *Library) Add(bin []byte) Hash {
	r, b := l.kind.AsConstant(bin)
	written := make(chan struct{})
	l.do(func(now time.Duration) Orders {
		l.carryOut(l.core.Add(now, r, b))
		l.tasks = append(l.tasks, func() { close(written) })
		return Orders{}
	})
	select {
	case <-written:
	case <-l.quit:
	}
	return Hash(r.Digest())
}

// Want has a module fetched for a run: see Core.Want.
func (l *Library) Want(h Hash, run string, owner PeerID, holders ...PeerID) {
	l.do(func(now time.Duration) Orders { return l.core.Want(now, h, run, owner, holders...) })
}

// Use says that a run needs a module from now on, and gives its bytes, which are not to be changed, and a folder
// for what is compiled of it; nil if it is not here.
func (l *Library) Use(h Hash, run string) (bin []byte, compiled string) {
	if bin = l.Hold(h, run); bin == nil {
		return nil, ""
	}
	compiled = filepath.Join(l.host.Dir, compiledDir, name(h))
	if err := os.MkdirAll(compiled, 0o700); err != nil {
		l.host.Log.Warn("compiled code of modules cannot be kept", "error", err)
		compiled = ""
	}
	return bin, compiled
}

// Hold is Use for what is not compiled.
func (l *Library) Hold(h Hash, user string) (b []byte) {
	if b = l.Bytes(h); b == nil {
		return nil
	}
	l.mu.Lock()
	l.core.Use(l.now(), h, user)
	l.mu.Unlock()
	now := time.Now()
	_ = os.Chtimes(l.path(h), now, now) // not on the disk, perhaps
	return b
}

// Unuse says that a run does not need its module any more, nor waits for it.
func (l *Library) Unuse(run string, h Hash) {
	size := l.sizeOf(h)
	l.do(func(time.Duration) Orders {
		if size > 0 {
			l.carryOut(l.core.Sized(h, size))
		}
		return l.core.Unuse(run)
	})
}

// Size is that of a module on the disk; 0 if it is not there.
func (l *Library) Size(h Hash) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Size(h)
}

// Length is that of a module's own file, without what was compiled of it; 0 if it is not there.
func (l *Library) Length(h Hash) int64 {
	info, err := os.Stat(l.path(h))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Drop removes a module, whoever needs it.
func (l *Library) Drop(h Hash) {
	l.do(func(time.Duration) Orders { return l.core.Drop(h) })
}

// Fetch gives the bytes of a module to this machine's user, which are not to be changed, once they are here; nil if ctx
// ends before. Holders should have it.
func (l *Library) Fetch(ctx context.Context, h Hash, holders ...PeerID) []byte {
	user := fmt.Sprintf("user %d", l.users.Add(1)) // one name for each that waits
	defer l.Unuse(user, h)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if l.Has(h) {
			if b := l.Hold(h, user); b != nil {
				return b
			}
		}
		if !l.Wanted(h) {
			l.Want(h, user, "", holders...)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// Received takes in a message that m.From, a member, has sent.
func (l *Library) Received(m *sharedobj.Message) {
	l.do(func(now time.Duration) Orders { return l.core.Received(now, m) })
}

// SetMembers says who there is, this peer among them.
func (l *Library) SetMembers(list []sharedobj.Member) {
	l.do(func(now time.Duration) Orders { return l.core.SetMembers(now, list) })
}

// NotSent says that a message was certainly not delivered.
func (l *Library) NotSent(m *sharedobj.Message) {
	l.do(func(now time.Duration) Orders { return l.core.NotSent(now, m) })
}

// Bytes is a module, not to be changed; nil if it is not here.
func (l *Library) Bytes(h Hash) []byte {
	l.mu.Lock()
	bin := l.core.InMemory(h)
	l.mu.Unlock()
	if bin == nil {
		if bin, _, _ = l.read(h); bin == nil {
			l.do(func(now time.Duration) Orders { return l.core.Loaded(now, h, nil, nil) })
		}
	}
	return bin
}

func name(h Hash) string { return hex.EncodeToString(h[:]) }

func (l *Library) path(h Hash) string { return filepath.Join(l.host.Dir, name(h)+l.kind.Suffix) }

// scan lists the files of earlier lives, and removes what is left of others.
func (l *Library) scan() (files []File) {
	durable.Sweep(l.host.Dir)
	entries, err := os.ReadDir(l.host.Dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), l.kind.Suffix)
		h, named := wire.ParseHash(text)
		info, bad := e.Info()
		if !ok || !named || bad != nil || !info.Mode().IsRegular() {
			continue
		}
		files = append(files, File{Hash: h, Size: l.sizeOf(h), Used: min(info.ModTime().Sub(l.began), 0)})
	}
	l.sweepCompiled()
	return files
}

// sweepCompiled removes what is compiled of modules that are not here: nothing counts it.
func (l *Library) sweepCompiled() {
	dir := filepath.Join(l.host.Dir, compiledDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if h, ok := wire.ParseHash(e.Name()); ok && l.Length(h) == 0 {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// sizeOf is how much of the disk a module takes, with what was compiled of it.
func (l *Library) sizeOf(h Hash) (n int64) {
	n = l.Length(h)
	dir := filepath.Join(l.host.Dir, compiledDir, name(h))
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// read reads and verifies a file.
func (l *Library) read(h Hash) ([]byte, *sharedobj.Recipe, *sharedobj.Body) {
	f, err := os.Open(l.path(h))
	if err != nil {
		return nil, nil, nil
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() > l.kind.Most {
		return nil, nil, nil
	}
	bin := make([]byte, info.Size())
	if _, err := f.ReadAt(bin, 0); err != nil {
		return nil, nil, nil
	}
	r, b := l.kind.AsConstant(bin)
	if Hash(r.Digest()) != h {
		l.host.Log.Warn("a file was damaged, and is fetched again", "kind", l.kind.Name, "hash", h)
		return nil, nil, nil
	}
	return bin, r, b
}

func (l *Library) load(h Hash) {
	_, r, b := l.read(h)
	l.do(func(now time.Duration) Orders { return l.core.Loaded(now, h, r, b) })
}

func (l *Library) remove(h Hash) {
	_ = os.Remove(l.path(h)) // what stays is found at the next start
	_ = os.RemoveAll(filepath.Join(l.host.Dir, compiledDir, name(h)))
}

func (l *Library) write(s Stored) {
	if err := l.host.Replace(l.path(s.Hash), durable.Bytes(s.Bytes)); err != nil {
		l.host.Log.Warn("a file cannot be kept on the disk", "kind", l.kind.Name, "hash", s.Hash, "error", err)
		l.mu.Lock()
		l.core.NotStored(s.Hash)
		l.mu.Unlock()
	}
}
