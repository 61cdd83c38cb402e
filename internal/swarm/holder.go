//go:build unix

package swarm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// A holder is a process that keeps namespaces while nobody else is in them. It ends when its standard input does, so
// also with this process.
type holder struct {
	cmd *exec.Cmd
	in  io.Closer
}

// hold runs a command line that says "ready" when its namespaces are as they should be, and waits for that.
func hold(ctx context.Context, line ...string) (*holder, error) {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errs strings.Builder
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = in.Close() })
	defer stop()
	if word, _ := bufio.NewReader(out).ReadString('\n'); word != "ready\n" {
		_ = in.Close()
		return nil, fmt.Errorf("%w: %s", cmd.Wait(), strings.TrimSpace(errs.String()))
	}
	return &holder{cmd, in}, nil
}

func (h *holder) pid() string { return strconv.Itoa(h.cmd.Process.Pid) }

// Close ends it; the processes in its namespaces must have ended.
func (h *holder) Close() error {
	_ = h.in.Close() // it may have ended
	return h.cmd.Wait()
}
