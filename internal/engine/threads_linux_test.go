package engine_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() { satin.Register("test.policy", policy) }

// policy gives the scheduling policy of the thread that runs it, or of the thread with the given id.
func policy(_ *satin.Frame, tid int) int {
	p, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, uintptr(tid), 0, 0)
	if errno != 0 {
		return -1 // the thread has ended
	}
	return int(p)
}

// idleThreads counts this process's threads with the policy SCHED_IDLE, without its first, which cannot end:
// Go keeps it asleep for good when a goroutine ends that was locked to it.
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
		if tid != os.Getpid() && policy(nil, tid) == engine.SchedIdle {
			n++
		}
	}
	return n
}

// ownSession is the environment variable that tells TestIdleThreadsEnd that it has one.
const ownSession = "SATIN_TEST_OWN_SESSION"

// TestIdleThreadsEnd: the workers' threads take the policy SCHED_IDLE along when they end, whether the pool
// was closed or a job ended its goroutine. Go gets none back.
//
// It runs in a process with a session of its own: in that of a busy machine's tests, idle threads may wait
// for minutes.
func TestIdleThreadsEnd(t *testing.T) {
	if os.Getenv(ownSession) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestIdleThreadsEnd$", "-test.timeout=8m")
		again.Env = append(os.Environ(), ownSession+"=yes")
		again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if got := run(t, testPool(t, 1), policy, 0); got != 0 {
		t.Fatalf("without Config.Idle a worker has the policy %d", got)
	}
	for _, nice := range []int{0, 19} {
		p, err := engine.NewPool(engine.Config{Workers: 2, Idle: true, Nice: nice})
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, p, policy, 0); got != engine.SchedIdle {
			t.Errorf("a worker has the policy %d, not SCHED_IDLE", got)
		}
		// ends a worker's goroutine and thread; another goes on
		if _, err := Run(context.Background(), p, goexit, 0); err == nil {
			t.Error("a job that ended its goroutine did not fail")
		}
		run(t, p, fib, 20)
		p.Close()
		for idleThreads(t) != 0 {
			time.Sleep(time.Millisecond) // leaves them a core
		}
	}
}
