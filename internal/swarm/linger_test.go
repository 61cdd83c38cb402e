//go:build unix

package swarm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// What keeps a process there is named: its threads with what they wait for, and whoever else writes to its log.
func TestLingers(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc here")
	}
	program := filepath.Join(t.TempDir(), "program")
	script := "#!/bin/sh\nsleep 1000 &\necho child $! >&2\nwait\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Swarm{Binary: program, Dir: t.TempDir()}
	p, err := s.add(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Peers = append(s.Peers, p)
	child := 0
	defer func() {
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}()
	wait := func(what string, true func() bool) {
		for t.Context().Err() == nil && !true() {
			if !p.Alive() {
				t.Fatalf("it has ended before %s: %s", what, p.Log())
			}
		}
	}
	wait("it names its child", func() bool {
		n, err := fmt.Sscanf(p.Log(), "child %d\n", &child)
		return n == 1 && err == nil
	})
	said := ""
	wait("both are there", func() bool {
		said = p.Lingers()
		return strings.Contains(said, "Name sleep") && strings.Contains(said, "State S (sleeping), Threads 1")
	})
	for _, want := range []string{fmt.Sprintf("process %d: State S", p.PID()), fmt.Sprintf("thread %d: Name ", p.PID()),
		fmt.Sprintf("its standard error is held by process %d (Name sleep", child)} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

// Guards that a process which has ended, and is not taken down, is told from one that lives.
func TestExiting(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc")
	}
	if exiting(os.Getpid()) {
		t.Error("this process is taken for one that has ended")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	for !exiting(cmd.Process.Pid) { // it cannot be gone before Wait
		runtime.Gosched()
	}
	_ = cmd.Wait()
}
