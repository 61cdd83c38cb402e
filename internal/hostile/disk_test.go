package hostile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
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

// What a checkpoint of others holds of a run that is verified was compared by nobody who is known here: a user who goes
// on with it computes the answer, whether it holds one or results of jobs, whoever has signed these.
func TestVerifiedRunOfOthers(t *testing.T) {
	t.Parallel()
	v := computing(t, func(c *peer.Config) { c.Checkpoint = time.Millisecond })
	key, _, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaves := leavesOf(t)
	for _, answered := range []bool{true, false} {
		m, err := (&statement.Manifest{Swarm: swarmName, App: "hostile", Entry: "hostile.pair", Verify: "quorum=2",
			Arg: argument(t, Part{t.Name(), 2}), Nonce: statement.NewNonce(), Created: time.Now().Unix(),
			Expires: time.Now().Unix() + 60}).Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		l, err := checkpoint.Open(dir, checkpoint.HeaderOf(m.Run, m.Bytes), checkpoint.Config{})
		if err != nil {
			t.Fatal(err)
		}
		l.KeepManifest(m.Bytes)
		x := &robber{run: m.Run}
		store := func(path job.Path, id job.Identity) {
			p := x.signed(t, path, id, square(t, 100), key)
			l.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher)
		}
		for n := range 2 {
			store(job.Path{uint32(n + 1)}, job.Identify("hostile.leaf", argument(t, Part{t.Name(), n + 1})))
		}
		if answered {
			store(nil, job.Identify(m.Entry, m.Arg))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		leaves.open.Store(false)
		r, err := v.ResumeRun(patience(t), control.Resumption{Directory: dir})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan control.Outcome, 1)
		go func() {
			out, _ := v.Wait(patience(t), r.Run, nil)
			ended <- out
		}()
		until(t, "it computes, or has an answer", func() bool { return leaves.begun.Load() > 0 || len(ended) > 0 })
		leaves.open.Store(true)
		out := <-ended
		if got := answer(t, out); got != 5 {
			t.Errorf("with an answer %v: it is %d, and rests on %+v", answered, got, out.Trust)
		}
	}
}
