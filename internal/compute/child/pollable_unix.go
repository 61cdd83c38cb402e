//go:build unix

package child

import (
	"os"
	"syscall"
)

// pollable makes a pipe that was inherited one that goroutines wait for without a thread. A goroutine in a
// blocking read keeps its P for up to 10 ms after it has woken another one, which then cannot run: workers
// have all the other Ps.
func pollable(f *os.File) *os.File {
	fd := f.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return f
	}
	return os.NewFile(fd, f.Name())
}
