package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	sys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// maxFiles is how many files a child may have open.
	maxFiles = 64
	// newestUsed is the version of Landlock from which on a newer one refuses a child no more.
	newestUsed = 4
)

// A kernel is what can refuse a process calls.
type kernel struct {
	landlock int        // the version, 0 if there is none
	calls    *arch.Info // nil if calls cannot be filtered
}

func thisKernel() kernel {
	abi, err := sys.LandlockGetABIVersion()
	if err != nil {
		abi = 0
	}
	return kernel{max(abi, 0), filtered()}
}

// restrict gives up all files and TCP but for the rules, as far as there is Landlock for it.
func (k kernel) restrict(rules ...landlock.Rule) error {
	if k.landlock == 0 {
		return nil
	}
	known := []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5}
	return known[min(k.landlock, len(known))-1].BestEffort().Restrict(rules...)
}

// dieWithParent has the kernel end the child when the thread that starts it ends; apart has it be a session of its own.
func dieWithParent(cmd *exec.Cmd, apart bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: apart}
}

// stepBack has the session of a process weigh as little beside others as can be: where the kernel weighs sessions
// (sched_autogroup_enabled, as on most desktops), it does so whatever the priorities within them, and jobs at the
// lowest one would have half of a core that another session wants. The daemon is in another session, and not slower by
// it. The kernel lets users without privileges change ten in a second: whoever is refused tries again.
func stepBack(pid int) {
	for range 10 {
		err := os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte("19"), 0)
		if !errors.Is(err, syscall.EAGAIN) {
			return // done, or there are none
		}
		time.Sleep(150 * time.Millisecond)
	}
}

// enforced says that memory beyond the limit is refused.
const enforced = true

// confine gives up what a child does not need. Of all files it keeps those in one folder, if it is named; settle
// gives up these, too, when the module has been compiled. Protection says how far this kernel can.
func (k kernel) confine(memory int64, folder string) (settle func() error, err error) {
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
	// It may have been started by a name that says nothing.
	if exe, err := os.Executable(); err == nil {
		_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(exe)), 0)
	}
	var keep []landlock.Rule
	if folder != "" {
		keep = append(keep, landlock.RWDirs(folder).IgnoreIfMissing())
	}
	if err := k.restrict(keep...); err != nil {
		return nil, fmt.Errorf("files and network cannot be given up: %w", err)
	}
	if k.calls == nil {
		return func() error { return nil }, nil
	}
	if err := giveUpOutward(k.calls); err != nil {
		return nil, fmt.Errorf("calls of the kernel cannot be given up: %w", err)
	}
	return func() error {
		if err := giveUpWriting(k.calls); err != nil {
			return fmt.Errorf("calls of the kernel cannot be given up: %w", err)
		}
		return nil
	}, nil
}

// refusals are what a child is refused, by which version of Landlock, 0 if by none, and whether by filters of calls;
// and what its jobs can where nothing does that.
var refusals = []struct {
	without, can string
	landlock     int
	calls        bool
}{
	{"no files to read", "read files", 1, false},
	{"no files to write", "write files", 1, true},
	{"", "empty files", 3, true},
	{"no other programs", "run programs", 1, true},
	{"no TCP", "use TCP", 4, true},
	{"no other sockets", "use other sockets, signal processes, change the modes and times of files", 0, true},
}

// Protection says what keeps a child from files and the network on this machine, and whether that is all there can
// be.
func Protection() (text string, whole bool) { return thisKernel().protection() }

func (k kernel) protection() (text string, whole bool) {
	without, can, lacks := []string{"limits"}, []string(nil), []string(nil)
	for _, r := range refusals {
		switch {
		case (r.landlock == 0 || k.landlock < r.landlock) && (!r.calls || k.calls == nil):
			can = append(can, r.can)
		case r.without != "":
			without = append(without, r.without)
		}
	}
	text = "a process of its own with " + strings.Join(without, ", ")
	if len(can) == 0 {
		return text, true
	}
	switch {
	case k.landlock == 0:
		lacks = append(lacks, "no Landlock")
	case k.landlock < newestUsed:
		lacks = append(lacks, fmt.Sprintf("only version %d of Landlock", k.landlock))
	}
	if k.calls == nil {
		lacks = append(lacks, "no seccomp filters")
	}
	return text + "; they can " + strings.Join(can, ", ") + " as this user can, since this kernel has " +
		strings.Join(lacks, " and "), false
}
