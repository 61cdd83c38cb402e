package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// replacedEnv makes the test binary put the file that it names in its own place, and start a process for jobs.
const replacedEnv = "SATIN_PEER_TEST_REPLACED"

func afterUpgrade(other string) int {
	self, err := os.Executable()
	if err == nil {
		err = os.Rename(other, self)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	command := processes()
	out, _ := exec.Command(command[0], command[1:]...).CombinedOutput() // it ends, as its input does
	fmt.Print(string(out))
	return 0
}

// Guards that jobs run in the version that their daemon has, and that its cards say, though its file was replaced as an
// upgrade does it.
func TestProcessesAfterUpgrade(t *testing.T) {
	dir := t.TempDir()
	self, other := filepath.Join(dir, "satin-peer"), filepath.Join(dir, "next")
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	for file, text := range map[string][]byte{self: own, other: []byte("#!/bin/sh\necho of another version\n")} {
		if err := os.WriteFile(file, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	daemon := exec.Command(self)
	daemon.Env = append(os.Environ(), replacedEnv+"="+other)
	out, err := daemon.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "satin: ") {
		t.Errorf("%v: a process for jobs says %q", err, out)
	}
}

// Guards other systems, where /proc/self/exe is a file like any other, which on Windows whoever has an account may
// make: a daemon would run it with all its rights.
func TestProcessesElsewhere(t *testing.T) {
	self, err := os.Executable()
	if got := processesOn("windows"); err != nil || got[0] != self {
		t.Errorf("jobs are run by %q, %v", got, err)
	}
}
