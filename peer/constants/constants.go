// Package constants keeps the constants that arguments of own runs name. They are handed in before the run, each in a
// file of its own, so that the owner has them again after a restart. They stay as long as such a run goes on or is
// suspended, and a while beyond, for the next run with the same database.
package constants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
	"weak"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/sharedobj"
)

// A Store keeps them, in a directory. Its methods may be called at the same time; all but Fits, Keep, Forget and Lend
// wait for the disk.
type Store struct {
	*base.Base
	dir  string
	Most uint64 // bytes of all that one run names

	mu    sync.Mutex
	runs  map[job.RunID][]statement.Constant // own ones
	idle  map[string]time.Time               // since when none names it
	given weak.Pointer[sharedobj.Body]       // the last that was handed in, for its run
}

const (
	// constantIdle is how long one stays that no run names.
	constantIdle = 10 * time.Minute
	// maxConstantsIdle bounds those: of more than that the ones that have been idle for the longest go.
	maxConstantsIdle = 32
	constantFile     = ".constant"
	maxConstantHead  = 1 << 10
	constantStep     = 1 << 20 // bytes that are read before it is asked whether somebody still wants them
)

// Open takes what earlier lives have left for idle until runs name it.
func Open(b *base.Base, state string, most uint64) (*Store, error) {
	c := &Store{Base: b, dir: filepath.Join(state, "constants"), Most: most,
		runs: map[job.RunID][]statement.Constant{}, idle: map[string]time.Time{}}
	durable.Sweep(c.dir)
	list, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) { // it is made with the first one
		return c, nil
	}
	for _, e := range list {
		if name := e.Name(); filepath.Ext(name) == constantFile {
			c.idle[name[:len(name)-len(constantFile)]] = b.Now()
		}
	}
	return c, err
}

func (c *Store) path(digest string) string { return filepath.Join(c.dir, digest+constantFile) }

// Fits says why a run that names so many bytes is none for this peer; "" if it is one.
func (c *Store) Fits(list []statement.Constant) string {
	all := uint64(0)
	for _, n := range list {
		all += n.Size // of few, each bounded
	}
	if all <= c.Most {
		return ""
	}
	return fmt.Sprintf("its input has %d MiB, and one run may share %d MiB here: allow more by the setting objects_memory",
		Mebibytes(all), c.Most>>20)
}

// Mebibytes are so many bytes, rounded up.
func Mebibytes(n uint64) uint64 { return (n + 1<<20 - 1) >> 20 }

// Add takes one in, if it is not here; without a reader it says whether it is.
func (c *Store) Add(ctx context.Context, k control.Constant, from io.Reader) (control.ConstantInfo, error) {
	digest, ok := wire.ParseHash(k.Digest)
	if !ok || k.Name == "" || len(k.Name) > statement.MaxConstantName || k.Size < 0 {
		return control.ConstantInfo{}, control.Errorf(control.ErrBadInput, "%q of %d bytes is no constant",
			plain.Clip(k.Name), k.Size)
	}
	if why := c.Fits([]statement.Constant{{Size: uint64(k.Size)}}); why != "" {
		return control.ConstantInfo{}, control.Errorf(control.ErrBadInput, "%s", why)
	}
	c.Prune(c.Now())
	if here := c.touch(k.Digest); here || from == nil {
		return control.ConstantInfo{Here: here}, nil
	}
	data, err := take(ctx, from, k.Size)
	if err != nil {
		return control.ConstantInfo{}, control.Errorf(control.ErrBadInput, "a constant of %d bytes: %v", k.Size, err)
	}
	body := sharedobj.Build(data)
	head := statement.Constant{Name: k.Name, Size: body.Size, Top: body.Top}
	if Recipe(&head).Digest() != sharedobj.Digest(digest) {
		return control.ConstantInfo{}, control.Errorf(control.ErrBadInput,
			"a constant of %d bytes: they are not those that its name is a hash of", k.Size)
	}
	if err := c.take(k.Digest, &head, data); err != nil {
		return control.ConstantInfo{}, err
	}
	c.mu.Lock()
	c.given = weak.Make(body)
	c.mu.Unlock()
	return control.ConstantInfo{Here: true}, nil
}

// take writes one down, for a run to come.
func (c *Store) take(digest string, head *statement.Constant, data []byte) error {
	if err := c.write(digest, head, data); err != nil {
		return control.Errorf(control.ErrUnavailable, "the input cannot be kept: %v", err)
	}
	c.mu.Lock()
	c.idle[digest] = c.Now()
	c.mu.Unlock()
	return nil
}

// take reads so many bytes, and that there are no more. Memory is set aside for all, once, and is not used before
// they come.
func take(ctx context.Context, from io.Reader, size int64) (data []byte, err error) {
	data = make([]byte, size)
	for have := int64(0); have < size && err == nil; {
		step := min(constantStep, size-have)
		_, err = io.ReadFull(from, data[have:have+step])
		err = errors.Join(err, ctx.Err())
		have += step
	}
	if err != nil {
		return nil, fmt.Errorf("fewer have come: %w", err)
	}
	if n, _ := from.Read(make([]byte, 1)); n > 0 {
		return nil, errors.New("more have come")
	}
	return data, nil
}

// Recipe is what a constant that a manifest names is made from.
func Recipe(k *statement.Constant) *sharedobj.Recipe {
	return &sharedobj.Recipe{Kind: sharedobj.Constant, Name: k.Name,
		State: sharedobj.Blob{Size: k.Size, Top: k.Top}}
}

