package child

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryShare is the part of the machine's memory that a child may have by default, one in so many.
const memoryShare = 2

// DefaultMemory is half of the machine's, or of what this process's container may have.
func DefaultMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return min(int64(uint64(info.Totalram)*uint64(info.Unit)), groupMemory(os.DirFS("/"))) / memoryShare
}

// groupMemory is the least that the control groups which this process is in may have, of version 2 or 1. In a container
// the outermost of them is where the system's own would be, and names of those inside may not be there.
func groupMemory(root fs.FS) (most int64) {
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // not there: nothing is known
	most = math.MaxInt64
	for line := range strings.Lines(string(groups)) {
		_, group, _ := strings.Cut(strings.TrimSpace(line), ":")
		kind, name, _ := strings.Cut(group, ":")
		top, file := "sys/fs/cgroup", "memory.max"
		if kind != "" {
			top, file = path.Join(top, kind), "memory.limit_in_bytes"
		}
		for dir := path.Join(top, path.Clean("/"+name)); strings.HasPrefix(dir, top); dir = path.Dir(dir) {
			text, _ := fs.ReadFile(root, path.Join(dir, file)) // without limit there is none, or "max" in it
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				most = min(most, n)
			}
		}
	}
	return most
}
