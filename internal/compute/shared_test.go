package compute

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
)

// A reading names a value of each kind.
type reading struct {
	Text satin.Constant[string]
	Sum  satin.Object[[]int, int]
	Most satin.Lattice[string, int]
	Bid  int
}

func appended(old []int, n int) []int { return append(append([]int(nil), old...), n) }

func most(a, b int) int { return max(a, b) }

func positive(_ string, n int) error {
	if n < 0 {
		return errors.New("it is negative")
	}
	return nil
}

// readAll gives what it reads: the constant's length, what was written, and the lattice before and after an offer.
func readAll(f *satin.Frame, r reading) []int {
	before := r.Most.Value(f)
	r.Most.Offer(f, r.Bid)
	all := append([]int{len(r.Text.Read(f))}, r.Sum.Read(f)...)
	return append(all, before, r.Most.Value(f))
}

func share(f *satin.Frame, bid int) reading {
	sum := satin.Share(f, appended, []int{1}).Write(f, 2).Write(f, 3)
	return reading{satin.ShareConstant(f, "hello"), sum, satin.ShareLattice(f, most, "bids", 10), bid}
}

func init() {
	satin.RegisterObject("compute.appended", appended)
	satin.RegisterLattice("compute.most", most, positive)
	satin.Register("compute.readAll", readAll)
	satin.Register("compute.share", share)
}

func submit(t *testing.T, p *engine.Pool, fn string, arg any) any {
	t.Helper()
	done := make(chan engine.Outcome, 1)
	if _, err := p.Submit(engine.Job{ID: job.ID{Run: job.NewRunID()}, Func: fn, Arg: arg},
		func(o engine.Outcome) { done <- o }); err != nil {
		t.Fatal(err)
	}
	select {
	case o := <-done:
		if o.Failure != nil {
			t.Fatal(o.Failure)
		}
		return o.Result
	case <-time.After(time.Minute):
		t.Fatal("the job does not end")
		return nil
	}
}

func travelled(t *testing.T, r reading) (reading, []byte) {
	t.Helper()
	b, err := wire.Value().Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	arg := reflect.New(reflect.TypeFor[reading]())
	if err := wire.Value().Decode(b, arg.Interface()); err != nil {
		t.Fatal(err)
	}
	return arg.Elem().Interface().(reading), b
}

// A job that names shared values reads the same after it has travelled, also twice, and its argument is the
// same bytes whenever and wherever it is encoded: what is known of a lattice is not in it. Jobs that come to
// one process share.
func TestHandlesTravel(t *testing.T) {
	pools := make([]*engine.Pool, 2)
	for i := range pools {
		p, err := engine.NewPool(engine.Config{Workers: 1, Codec: wire.Value()})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		pools[i] = p
	}
	made := submit(t, pools[0], "compute.share", 20).(reading)
	first, bytes := travelled(t, made)
	if got, want := submit(t, pools[1], "compute.readAll", first), []int{5, 1, 2, 3, 10, 20}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("%v, want %v", got, want)
	}
	again, same := travelled(t, first) // from the thief to the next, after the lattice has grown
	if !reflect.DeepEqual(bytes, same) {
		t.Error("the argument of the same job has other bytes")
	}
	if got, want := submit(t, pools[1], "compute.readAll", again), []int{5, 1, 2, 3, 20, 20}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("a second job in the process: %v, want %v", got, want)
	}
	if _, err := wire.Value().Encode(reading{}); err != nil {
		t.Errorf("handles of nothing: %v", err)
	}
}

// Where no swarm is, a handle stays: its job is not given away.
func TestHandlesStayWithoutSwarm(t *testing.T) {
	p, err := engine.NewPool(engine.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	made := submit(t, p, "compute.share", 20).(reading)
	if _, err := wire.Value().Encode(made); err == nil {
		t.Error("a handle left a pool that has no codec")
	}
}

// Bytes that are not of a handle are an error of the decoder or of the job, never a crash.
func FuzzHandles(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{12, 'c', 'o'})
	f.Add(append([]byte{12}, "compute.most\x00\x00\x00\x00\x00\x00\x00\x01xy"...))
	f.Add(append([]byte{12}, "compute.most\xff\xff\xff\xff\xff\xff\xff\xffxy"...))
	f.Add(append([]byte{16}, "compute.appendedxyz"...))
	p, err := engine.NewPool(engine.Config{Workers: 1, Codec: wire.Value()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(p.Close)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r reading
		if r.Text.UnmarshalBinary(b) != nil || r.Sum.UnmarshalBinary(b) != nil || r.Most.UnmarshalBinary(b) != nil {
			return
		}
		done := make(chan engine.Outcome, 1)
		if _, err := p.Submit(engine.Job{Func: "compute.readAll", Arg: r},
			func(o engine.Outcome) { done <- o }); err != nil {
			t.Fatal(err)
		}
		<-done
	})
}
