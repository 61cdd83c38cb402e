package cli

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestSameSignal has a process, which is this test again, get the same signal twice, as timeout sends it. A signal to
// the thread that sends it has done what it does when that goes on.
func TestSameSignal(t *testing.T) {
	const twiceEnv = "SATIN_PEER_TEST_TWICE"
	if os.Getenv(twiceEnv) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSameSignal$")
		cmd.Env = append(os.Environ(), twiceEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	runtime.LockOSThread()
	terminate := func() {
		if err := syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	caught, release := catchSignals(time.Hour)
	terminate()
	<-caught
	release()
	terminate()
}
