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

// stall stops this process. A stopped process cannot wake itself: a shell does it.
func stall(long time.Duration) error {
	wake := exec.Command("/bin/sh", "-c", fmt.Sprintf("sleep %.3f; kill -CONT %d", long.Seconds(), os.Getpid()))
	wake.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it goes on whatever the terminal does
	if err := wake.Start(); err != nil {
		return err
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	return wake.Wait()
}
