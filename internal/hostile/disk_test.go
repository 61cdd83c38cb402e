package hostile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/steal"
)

const (
	ownersDisk = 4 << 20 // bytes of the owner's disk that what others compute may take
	madeUp     = 100     // outcomes that a member makes up,
	madeUpSize = 100 << 10
)

// A member that makes up outcomes of an owner's run, hands them over and shows them when the run is suspended, has half
// of the room on the owner's disk, as it has elsewhere, and the run goes on. (It could have all of that disk.)
func TestOwnersDisk(t *testing.T) {
	t.Parallel()
	dir := ""
	v := computing(t, func(c *peer.Config) {
		c.Checkpoint, c.RunDisk, dir = time.Millisecond, ownersDisk, c.Host.StateDir
	})
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{})
	x := r.steals(t, run)
	_, from := x.take(t)
	invent := func(n int) steal.Partial {
		b := make([]byte, madeUpSize)
		_, _ = rand.Read(b)
		return x.signed(t, job.Path{7, uint32(n)}, job.Identity{byte(n)}, b, x.key)
	}
	for n := range madeUp {
		x.send(from, &steal.Message{HandOver: &steal.HandOver{ID: uint64(n + 1), Parts: []steal.Partial{invent(n)}}})
		x.wait(t, "it is taken", func(m *steal.Message) bool {
			return m.HandOverAck != nil && m.HandOverAck.ID == uint64(n+1)
		})
	}
	shown := make(chan int, 1)
	r.Network().SetStreamHandler("/satin/collect/1", func(s network.Stream) {
		defer s.Close()
		n := 0
		for _, err := wire.ReadFrame(s, nil, 1<<10); err == nil && n < madeUp; n++ {
			var b []byte
			part := invent(madeUp + n)
			if b, err = wire.Value().Encode(&part); err == nil {
				err = wire.WriteFrame(s, b, wire.MaxValue)
			}
		}
		_ = wire.WriteFrame(s, nil, 0)
		shown <- n
	})
	if err := v.Suspend(patience(t), run.Hex()); err != nil {
		t.Fatal(err)
	}
	if n := <-shown; n == 0 {
		t.Error("nobody has asked")
	}
	if n := sizeOf(t, filepath.Join(dir, "checkpoints", run.Hex())); n > ownersDisk/2+madeUpSize {
		t.Errorf("%d MiB of the disk are taken", n>>20)
	}
	if _, err := v.ResumeRun(patience(t), control.Resumption{Run: run.Hex()}); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, end()); got != 5 {
		t.Errorf("the answer is %d", got)
	}
}

// Members that are asked what they have of a run that is to be suspended, and announce much and show it never, hold
// that up for a while and keep nobody else from showing what it has.
func TestSlowToShow(t *testing.T) {
	t.Parallel()
	const slow = 6
	v := computing(t, func(c *peer.Config) { c.Checkpoint = time.Millisecond })
	asked, enough := make(chan struct{}, slow), make(chan struct{})
	frame, err := wire.Frame(make([]byte, wire.MaxValue), wire.MaxValue)
	if err != nil {
		t.Fatal(err)
	}
	var all []*rogue
	for range slow {
		r := invited(t, v)
		r.volunteers(t)
		r.Network().SetStreamHandler("/satin/collect/1", func(s network.Stream) {
			defer s.Reset()
			asked <- struct{}{}
			_, _ = s.Write(frame[:1<<20])
			select {
			case <-enough:
			case <-t.Context().Done():
			}
		})
		all = append(all, r)
	}
	run, end := pairs(t, v, 2, control.Submission{})
	for _, r := range all {
		r.steals(t, run)
	}
	suspended := make(chan error, 1)
	go func() { suspended <- v.Suspend(patience(t), run.Hex()) }()
	for range slow {
		select {
		case <-asked:
		case err := <-suspended:
			t.Fatalf("it is suspended before all are asked: %v", err)
		}
	}
	close(enough) // who was asked first had its time, and the others would have as much
	if err := <-suspended; err != nil {
		t.Fatal(err)
	}
	if _, err := v.ResumeRun(patience(t), control.Resumption{Run: run.Hex()}); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, end()); got != 5 {
		t.Errorf("the answer is %d", got)
	}
}

// sizeOf is how many bytes the files in a directory have.
func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was compacted away
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