func (c *Store) write(digest string, head *statement.Constant, data []byte) error {
	if err := checkpoint.MakeDir(checkpoint.Disk{}, c.dir); err != nil {
		return err
	}
	b, err := wire.Value().Encode(head)
	if err != nil {
		return err
	}
	return durable.Write(c.path(digest), 0o600, true, func(w io.Writer) error {
		if err := wire.WriteFrame(w, b, maxConstantHead); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	})
}

// touch says whether one is here, and has it stay for a while.
func (c *Store) touch(digest string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := os.Stat(c.path(digest)); err != nil {
		return false
	}
	if _, idle := c.idle[digest]; idle {
		c.idle[digest] = c.Now()
	}
	return true
}

// read gives what the file of one begins with, and the rest of it if that is wanted.
func (c *Store) read(path string, whole bool) (head statement.Constant, data []byte, err error) {
	f, err := durable.Open(path, os.O_RDONLY)
	if err != nil {
		return head, nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := wire.ReadFrame(f, nil, maxConstantHead)
	if err == nil {
		err = wire.Value().Decode(b, &head)
	}
	if err == nil && whole {
		data, err = c.rest(f, &head)
	}
	return head, data, err
}

// rest reads what comes after the head, which must be as much as that says and no more than may be here.
func (c *Store) rest(f *os.File, head *statement.Constant) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	if size := uint64(info.Size() - at); size != head.Size || size > c.Most {
		return nil, fmt.Errorf("%s: it has been changed", f.Name())
	}
	data := make([]byte, head.Size)
	_, err = io.ReadFull(f, data)
	return data, err
}

// Named gives what a manifest says of those that are here.
func (c *Store) Named(digests []string) (list []statement.Constant, err error) {
	for _, d := range digests {
		if _, ok := wire.ParseHash(d); !ok || !c.touch(d) {
			return nil, control.Errorf(control.ErrBadInput, "the input %s is not here: hand the run in again",
				plain.Clip(d))
		}
		head, _, err := c.read(c.path(d), false)
		if err != nil {
			return nil, control.Errorf(control.ErrUnavailable, "the input cannot be read: %v", err)
		}
		list = append(list, head)
	}
	return list, nil
}

// Keep has those stay that an own run names, until it is forgotten.
func (c *Store) Keep(m *statement.SignedManifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(m.Constants) == 0 {
		return
	}
	c.runs[m.Run] = m.Constants
	for i := range m.Constants {
		delete(c.idle, digestOf(&m.Constants[i]))
	}
}

func digestOf(k *statement.Constant) string {
	d := Recipe(k).Digest()
	return fmt.Sprintf("%x", d[:])
}

// Forget is called when a run is over.
func (c *Store) Forget(run job.RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.runs[run]
	delete(c.runs, run)
	for i := range old {
		c.idle[digestOf(&old[i])] = c.Now()
	}
	for _, others := range c.runs {
		for i := range others {
			delete(c.idle, digestOf(&others[i]))
		}
	}
}

// Prune removes what no run has named for a while, and what is too much.
func (c *Store) Prune(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		oldest := ""
		for d, since := range c.idle {
			if oldest == "" || since.Before(c.idle[oldest]) {
				oldest = d
			}
		}
		if oldest == "" || now.Sub(c.idle[oldest]) < constantIdle && len(c.idle) <= maxConstantsIdle {
			return
		}
		delete(c.idle, oldest)
		if err := os.Remove(c.path(oldest)); err != nil {
			c.Log.Warn("an input that no run names any more cannot be removed", "error", err)
		}
	}
}

// whole reads the file of one, and sees that it is that one.
func (c *Store) whole(path string, k *statement.Constant) (*sharedobj.Body, error) {
	_, data, err := c.read(path, true)
	if err != nil {
		return nil, err
	}
	body := sharedobj.Build(data)
	if body.Blob != Recipe(k).State {
		return nil, fmt.Errorf("%s: it has been changed", path)
	}
	return body, nil
}

// Bring takes in what a run names whose checkpoint is in a directory. That is there, or where its peer has its
// constants, unless it is here; if not, the error says what is missing.
func (c *Store) Bring(dir string, list []statement.Constant) error {
	for i := range list {
		k, name := &list[i], digestOf(&list[i])
		if c.touch(name) {
			continue
		}
		file := name + constantFile
		body, err := c.whole(filepath.Join(dir, file), k)
		if errors.Is(err, fs.ErrNotExist) {
			body, err = c.whole(filepath.Join(dir, "..", "..", filepath.Base(c.dir), file), k)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return control.Errorf(control.ErrRefused, "%d MiB of the run's input are missing: copy %s, "+
				"from the folder constants of the owner's state directory, into %s", Mebibytes(k.Size), file, dir)
		case err != nil:
			return control.Errorf(control.ErrRefused, "the run's input cannot be used: %s", plain.OneLine(err))
		}
		if err := c.take(name, k, body.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// A Lender is a session of a run, which is given objects that its jobs read.
type Lender interface {
	Lend(*sharedobj.Recipe, *sharedobj.Body)
}

// Lend gives a session of an own run what its argument names. It does not wait for the disk.
func (c *Store) Lend(m *statement.SignedManifest, s Lender) {
	c.mu.Lock()
	list := c.runs[m.Run]
	c.mu.Unlock()
	if len(list) == 0 {
		return
	}
	c.Spawn(func(context.Context) {
		for i := range list {
			c.mu.Lock()
			body := c.given.Value()
			c.mu.Unlock()
			var err error
			if body == nil || body.Blob != Recipe(&list[i]).State {
				body, err = c.whole(c.path(digestOf(&list[i])), &list[i])
			}
			if err != nil {
				c.Log.Error("the input of a run cannot be read: it waits for a member that has it", "run", m.Run, "error",
					plain.OneLine(err))
				continue
			}
			s.Lend(Recipe(&list[i]), body)
		}
	})
}
