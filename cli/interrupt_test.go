package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// howFar is what an interrupted run says.
var howFar = regexp.MustCompile(
	`(?m)^satin-peer: (interrupted|terminated|hung up) after \d+\.\d{3} s with \d+\.\d % of the tree done, [\d,]+ jobs executed$`)

// TestInterrupt interrupts runs in this process: the exit code, what is said and left out, and that the
// signal is given back to the system, so that the next one ends the process.
func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		args   []string
		signal os.Signal
		code   int
	}{
		{[]string{"run", "spin", "--workers", "2"}, os.Interrupt, 130},
		{[]string{"run", "spin", "--workers", "2", "--json", "--stats"}, syscall.SIGTERM, 143},
	} {
		f := newFake()
		code := make(chan int)
		go func() { code <- f.run(c.args...) }()
		<-begun
		f.caught <- c.signal
		if got := <-code; got != c.code {
			t.Errorf("%q: exit code %d, want %d", c.args, got, c.code)
		}
		if f.released == 0 {
			t.Errorf("%q: the next signal would not end the process", c.args)
		}
		if f.out.Len() > 0 {
			t.Errorf("%q: output %q", c.args, &f.out)
		}
		text := f.err.String()
		if len(howFar.FindAllString(text, -1)) != 1 {
			t.Errorf("%q: %s", c.args, text)
		}
		if stats := strings.Contains(text, "SATIN: SPAWN:"); stats != (len(c.args) > 4) {
			t.Errorf("%q: statistics: %v", c.args, stats)
		}
	}
}

// TestInterruptedTooLate checks that an answer which is there when the signal comes is printed.
func TestInterruptedTooLate(t *testing.T) {
	f := newFake()
	code := make(chan int)
	go func() { code <- f.run("run", "block", "--sequential") }()
	<-begun
	f.caught <- os.Interrupt
	f.caught <- os.Interrupt // the first was taken: the command waits for the program to end
	gate <- struct{}{}
	if got := <-code; got != 0 || f.out.String() != "0\n" {
		t.Errorf("exit code %d, output %q", got, &f.out)
	}
}

// A child is this test binary as the command, in a process of its own.
type child struct {
	*exec.Cmd
	stderr *bufio.Reader
}

// startChild starts the command with args and waits until its job runs.
func startChild(t *testing.T, patience time.Duration, args ...string) *child {
	t.Helper()
	// A signal that is ignored, as for the background jobs of a script, would be ignored by the child, too.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(exe, args...)}
	c.Env = append(os.Environ(), childEnv+"="+patience.String())
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stderr = bufio.NewReader(stderr)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_, _ = c.Process.Kill(), c.Wait()
		}
	})
	for line := ""; line != beginLine+"\n"; {
		if line, err = c.stderr.ReadString('\n'); err != nil {
			t.Fatalf("the job does not begin: %v", err)
		}
	}
	return c
}

// end gives what a child still says, and waits for it.
func (c *child) end(t *testing.T) string {
	t.Helper()
	text, err := io.ReadAll(c.stderr)
	if err != nil {
		t.Error(err)
	}
	if exit := (*exec.ExitError)(nil); !errors.As(c.Wait(), &exit) {
		t.Error("the command ended as if nothing had happened")
	}
	return string(text)
}

// TestSignals sends real signals to real processes: a run whose jobs spawn, and one whose only job is a long leaf.
func TestSignals(t *testing.T) {
	for _, app := range []string{"spin", "block"} {
		for s, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
			c := startChild(t, abortPatience, "run", app, "--workers", "2")
			if err := c.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if s == syscall.SIGHUP {
				_ = c.Process.Signal(s) // a closed terminal sends it, and its shell does
			}
			if text := c.end(t); c.ProcessState.ExitCode() != code || !howFar.MatchString(text) {
				t.Errorf("%s, %v: %v, %s", app, s, c.ProcessState, text)
			}
		}
	}
}

// TestSequentialSignal interrupts the sequential program, which knows nothing of aborts.
func TestSequentialSignal(t *testing.T) {
	c := startChild(t, abortPatience, "run", "block", "--sequential")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	text := c.end(t)
	if c.ProcessState.ExitCode() != 130 ||
		!regexp.MustCompile(`^satin-peer: interrupted after \d+\.\d{3} s\n$`).MatchString(text) {
		t.Errorf("%v: %q", c.ProcessState, text)
	}
}

// TestSecondSignal interrupts a process that would wait for an hour after the first signal.
func TestSecondSignal(t *testing.T) {
	c := startChild(t, time.Hour, "run", "block", "--sequential")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.end(t)
	}()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-ended:
			status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
				t.Errorf("ended by %v", c.ProcessState)
			}
			return
		case <-again.C:
			_ = c.Process.Signal(os.Interrupt) // fails when it has ended
		}
	}
}

// TestClosedPipe runs the command with nobody to read its answer.
func TestClosedPipe(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	for _, c := range []struct {
		out, err *os.File
		code     int
	}{{write, nil, 141}, {nil, write, 0}} {
		cmd := exec.Command(exe, "run", "count", "3")
		cmd.Env = append(os.Environ(), childEnv+"=1s")
		if c.out != nil {
			cmd.Stdout = c.out
		}
		if c.err != nil {
			cmd.Stderr = c.err
		}
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%v, want exit code %d", cmd.ProcessState, c.code)
		}
	}
}
