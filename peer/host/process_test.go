package host_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/host"
)

const childDir = "SATIN_TEST_CHILD" // names the state directory to a child process

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := beChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beChild is the other process of TestTwoProcesses.
func beChild(dir string) error {
	h, err := host.Open(context.Background(), host.Config{StateDir: dir, Swarm: "lab", Listen: loopback})
	if err != nil {
		return err
	}
	line, err := h.Invite(context.Background(), host.InviteOptions{})
	if err != nil {
		return err
	}
	fmt.Println(line)
	_, err = io.Copy(io.Discard, os.Stdin) // until it is killed
	return err
}

// Two processes meet; the directory of one is locked for the other until it is killed, and then at once free.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(patience(t), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	_, err = host.Open(t.Context(), host.Config{StateDir: dir, Listen: loopback})
	wants(t, err, host.ErrInUse)
	if pid := fmt.Sprintf("pid %d:", child.Process.Pid); !strings.Contains(err.Error(), pid) {
		t.Errorf("the message does not say %q: %v", pid, err)
	}
	b := open(t, host.Config{})
	join(t, b, line)
	if b.SwarmName() != "lab" || len(b.Members()) != 1 {
		t.Errorf("in the swarm %q with %d members", b.SwarmName(), len(b.Members()))
	}
	soon := patience(t)
	// soon after they have met: whoever is killed early is to come back, too
	for written := ""; !strings.Contains(written, b.ID().String()); {
		if b, err := os.ReadFile(filepath.Join(dir, "peers")); err == nil {
			written = string(b)
		}
		if soon.Err() != nil {
			t.Fatalf("the member is not remembered: %q", written)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	a := open(t, host.Config{StateDir: dir})
	if a.Incarnation() != 2 || a.SwarmName() != "lab" {
		t.Errorf("after the kill: life %d in the swarm %q", a.Incarnation(), a.SwarmName())
	}
	if err := a.Connect(patience(t), b.Addrs()[0]); err != nil {
		t.Error(err)
	}
}
