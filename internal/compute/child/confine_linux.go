package child

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	sys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// maxFiles is how many files a child may have open.
	maxFiles = 64
	// memoryShare is the part of the machine's memory that a child may have by default, one in so many.
	memoryShare = 2
	// tcpABI is the version of Landlock that also knows TCP.
	tcpABI = 4
)

// dieWithParent has the kernel end the child when the thread that starts it ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// enforced says that memory beyond the limit is refused.
const enforced = true

// DefaultMemory is half of the machine's.
func DefaultMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit) / memoryShare)
}

// confine gives up what a child does not need. Of all files it keeps those in one folder, if it is named; settle
// gives up these, too, when the module has been compiled.
func confine(memory int64, folder string) (settle func() error, err error) {
	for what, most := range map[int]uint64{unix.RLIMIT_NOFILE: maxFiles, unix.RLIMIT_CORE: 0,
		unix.RLIMIT_DATA: uint64(memory)} {
		if what == unix.RLIMIT_DATA && memory <= 0 {
			continue
		}
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return nil, fmt.Errorf("a limit cannot be set: %w", err)
		}
	}
	// If memory is short this process is to go, and not its parent.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // not there: then by size
	// As far as this kernel can: Protection says how far.
	var keep []landlock.Rule
	if folder != "" {
		keep = append(keep, landlock.RWDirs(folder))
	}
	if err := landlock.V5.BestEffort().Restrict(keep...); err != nil {
		return nil, fmt.Errorf("files and network cannot be given up: %w", err)
	}
	info := filtered()
	if info == nil {
		return func() error { return nil }, nil
	}
	if err := giveUpOutward(info); err != nil {
		return nil, fmt.Errorf("calls of the kernel cannot be given up: %w", err)
	}
	return func() error {
		if err := giveUpWriting(info); err != nil {
			return fmt.Errorf("calls of the kernel cannot be given up: %w", err)
		}
		return nil
	}, nil
}

// Protection says what keeps a child from files and the network on this machine, and whether that is all there can
// be.
func Protection() (text string, whole bool) {
	calls := filtered() != nil
	without := []string{"limits"}
	lacks := []string(nil)
	abi, err := sys.LandlockGetABIVersion()
	switch {
	case err != nil || abi < 1:
		lacks = append(lacks, "no Landlock, which would keep it from files")
	default:
		without = append(without, "no files")
	}
	switch {
	case calls:
		without = append(without, "no network, no other programs, nothing it could write to")
	case abi >= tcpABI:
		without = append(without, "no TCP")
	}
	if !calls {
		lacks = append(lacks, "no seccomp filters, which would keep it from sockets and other programs")
	}
	text = "a process of its own with " + strings.Join(without, ", ")
	if len(lacks) > 0 {
		text += "; this kernel has " + strings.Join(lacks, ", and ")
	}
	return text, len(lacks) == 0
}
