package cli

import (
	"os/exec"
	"syscall"
)

const detachedProcess = 8 // DETACHED_PROCESS: it has no console

// detach keeps a process from ending with its console.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
