// Package swarm runs swarms of real satin-peer processes on this machine, for tests and for measurements: every process has a
// state directory of its own, listens on loopback only, and is controlled and killed by its own pid.
//
// What it starts it ends: Close kills what still runs and waits for it.
package swarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/peer/control"
)

// Build compiles the command into a directory and returns its path. It must be called inside this module, or one that replaces it.
func Build(ctx context.Context, dir string) (string, error) {
	const module = "github.com/satin-peer/satin"
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", module, err)
	}
	binary, err := filepath.Abs(filepath.Join(dir, "satin-peer"))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/satin-peer")
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build satin-peer: %w\n%s", err, out)
	}
	return binary, nil
}

// A Swarm is some processes that know each other through the first.
type Swarm struct {
	Binary string
	Dir    string // state directories and logs are here
	Peers  []*Process
	// Settings are variables of the environment that all processes get besides the ones that keep them on loopback.
	Settings []string
}

// A Process is one satin-peer.
type Process struct {
	Dir    string // its state directory
	cmd    *exec.Cmd
	log    *lockedBuffer
	ended  chan struct{}
	env    []string
	mu     sync.Mutex
	client *control.Client
}

// Start adds a process with some more settings, as "SATIN_CLUSTER=a", and waits until it can be talked to and, if it is not the
// first, has been admitted by it.
func (s *Swarm) Start(ctx context.Context, settings ...string) (*Process, error) {
	p, err := s.launch(settings...)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if len(s.Peers) > 0 {
		addr, err := s.Peers[0].Address(ctx)
		if err != nil {
			return nil, errors.Join(err, p.Kill())
		}
		if _, err := p.Client().Join(ctx, addr); err != nil {
			return nil, errors.Join(fmt.Errorf("join: %w", err), p.Kill())
		}
	}
	s.Peers = append(s.Peers, p)
	return p, nil
}

// launch starts a process without waiting for anything.
func (s *Swarm) launch(settings ...string) (*Process, error) {
	dir, err := os.MkdirTemp(s.Dir, "peer-")
	if err != nil {
		return nil, err
	}
	p := &Process{Dir: dir, log: &lockedBuffer{}, ended: make(chan struct{})}
	p.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_RUNTIME_DIR=" + dir,
		"SATIN_STATE_DIR=" + dir, "SATIN_LISTEN=/ip4/127.0.0.1/udp/0/quic-v1,/ip4/127.0.0.1/tcp/0", "SATIN_TRUST=open", "SATIN_SWARM=test",
		"SATIN_MDNS=false", "SATIN_DHT=false", "SATIN_NAT=false", "SATIN_WORKERS=1",
	}, append(s.Settings, settings...)...)
	p.cmd = exec.Command(s.Binary, "start")
	p.cmd.Env, p.cmd.Stderr = p.env, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the test is not one of the peer
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}()
	return p, nil
}

// ready waits until the process answers.
func (p *Process) ready(ctx context.Context) error {
	for {
		c, err := control.Connect(filepath.Join(p.Dir, "control"))
		if err == nil {
			if _, err = c.Status(ctx); err == nil {
				p.mu.Lock()
				p.client = c
				p.mu.Unlock()
				return nil
			}
			c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d does not answer: %w\n%s", p.PID(), err, p.Log())
		case <-p.ended:
			return fmt.Errorf("process %d ended: %s\n%s", p.PID(), p.cmd.ProcessState, p.Log())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Client talks to the process.
func (p *Process) Client() *control.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.client
}

// Address is where others can join it.
func (p *Process) Address(ctx context.Context) (string, error) {
	st, err := p.Client().Status(ctx)
	if err != nil {
		return "", err
	}
	if len(st.Addresses) == 0 {
		return "", fmt.Errorf("process %d listens nowhere", p.PID())
	}
	return st.Addresses[0], nil
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log is what it has written on standard error.
func (p *Process) Log() string { return p.log.String() }

// Signal sends it a signal; one to a process that has ended is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Kill ends it at once and waits for that.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	<-p.ended
	return err
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State is how it ended.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Run runs an application through a process's daemon, waits, and returns what was printed.
func (s *Swarm) Run(ctx context.Context, at *Process, args ...string) (string, error) {
	return Command(ctx, s.Binary, at.env, append([]string{"run"}, args...)...)
}

// Command runs the command with an environment and gives its standard output.
func Command(ctx context.Context, binary string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("satin-peer %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// Close kills what still runs.
func (s *Swarm) Close() error {
	var errs []error
	for _, p := range s.Peers {
		errs = append(errs, p.Signal(syscall.SIGKILL))
	}
	for _, p := range s.Peers {
		<-p.ended
		if c := p.Client(); c != nil {
			c.Close()
		}
	}
	return errors.Join(errs...)
}

// lockedBuffer keeps the last part of a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  []byte
}

const maxLog = 1 << 20

var _ io.Writer = (*lockedBuffer)(nil)

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, b...)
	if len(l.b) > maxLog {
		l.b = append(l.b[:0:0], l.b[len(l.b)-maxLog/2:]...)
	}
	return len(b), nil
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}
