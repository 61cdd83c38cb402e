package child

import (
	"fmt"
	"math"
	"os"
	"slices"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// Calls of the kernel that a child gives up, besides what Landlock keeps from it: for if a module should ever find a
// way out of its sandbox. What is not named is allowed, as Go's runtime needs more and more of the harmless ones. A
// name that a processor's kernel does not know is left out.

// outward are those by which a process reaches others, and what there is to find more ways out with.
var outward = []string{
	"socket", "socketpair", "socketcall", "connect", "bind", "listen", "accept", "accept4", "sendto",
	"sendmsg", "sendmmsg", "execve", "execveat", "fork", "vfork", "kill", "tkill", "rt_sigqueueinfo",
	"rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal", "pidfd_getfd", "ptrace", "process_vm_readv",
	"process_vm_writev", "kcmp", "perf_event_open", "bpf", "userfaultfd", "io_uring_setup", "io_uring_enter",
	"io_uring_register", "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree",
	"move_mount", "fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr", "name_to_handle_at",
	"open_by_handle_at", "fanotify_init", "init_module", "finit_module", "delete_module", "kexec_load",
	"kexec_file_load", "reboot", "swapon", "swapoff", "add_key", "request_key", "keyctl", "acct", "quotactl",
	"quotactl_fd", "syslog", "settimeofday", "clock_settime", "shmget", "shmat", "msgget", "semget", "mq_open",
	"iopl", "ioperm", "modify_ldt", "personality",
}

// writing are those by which it changes files, which it needs until its module is compiled.
var writing = []string{
	"creat", "openat2", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "symlink",
	"symlinkat", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat", "chmod", "fchmod", "fchmodat", "fchmodat2",
	"chown", "lchown", "fchown", "fchownat", "truncate", "truncate64", "ftruncate", "ftruncate64", "fallocate",
	"utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr",
	"lremovexattr", "fremovexattr", "memfd_create",
}

// giveUpOutward refuses the calls outward from now on, but for some, in all threads. The error says that the kernel
// cannot.
func giveUpOutward(info *arch.Info, but ...string) error {
	if err := otherABIs(info); err != nil {
		return err
	}
	names := slices.DeleteFunc(known(info, outward), func(name string) bool { return slices.Contains(but, name) })
	groups := []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: names,
		NamesWithCondtions: aboutOthers(info)}}
	if has(info, "clone3") { // its flags cannot be looked at; whoever is told that it is not there calls clone
		groups = append(groups, seccomp.SyscallGroup{Names: []string{"clone3"},
			Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)})
	}
	return refuse(groups...)
}

// aboutOthers are calls that are refused where they are about others: a process may signal itself, and change what is
// said of the thread that calls, which is 0. A test of bits holds, too, where the kernel cuts an argument short.
func aboutOthers(info *arch.Info) []seccomp.NameWithConditions {
	var list conditions
	add := func(name string, argument uint32, is seccomp.Operation, value int) {
		list.add(info, name, argument, is, value)
	}
	add("clone", 0, seccomp.BitsNotSet, unix.CLONE_THREAD) // a thread is allowed, a process is not
	add("tgkill", 0, seccomp.NotEqual, os.Getpid())
	for _, name := range []string{"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam",
		"sched_setscheduler"} {
		add(name, 0, seccomp.NotEqual, 0)
	}
	const ofProcess = 1 // IOPRIO_WHO_PROCESS
	add("setpriority", 0, seccomp.NotEqual, unix.PRIO_PROCESS)
	add("setpriority", 1, seccomp.NotEqual, 0)
	add("ioprio_set", 0, seccomp.NotEqual, ofProcess)
	add("ioprio_set", 1, seccomp.NotEqual, 0)
	if has(info, "prctl") { // it ends with its parent: the option is this one, in the bits that count
		list = append(list, seccomp.NameWithConditions{Name: "prctl", Conditions: seccomp.ArgumentConditions{
			{Argument: 0, Operation: seccomp.BitsSet, Value: unix.PR_SET_PDEATHSIG},
			{Argument: 0, Operation: seccomp.BitsNotSet, Value: math.MaxUint32 &^ unix.PR_SET_PDEATHSIG}}})
	}
	for _, name := range []string{"fcntl", "fcntl64"} { // whom a pipe signals, and how
		add(name, 1, seccomp.BitsSet, unix.F_SETOWN)
	}
	return list
}

// conditions are calls that are refused where an argument is so.
type conditions []seccomp.NameWithConditions

func (c *conditions) add(info *arch.Info, name string, argument uint32, is seccomp.Operation, value int) {
	if has(info, name) {
		*c = append(*c, seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{{
			Argument: argument, Operation: is, Value: uint64(value)}}})
	}
}

// giveUpWriting refuses to open files for writing and to change them otherwise, and memory that could be shared, or
// that is said to be a stack, which counts in no limit.
func giveUpWriting(info *arch.Info) error {
	const changes = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	const uncounted = unix.MAP_SHARED | unix.MAP_GROWSDOWN
	var list conditions
	list.add(info, "open", 1, seccomp.BitsSet, changes)
	list.add(info, "openat", 2, seccomp.BitsSet, changes)
	list.add(info, "mmap", 3, seccomp.BitsSet, uncounted)
	list.add(info, "mmap2", 3, seccomp.BitsSet, uncounted)
	return refuse(seccomp.SyscallGroup{Names: known(info, writing), Action: seccomp.ActionErrno,
		NamesWithCondtions: list})
}

func refuse(groups ...seccomp.SyscallGroup) error {
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: groups}})
}

func has(info *arch.Info, name string) bool {
	_, ok := info.SyscallNames[name]
	return ok
}

func known(info *arch.Info, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !has(info, name) })
}

// otherABIs ends the process at a call by another processor's numbers, such as those of 32 bits, which the library's
// filters do not look at.
func otherABIs(info *arch.Info) error {
	const archAt = 4 // of struct seccomp_data
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: archAt},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(info.ID)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := seccomp.SetNoNewPrivs(); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// filtered gives this processor's calls; nil if the kernel, or the library, cannot filter them.
func filtered() *arch.Info {
	info, err := arch.GetInfo("")
	if err != nil || !seccomp.Supported() {
		return nil
	}
	return info
}
