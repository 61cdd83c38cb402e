package satin

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"testing"
)

func init() { Register("test.policy", policy) }

// policy gives the scheduling policy of the thread that runs it, or of the thread with the given id.
func policy(_ *Frame, tid int) int {
	p, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, uintptr(tid), 0, 0)
	if errno != 0 {
		return -1 // the thread has ended
	}
	return int(p)
}

// idleThreads counts this process's threads with the policy SCHED_IDLE.
func idleThreads(t *testing.T) (n int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		if policy(nil, tid) == schedIdle {
			n++
		}
	}
	return n
}

// TestIdleThreadsEnd: as many threads as workers have the policy SCHED_IDLE, also when a job ended one, and they take it along
// when they end: Go never gets one back.
func TestIdleThreadsEnd(t *testing.T) {
	if got := run(t, testPool(t, 1), policy, 0); got != 0 {
		t.Fatalf("without Config.Idle a worker has the policy %d", got)
	}
	for _, nice := range []int{0, 19} {
		p, err := NewPool(Config{Workers: 2, Idle: true, Nice: nice})
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, p, policy, 0); got != schedIdle {
			t.Errorf("a worker has the policy %d, not SCHED_IDLE", got)
		}
		if _, err := Run(context.Background(), p, goexit, 0); err == nil { // ends a worker's goroutine and thread; another goes on
			t.Error("a job that ended its goroutine did not fail")
		}
		run(t, p, fib, 20)
		until(t, "two threads are idle", func() bool { return idleThreads(t) == 2 })
		p.Close()
		until(t, "the workers' threads have ended", func() bool { return idleThreads(t) == 0 })
	}
}
