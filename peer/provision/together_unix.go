//go:build unix

package provision

import (
	"os/exec"
	"syscall"
)

// together has a command end with what it has started: of a script that hangs it is that which does.
func together(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
