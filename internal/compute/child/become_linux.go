package child

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// programFile is the executable that a process is to become, as exec.Cmd.ExtraFiles numbers it.
const programFile = 3

// libraries are what it may read besides itself.
var libraries = []string{"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"}

// become gives up all that the executable is not to have and becomes it. It returns only if it cannot.
//
// A filter cannot allow to become one program and no other, but what may be executed, Landlock says: the file itself,
// and libraries. It has no second process, since clone is refused but for threads; so all there is of it is the one
// process that its parent ends.
func become(b *becomes, memory int64, idle bool) error {
	runtime.LockOSThread() // the limits and the last call are of one thread
	// With its parent it ends by what the kernel knows of a thread: of this one, as no other outlives the last call.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("it would not end with the daemon: %w", err)
	}
	name := fmt.Sprintf("/proc/self/fd/%d", programFile)
	for what, most := range map[int]uint64{unix.RLIMIT_NOFILE: maxFiles, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("a limit cannot be set: %w", err)
		}
	}
	if idle {
		if err := lowest(); err != nil {
			return fmt.Errorf("its priority cannot be lowered: %w", err)
		}
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // not there: then by size
	k := thisKernel()
	if err := k.restrict(landlock.ROFiles(name), landlock.RODirs(libraries...).IgnoreIfMissing(),
		landlock.ROFiles("/etc/ld.so.cache").IgnoreIfMissing()); err != nil {
		return fmt.Errorf("files and network cannot be given up: %w", err)
	}
	if k.calls == nil {
		return fmt.Errorf("calls of the kernel cannot be given up")
	}
	for _, giveUp := range []func() error{
		func() error { return giveUpOutward(k.calls, "execve") },
		func() error { return giveUpWriting(k.calls) },
	} {
		if err := giveUp(); err != nil {
			return fmt.Errorf("calls of the kernel cannot be given up: %w", err)
		}
	}
	signal.Ignore(groupSignals()...) // as in the daemon's other processes
	unix.CloseOnExec(programFile)
	if memory > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}); err != nil {
			return fmt.Errorf("a limit cannot be set: %w", err)
		}
	}
	return fmt.Errorf("it cannot be executed: %w", syscall.Exec(name, append([]string{b.Name}, b.Args...),
		[]string{"LC_ALL=C", "TZ=UTC"}))
}

// lowest gives this thread, and so what the process becomes, the lowest priority there is: as workers have it.
func lowest() error {
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
	if err != nil {
		err = unix.Setpriority(unix.PRIO_PROCESS, 0, 19) // a kernel or a sandbox that does not know it
	}
	return err
}
