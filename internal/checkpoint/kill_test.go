package checkpoint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// A child process writes a log on the real disk and prints what is acknowledged; its parent kills it.
const (
	childDir  = "CHECKPOINT_TEST_DIR"  // makes the test binary a child
	childSeed = "CHECKPOINT_TEST_SEED" // of the records it appends
	childKill = "CHECKPOINT_TEST_KILL" // it kills itself after so many operations on its files; 0: never
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childRecords is how many records a child appends, in which order depends on its seed.
const childRecords = 150

// child appends, and prints after each commit how many are acknowledged.
func child(dir string, out io.Writer) error {
	seed, err := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	if err != nil {
		return err
	}
	kill, err := strconv.Atoi(os.Getenv(childKill))
	if err != nil {
		return err
	}
	l, err := Open(dir, testHeader, Config{FS: &killingFS{left: kill}, Interval: time.Hour, SegmentBytes: 4 << 10})
	if err != nil {
		return err
	}
	for i, r := range childHistory(seed) {
		if !l.Append(r) {
			return fmt.Errorf("%s was not taken", r.tag())
		}
		if i%11 == 10 {
			if err := l.Sync(context.Background()); err != nil {
				return err
			}
			fmt.Fprintln(out, i+1)
		}
		if i == 100 {
			if err := l.Compact(context.Background()); err != nil {
				return err
			}
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	fmt.Fprintln(out, childRecords)
	return nil
}

func childHistory(seed uint64) (all []Record) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range childRecords {
		r := randomRecord(rng)
		if r.Kind == JobResult { // below another job for each child, so that not all is stored already
			r = truth(JobResult, append([]uint32{1 + uint32(seed%1000), rng.Uint32N(20)}, r.Path...), r.Identity[0])
		}
		all = append(all, r)
	}
	return all
}

// killingFS is the disk; after so many changes of it the process kills itself.
type killingFS struct {
	Disk
	left int
}

type killingFile struct {
	WriteFile
	fs *killingFS
}

func (k *killingFS) count(err error) error {
	if k.left--; k.left == 0 {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {}
	}
	return err
}

func (k *killingFS) Create(name string) (WriteFile, error) {
	f, err := k.Disk.Create(name)
	return killingFile{f, k}, k.count(err)
}
func (k *killingFS) SyncFile(name string) error   { return k.count(k.Disk.SyncFile(name)) }
func (k *killingFS) SyncDir(dir string) error     { return k.count(k.Disk.SyncDir(dir)) }
func (k *killingFS) Rename(from, to string) error { return k.count(k.Disk.Rename(from, to)) }
func (k *killingFS) Remove(name string) error     { return k.count(k.Disk.Remove(name)) }
func (f killingFile) Sync() error                 { return f.fs.count(f.WriteFile.Sync()) }
func (f killingFile) Write(b []byte) (int, error) {
	half := len(b) / 2
	n, err := f.WriteFile.Write(b[:half]) // so that a write can be cut in two
	if err = f.fs.count(err); err != nil {
		return n, err
	}
	m, err := f.WriteFile.Write(b[half:])
	return n + m, f.fs.count(err)
}

// begin starts a child.
func begin(t *testing.T, dir string, seed uint64, kill int) (c *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c = exec.Command(self)
	c.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("%s=%d", childSeed, seed),
		fmt.Sprintf("%s=%d", childKill, kill))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewScanner(out)
}

// life reads what a child says, and kills it after so many lines, if it lives so long.
func (h *history) life(t *testing.T, c *exec.Cmd, seed uint64, lines *bufio.Scanner, kill int) {
	t.Helper()
	acked := 0
	for line := 0; ; line++ {
		if line == kill {
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if !lines.Scan() {
			break
		}
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		acked = n
	}
	records := childHistory(seed)
	for _, r := range records {
		h.appended[r.tag()] = true
	}
	h.order = append(h.order, records[:acked]...)
	h.acked = len(h.order)
}

func (h *history) checkDisk(t *testing.T, dir string) {
	t.Helper()
	s, err := Read(dir, testHeader, nil)
	if err != nil {
		if h.acked > 0 {
			t.Fatal(err)
		}
		return
	}
	defer s.Close()
	if err := h.check(s.Records()); err != nil {
		t.Fatal(err)
	}
}

// A process that is killed at every operation on the files of its log, and in the middle of every write, one
// life after the other in the same directory: what it had acknowledged is there. (The machine goes on, and so
// keeps what was not synced: what a power failure leaves is for TestCrashPoints.)
func TestKilledAtEveryWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts more than a hundred processes; TestKilledAnywhere starts a few")
	}
	var groups atomic.Int32
	var done atomic.Bool
	for range 4 { // the disk is waited for
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for !done.Load() { // all lower ones have begun
				if tenLives(t, 10*int(groups.Add(1)-1)) {
					done.Store(true)
				}
			}
		})
	}
}

// tenLives kills the child at the ten operations that follow so many, in a directory of their own, as each life leaves
// a file, and opening takes an operation for each. It says whether a child had no more operations.
func tenLives(t *testing.T, before int) bool {
	dir, h := t.TempDir(), newHistory()
	for k := before + 1; k <= before+10; k++ {
		seed := uint64(k)
		c, lines := begin(t, dir, seed, k)
		h.life(t, c, seed, lines, -1)
		err := c.Wait()
		h.checkDisk(t, dir)
		if err == nil {
			if k < 50 {
				t.Errorf("a child has only %d operations", k)
			}
			return true
		}
		if state := c.ProcessState; state.Exited() {
			t.Fatalf("a child failed: %v", state)
		}
	}
	return false
}

// A process that is killed by another one at any moment.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3 {
		dir, h := t.TempDir(), newHistory()
		for range 4 {
			seed := rng.Uint64()
			c, lines := begin(t, dir, seed, 0)
			h.life(t, c, seed, lines, rng.IntN(20))
			_ = c.Wait() // killed, or done already
			h.checkDisk(t, dir)
		}
	}
}
