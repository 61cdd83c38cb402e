//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestFaultsOfRealProcesses kills and stalls a process of its own.
func TestFaultsOfRealProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "run", "spin", "--local", "--fault", "kill@1ms")
	c.Env = append(os.Environ(), childEnv+"=1m")
	text, err := c.CombinedOutput()
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL ||
		!strings.Contains(string(text), "--fault kill@1ms") {
		t.Errorf("killed: %v, %s", err, text)
	}
	// A process that stands still is reported as stopped, and after that as going on.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid, err := syscall.ForkExec(exe, []string{exe, "run", "spin", "--local", "--fault", "stall@1ms+300ms"},
		&syscall.ProcAttr{
			Env: append(os.Environ(), childEnv+"=1m"), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
	}()
	for status := syscall.WaitStatus(0); !status.Continued(); { // only whoever was stopped is
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED|syscall.WCONTINUED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || !status.Stopped() && !status.Continued() {
			t.Fatalf("status %#x, %v", status, err)
		}
	}
}
