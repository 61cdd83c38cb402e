//go:build unix

package swarm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// bereaved names the program that a child of this test is to start, three times.
const bereaved = "SATIN_SWARM_TEST_PROGRAM"

// What was started ends when this process is killed, or stopped by a signal: daemons are not left computing.
func TestEndsWithItsParent(t *testing.T) {
	if program := os.Getenv(bereaved); program != "" {
		s := &Swarm{Binary: program, Dir: filepath.Dir(program)} // this process removes nothing
		if _, err := s.add(nil); err != nil {
			t.Fatal(err)
		}
		go Command(t.Context(), program, []string{"PATH=" + os.Getenv("PATH")}, "start")
		go Output(exec.Command(program, "start"))
		select {}
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		if signal.Ignored(sig) {
			continue // as in the background of a shell: so does the parent then
		}
		dir := t.TempDir()
		pipe, program := filepath.Join(dir, "pipe"), filepath.Join(dir, "program")
		script := fmt.Sprintf("#!/bin/sh\nexec 4>%s\necho $$ $1 >&4\nexec sleep 1000\n", pipe)
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		parent := exec.Command(os.Args[0], "-test.run=^TestEndsWithItsParent$")
		parent.Env = append(os.Environ(), bereaved+"="+program)
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		keep, err := os.OpenFile(pipe, os.O_RDWR, 0) // no end of the file between the programs
		if err != nil {
			t.Fatal(err)
		}
		said, err := os.Open(pipe)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(said)
		for range 3 {
			if line, err := lines.ReadString('\n'); err != nil || !strings.HasSuffix(line, " start\n") {
				t.Fatalf("%q, %v", line, err)
			}
		}
		keep.Close()
		if err := parent.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait()
		if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 { // until all have ended
			t.Errorf("%q, %v", rest, err)
		}
		said.Close()
	}
}

// What has ended is not killed again, whoever has its number by then; and the exit code is the program's.
func TestGuardEnds(t *testing.T) {
	cmd := exec.Command("sh", "-c", "echo done; echo why >&2; exit 7")
	want := cmd.Path + " -c echo done; echo why >&2; exit 7: exit status 7: why\n"
	out, err := Output(cmd)
	if code := cmd.ProcessState.ExitCode(); code != 7 || string(out) != "done\n" || err == nil || err.Error() != want {
		t.Errorf("exit code %d, %q, %v", code, out, err)
	}
}
