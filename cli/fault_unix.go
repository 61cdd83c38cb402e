//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const canStall = true

// stall stops this process. A stopped process cannot wake itself: a shell does both, so that no busy machine wakes it
// first and lets it be stopped for good.
func stall(long time.Duration) error {
	shell := exec.Command("/bin/sh", "-c",
		fmt.Sprintf("kill -STOP %[2]d; sleep %.3[1]f; kill -CONT %[2]d", long.Seconds(), os.Getpid()))
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it goes on whatever the terminal does
	return shell.Run()
}
