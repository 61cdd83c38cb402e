package host_test

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/satin-peer/satin/peer/host"
)

// A state directory that was closed can be opened at once, even while a process that was just forked still has the
// files of this one.
func TestLockIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	a := open(t, host.Config{StateDir: dir})
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	forked := -1
	for _, file := range files {
		name, _ := os.Readlink(file) // or it is closed by now
		if name != filepath.Join(dir, "lock") {
			continue
		}
		fd, err := strconv.Atoi(filepath.Base(file))
		if err == nil {
			forked, err = syscall.Dup(fd)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if forked < 0 {
		t.Fatal("there is no lock")
	}
	defer syscall.Close(forked)
	a.Close()
	open(t, host.Config{StateDir: dir})
}
