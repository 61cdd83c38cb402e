package child_test

import (
	"math"
	"testing"
	"testing/fstest"

	"github.com/satin-peer/satin/internal/compute/child"
)

// Guards that jobs in a container, or below a service's limit, are not promised memory that only the machine has: they
// would be killed for what their collector was let leave.
func TestMemoryOfAContainer(t *testing.T) {
	for name, c := range map[string]struct {
		files []string // and what is in them
		want  int64
	}{
		"nothing is told": {nil, math.MaxInt64},
		"no limit":        {[]string{"proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "max\n"}, math.MaxInt64},
		"a container":     {[]string{"proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "2000\n"}, 2000},
		"a slice's limit": {[]string{"proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/memory.max", "3000\n"}, 3000},
		"the least counts": {[]string{"proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "3000\n",
			"sys/fs/cgroup/memory.max", "2000\n"}, 2000},
		"version 1": {[]string{"proc/self/cgroup", "3:cpu:/a\n2:memory:/a\n0::/\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4000\n"}, 4000},
		"from outside": {[]string{"proc/self/cgroup", "0::/../../b\n", "sys/fs/cgroup/memory.max", "5000\n"}, 5000},
	} {
		files := fstest.MapFS{}
		for i := 0; i < len(c.files); i += 2 {
			files[c.files[i]] = &fstest.MapFile{Data: []byte(c.files[i+1])}
		}
		if got := child.GroupMemory(files); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
