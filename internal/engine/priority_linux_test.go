package engine_test

import (
	"syscall"
	"testing"

	"github.com/satin-peer/satin"
)

func init() { satin.Register("priority.policy", policiesOfThreads) }

// policiesOfThreads gives the scheduling policies of the threads that run it and its children, as a set of bits.
func policiesOfThreads(f *satin.Frame, depth int) uint64 {
	policy, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	if errno != 0 {
		return 0
	}
	if depth > 0 {
		other := satin.Spawn(f, policiesOfThreads, depth-1)
		mine := policiesOfThreads(f, depth-1)
		return 1<<policy | mine | other.Get()
	}
	return 1 << policy
}

// TestIdlePriority checks that the workers of an idle pool run under SCHED_IDLE, and that nothing else does:
// neither another pool's workers, nor the goroutines outside, nor the process's first thread.
func TestIdlePriority(t *testing.T) {
	const other, idle = 0, 5
	outside := func() uintptr {
		policy, _, _ := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
		return policy
	}
	for _, c := range []struct {
		idle bool
		want uint64
	}{{true, idle}, {false, other}} {
		p, err := satin.NewPool(satin.Config{Workers: 2, Idle: c.idle})
		if err != nil {
			t.Fatal(err)
		}
		got, err := satin.Run(t.Context(), p, policiesOfThreads, 10)
		if err != nil || got != 1<<c.want {
			t.Errorf("idle %v: the workers have policies %b, %v, want only %d", c.idle, got, err, c.want)
		}
		seen := make(chan uintptr)
		for range 8 {
			go func() { seen <- outside() }()
		}
		for range 8 {
			if got := <-seen; got != other {
				t.Errorf("idle %v: a goroutine outside has policy %d", c.idle, got)
			}
		}
		p.Close()
	}
	pid := uintptr(syscall.Getpid())
	if policy, _, _ := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, pid, 0, 0); policy != other {
		t.Errorf("the first thread has policy %d", policy)
	}
}
