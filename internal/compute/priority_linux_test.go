package compute

import (
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// policies are those of the threads that ran the functions below, as a set of bits.
var policies atomic.Uint64

func policed() {
	p, _, _ := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	policies.Or(1 << p)
}

func policedJoin(a, b int) int {
	policed()
	return max(a, b)
}

func policedMove(_, n int) int {
	policed()
	return n
}

func policedGuard(*satin.Frame, int) bool {
	policed()
	return true
}

func policedJob(*satin.Frame, int) int { return 0 }

func init() {
	satin.RegisterLattice[string]("compute.policedJoin", policedJoin, nil)
	satin.RegisterObject("compute.policedMove", policedMove)
	satin.Register("compute.policedJob", policedJob)
	satin.RegisterGuard(policedJob, policedGuard)
}

// TestSharedAtLowPriority: the application's code for what jobs share, joins, writes and guards, has the lowest
// priority there is where jobs have it.
func TestSharedAtLowPriority(t *testing.T) {
	const idle = 5
	e, err := New(Config{Workers: 1, KeepAfter: -1, Idle: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	p := &place{Engine: e, t: t}
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	encode := func(v any) []byte {
		b, err := e.sharing.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	seed := map[int]any{1: "about", 2: 1}
	lattice, object := sharedobj.Digest{1}, sharedobj.Digest{2}
	for _, o := range []port.Order{
		{Kind: port.Here, Shared: &port.Shared{Digest: lattice, Name: "compute.policedJoin", Data: encode(seed)}},
		{Kind: port.Here, Shared: &port.Shared{Digest: object, Name: "compute.policedMove", Data: encode(1)}},
		{Kind: port.Join, Shared: &port.Shared{Digest: lattice, Data: encode(3)}},
		{Kind: port.Apply, Shared: &port.Shared{Parent: object, Name: "compute.policedMove", Data: encode(3)}},
		{Kind: port.Guard, Shared: &port.Shared{}, Job: &steal.Job{Function: "compute.policedJob", Arg: encode(1)}},
	} {
		e.Do(&o)
	}
	if !p.await(port.Joined).Good || p.await(port.Applied).Shared.State == nil || !p.await(port.Guarded).Good {
		t.Error("something failed")
	}
	if got := policies.Load(); got != 1<<idle {
		t.Errorf("it has the policies %b, not only %d", got, idle)
	}
}
