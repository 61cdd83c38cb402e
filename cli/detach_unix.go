//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach gives a process a session of its own, which its terminal cannot end.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
