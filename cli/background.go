package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

const (
	// readyWithin is how long a daemon in the background may take to answer.
	readyWithin = 30 * time.Second
	// joinedWithin is how long it may take it to join others; then it goes on trying by itself.
	joinedWithin = 10 * time.Second
	// lookEvery is how often it is asked.
	lookEvery = 20 * time.Millisecond
	// maxDaemonLog is how long a log may be that is continued, in bytes; a longer one is kept beside a new one.
	maxDaemonLog = 4 << 20
)

// background starts this program again, with the same arguments but for --background, in a session of its own, and
// returns when it answers.
func (c console) background(l *settings.Loaded) error {
	if slices.Contains(l.Join, "-") {
		return errors.New("--join - cannot go with --background: nobody types there; use --join @FILE")
	}
	path, log, err := openDaemonLog(l.StateDir)
	if err != nil {
		return failed("state_dir: %w", err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return failed("the program cannot be started again: %w", err)
	}
	cmd := exec.Command(self, foreground(c.args)...)
	cmd.Stdout, cmd.Stderr = log, log
	begins, err := log.Seek(0, 2)
	if err != nil {
		return failed("%w", err)
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return failed("the daemon cannot be started: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	is, err := awaitDaemon(l.RuntimeDir, cmd.Process.Pid, ended)
	alone := false
	if err == nil && len(l.Join) > 0 {
		alone, err = awaitMembers(l.RuntimeDir, ended)
	}
	if err != nil {
		return failed("the daemon did not come to life: %s; its log is %s", whyNot(l, path, begins, err), path)
	}
	says := "the daemon is ready (process %d); its log is %s\n"
	if alone {
		says = "the daemon is ready (process %d), and nobody it was to join has answered yet: it goes on trying; its log is %s\n"
	}
	_, err = fmt.Fprintf(c.err, says, cmd.Process.Pid, path)
	if is.State == control.PeerPaused && is.Limit == "" {
		fmt.Fprintf(c.err, "it is %s, as it was before\n", pauseText(is, time.Now()))
	}
	return err
}

// whyNot says why a daemon in the background did not come to life: its last word or, where the disk took none, what is
// wrong with its directory.
func whyNot(l *settings.Loaded, log string, begins int64, err error) string {
	if why := lastLine(log, begins); why != "" {
		return why
	}
	if f := examineState(l); f.Level == control.Problem {
		return f.Text
	}
	return err.Error()
}

// foreground is a command line without --background.
func foreground(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args),
		func(a string) bool { return a == "--background" || strings.HasPrefix(a, "--background=") })
}

// openDaemonLog opens the log of a daemon in the background at its end.
func openDaemonLog(stateDir string) (path string, _ *os.File, err error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", nil, err
	}
	path = filepath.Join(stateDir, settings.LogFile)
	if info, err := os.Stat(path); err == nil && info.Size() > maxDaemonLog {
		(&boundedLog{path: path}).cut() // a daemon that runs may go on writing there
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return path, file, err
}

// awaitDaemon waits until the daemon of a directory answers that is this process, and not another one, and returns what
// it says of itself.
func awaitDaemon(dir string, pid int, ended <-chan struct{}) (is control.Status, err error) {
	so, err := awaitStatus(dir, readyWithin, ended, func(s *control.Status) bool {
		is = *s
		return s.PID == pid
	})
	if err == nil && !so {
		err = fmt.Errorf("it does not answer within %v", readyWithin)
	}
	return is, err
}

// awaitMembers waits until a daemon has joined others, a while at most, and says whether it is alone still: one that
// was given nothing but invitations that are of no use ends.
func awaitMembers(dir string, ended <-chan struct{}) (alone bool, err error) {
	so, err := awaitStatus(dir, joinedWithin, ended, func(s *control.Status) bool { return s.Peers > 0 })
	return !so, err
}

// awaitStatus waits, so long at most, until the daemon of a directory says of itself what is wanted, and says whether
// it has. It fails if the daemon's process ends.
func awaitStatus(dir string, within time.Duration, ended <-chan struct{},
	want func(s *control.Status) bool) (so bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		if d, err := control.Connect(dir); err == nil {
			s, err := d.Status(ctx)
			d.Close()
			if err == nil && want(&s) {
				return true, nil
			}
		}
		select {
		case <-ended:
			return false, errors.New("its process has ended")
		case <-ctx.Done():
			return false, nil
		case <-again.C:
		}
	}
}

// lastLine is the last line of a file behind an offset.
func lastLine(path string, from int64) string {
	text, err := os.ReadFile(path)
	if err != nil || int64(len(text)) < from {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text[from:])), "\n")
	return oneLine(strings.TrimPrefix(lines[len(lines)-1], "satin-peer: "))
}
