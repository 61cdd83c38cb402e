package thrift

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Guards which pages are let go of: those of files that were never written to. A program whose loader has written to
// some, or that has some in swap, would go on with others than its own.
func TestUnchanged(t *testing.T) {
	const text = `00400000-00401000 r--p 00000000 fe:00 7  /usr/bin/satin peer
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
THPeligible:           0
VmFlags: rd mr mw me
00401000-00801000 r-xp 00001000 fe:00 7  /usr/bin/satin-peer (deleted)
Rss:                3072 kB
Anonymous:             0 kB
FilePmdMapped:         0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00801000-00802000 r--p 00002000 fe:00 7  /usr/bin/satin-peer
Rss:                   8 kB
Anonymous:             4 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac
00802000-00803000 r--p 00003000 fe:00 7  /usr/bin/satin-peer
Rss:                   0 kB
Anonymous:             0 kB
Swap:                  4 kB
VmFlags: rd mr mw me ac
00803000-00804000 rw-p 00003000 fe:00 7  /usr/bin/satin-peer
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac
00804000-00805000 r--s 00003000 fe:00 7  /dev/shm/x
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd sh mr mw me ac
00805000-00806000 r--p 00003000 fe:00 7  /usr/lib/old-kernel.so
Rss:                   4 kB
VmFlags: rd mr mw me ac
7f0000000000-7f0000001000 r-xp 00000000 00:00 0  [vdso]
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
7f0000002000-7f0000003000 r--p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd`
	want := []mapping{{0x400000, 0x401000}, {0x401000, 0x801000}}
	if got := unchanged(strings.NewReader(text)); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// Guards that a process has less memory afterwards, and goes on.
func TestGiveBack(t *testing.T) {
	inFiles := func() (kib int) {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip(err)
		}
		_, of, _ := strings.Cut(string(text), "RssFile:")
		_, _ = fmt.Sscan(of, &kib)
		return kib
	}
	before := inFiles()
	GiveBack()
	if after := inFiles(); before < 1<<10 || after > before*3/4 {
		t.Errorf("%d KiB of files had memory before, %d after", before, after)
	}
}
