//go:build unix

package pipe

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// tries gives what writes without ever waiting, as far as w can do that: a pipe of the system that is in non-blocking
// mode, as os.Pipe makes it.
func tries(w io.Writer) func([]byte) int {
	c, ok := w.(syscall.Conn)
	if !ok {
		return never
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return never
	}
	waits := true
	err = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		waits = err != nil || flags&unix.O_NONBLOCK == 0
	})
	if err != nil || waits {
		return never
	}
	return func(b []byte) (n int) {
		// An error is for the goroutine that writes the rest, which will have it too.
		_ = raw.Write(func(fd uintptr) bool {
			n, _ = syscall.Write(int(fd), b)
			return true
		})
		return max(n, 0)
	}
}
