package hostile

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

func init() {
	satin.Register("hostile.spin", spin)
	satin.Register("hostile.nothing", nothing)
}

func nothing(*satin.Frame, int) int { return 0 }

// spinning counts the jobs of spin that run.
var spinning atomic.Int64

// spin has jobs for everybody that last until they are told to end.
func spin(f *satin.Frame, depth int) int {
	if depth > 0 {
		x := satin.Spawn(f, spin, depth-1)
		return spin(f, depth-1) + x.Get()
	}
	spinning.Add(1)
	defer spinning.Add(-1)
	for !f.Aborted() {
		satin.Spawn(f, nothing, 0).Get() // lets thieves have what waits
		time.Sleep(time.Millisecond)
	}
	return 0
}

// Whoever is put out computes here no more, not even through a run that began before.
func TestRunsOfTheRevokedEnd(t *testing.T) {
	application := []peer.Application{{Name: "hostile"}}
	open := func() *peer.Peer {
		p, err := peer.Open(t.Context(), peer.Config{Host: hostConfig(t), Workers: 1, Cluster: "here"}, application)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	v, owner := open(), open()
	made, err := v.Invite(patience(t), control.Invitation{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Join(patience(t), made.Line); err != nil {
		t.Fatal(err)
	}
	arg, err := wire.Value().Encode(4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Submit(patience(t), control.Submission{App: "hostile", Function: "hostile.spin",
		Argument: arg}); err != nil {
		t.Fatal(err)
	}
	state := func() (s control.RunState) {
		list, err := v.Runs(patience(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			s = r.State
		}
		return s
	}
	until(t, "both compute", func() bool { return spinning.Load() == 2 && state() == control.RunRunning })
	st, err := owner.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Revoke(t.Context(), st.Peer); err != nil {
		t.Fatal(err)
	}
	until(t, "the run has ended here", func() bool { return state() == control.RunCancelled })
	owner.Close()
	until(t, "nobody computes", func() bool { return spinning.Load() == 0 })
}

// until asks again and again whether something has come true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for ctx := patience(t); !true(); time.Sleep(5 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("not in time: %s", what)
		}
	}
}
