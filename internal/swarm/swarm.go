//go:build unix

// Package swarm runs swarms of real satin-peer processes on this machine, for tests and for measurements:
// every process has a state directory of its own, listens on loopback only, and is controlled and killed by
// its own pid.
//
// What it starts it ends: Close kills what still runs and waits for it, and what was started ends with this
// process if that is killed before.
package swarm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/peer/control"
)

// Build compiles the command into a directory and returns its path. It must be called inside this module, or
// one that replaces it.
func Build(ctx context.Context, dir string) (string, error) {
	return BuildProgram(ctx, dir, "./cmd/satin-peer")
}

// BuildProgram is Build of any program of this module, by its package.
func BuildProgram(ctx context.Context, dir, pkg string) (string, error) {
	const module = "github.com/satin-peer/satin"
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", module, err)
	}
	binary, err := filepath.Abs(filepath.Join(dir, filepath.Base(pkg)))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, pkg)
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return binary, nil
}

// A Swarm is some processes that know each other through the first.
type Swarm struct {
	Binary string
	// Others are the programs of some processes, by number, if they do not run Binary.
	Others map[int]string
	// Invited has processes be invited by the one they join through. Else whoever comes is let in.
	Invited bool
	Dir     string // state directories and logs are here
	Peers   []*Process
	// Settings are variables of the environment that all processes get besides the ones that keep them on loopback.
	Settings []string
	// Lab is where the processes run, if not on the machine itself.
	Lab *Lab
	// Disks are the sizes in bytes of small disks for the state directories of some processes, by number.
	// They need a Lab.
	Disks map[int]int64
}

// A Process is one satin-peer. It may be started again when it has ended: in the same directories, so it is
// the same peer.
type Process struct {
	Dir  string // its state directory
	Home string // its home and temporary directory; a daemon has nothing to write there
	run  string // where its control socket is, which must not be on a small disk
	// Number counts the processes of a swarm, from 0.
	Number int

	swarm *Swarm
	log   *lockedBuffer
	env   []string
	port  string // of the Lab's switch; changes with each start

	mu     sync.Mutex
	cmd    *exec.Cmd
	ended  chan struct{}
	words  string // its standard error, as the system calls it
	client *control.Client
}

// Start adds a process with some more settings, as "SATIN_CLUSTER=a", and waits until it can be talked to
// and, if it is not the first, has been admitted by it.
func (s *Swarm) Start(ctx context.Context, settings ...string) (*Process, error) {
	var through *Process
	if len(s.Peers) > 0 {
		through = s.Peers[0]
	}
	return s.StartThrough(ctx, through, settings...)
}

// StartThrough is Start of a process that joins by a certain other one, if that is not nil.
func (s *Swarm) StartThrough(ctx context.Context, through *Process, settings ...string) (*Process, error) {
	p, err := s.add(settings)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if through != nil {
		if err := p.Join(ctx, through); err != nil {
			return nil, errors.Join(err, p.Kill())
		}
	}
	s.Peers = append(s.Peers, p)
	return p, nil
}

// Form adds as many processes as there are settings, all at the same time: the others join by the first one
// of the swarm.
func (s *Swarm) Form(ctx context.Context, settings [][]string) error {
	first := len(s.Peers)
	for _, more := range settings {
		p, err := s.add(more)
		if err != nil {
			return err // Close ends the others
		}
		s.Peers = append(s.Peers, p)
	}
	if err := s.Peers[0].ready(ctx); err != nil {
		return err
	}
	fails := make([]error, len(settings))
	var wait sync.WaitGroup
	for i, p := range s.Peers[first:] {
		if p.Number == 0 {
			continue
		}
		wait.Go(func() {
			if fails[i] = p.ready(ctx); fails[i] == nil {
				fails[i] = p.Join(ctx, s.Peers[0])
			}
		})
	}
	wait.Wait()
	return errors.Join(fails...)
}

// Join has the process join a swarm through another one.
func (p *Process) Join(ctx context.Context, through *Process) error {
	addr, err := through.Address(ctx)
	if err == nil && p.swarm.Invited {
		var i control.Invited
		i, err = through.Client().Invite(ctx, control.Invitation{})
		addr = i.Line
	}
	if err != nil {
		return err
	}
	if _, err := p.Client().Join(ctx, addr); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	return nil
}

// add makes the directories of another process and starts it, without waiting for anything.
func (s *Swarm) add(settings []string) (*Process, error) {
	dir, err := os.MkdirTemp(s.Dir, "peer-")
	if err != nil {
		return nil, err
	}
	p := &Process{
		Dir: filepath.Join(dir, "state"), Home: filepath.Join(dir, "home"), run: filepath.Join(dir, "run"),
		Number: len(s.Peers), swarm: s, log: &lockedBuffer{},
	}
	for _, d := range []string{p.Dir, p.Home, p.run} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	trust := "SATIN_TRUST=open"
	if s.Invited {
		trust = "SATIN_TRUST=invite"
	}
	p.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.Home, "XDG_CONFIG_HOME=" + p.Home, "XDG_RUNTIME_DIR=" + p.Home,
		"TMPDIR=" + p.Home,
		"SATIN_STATE_DIR=" + p.Dir, "SATIN_RUNTIME_DIR=" + p.run,
		"SATIN_LISTEN=/ip4/127.0.0.1/udp/0/quic-v1,/ip4/127.0.0.1/tcp/0", trust, "SATIN_SWARM=test",
		"SATIN_MDNS=false", "SATIN_DHT=false", "SATIN_NAT=false", "SATIN_WORKERS=1",
	}, append(s.Settings, settings...)...)
	if s.Lab != nil {
		p.env = append(p.env, s.Lab.listen(p.Number))
		if size := s.Disks[p.Number]; size > 0 {
			if err := s.Lab.mount(p.Dir, size); err != nil {
				return nil, err
			}
		}
	}
	return p, p.launch()
}

// launch starts the program.
func (p *Process) launch() error {
	line := []string{cmp.Or(p.swarm.Others[p.Number], p.swarm.Binary), "start"}
	if p.swarm.Lab != nil {
		line = p.swarm.Lab.connected(p, line)
	}
	cmd, ended := exec.Command(line[0], line[1:]...), make(chan struct{})
	cmd.Env, cmd.Stderr = p.env, p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the test is not one of the peer
	p.mu.Lock()
	defer p.mu.Unlock()
	release, err := start(cmd)
	if err != nil {
		return err
	}
	if p.client != nil {
		p.client.Close()
	}
	p.cmd, p.ended, p.client = cmd, ended, nil
	p.words, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/2", cmd.Process.Pid)) // for Lingers, if there is a /proc
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		release()
		close(ended)
	}()
	return nil
}

// Restart starts a process that has ended again, and waits until it can be talked to. It finds the others by
// itself, if they are where they were.
func (p *Process) Restart(ctx context.Context) error {
	<-p.Ended()
	if err := p.launch(); err != nil {
		return err
	}
	return p.ready(ctx)
}

// ready waits until the process answers.
func (p *Process) ready(ctx context.Context) error {
	for {
		c, err := control.Connect(p.run)
		if err == nil {
			if st, bad := c.Status(ctx); bad == nil && st.PID == p.PID() {
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
		case <-p.Ended():
			return fmt.Errorf("process %d ended: %s\n%s", p.PID(), p.State(), p.Log())
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

// started is the program as it was last started.
func (p *Process) started() (*exec.Cmd, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd, p.ended
}

// PID is the process's number.
func (p *Process) PID() int {
	cmd, _ := p.started()
	return cmd.Process.Pid
}

// Log is what it has written on standard error.
func (p *Process) Log() string { return p.log.String() }

// Signal sends it a signal; one to a process that has ended is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	cmd, _ := p.started()
	if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Kill ends it at once and waits for that.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	<-p.Ended()
	return err
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} {
	_, ended := p.started()
	return ended
}

// Alive says whether it runs.
func (p *Process) Alive() bool {
	select {
	case <-p.Ended():
		return false
	default:
		return true
	}
}

// State is how it ended; only when it has.
func (p *Process) State() *os.ProcessState {
	cmd, _ := p.started()
	return cmd.ProcessState
}

// Run runs an application through a process's daemon, waits, and returns what was printed.
func (s *Swarm) Run(ctx context.Context, at *Process, args ...string) (string, error) {
	return at.Command(ctx, append([]string{"run"}, args...)...)
}

// Command runs a command that speaks to the process, and gives its standard output.
func (p *Process) Command(ctx context.Context, args ...string) (string, error) {
	out, _, err := p.CommandSays(ctx, args...)
	return out, err
}

// CommandSays is Command that also gives what is on standard error.
func (p *Process) CommandSays(ctx context.Context, args ...string) (out, said string, err error) {
	line := append([]string{p.swarm.Binary}, args...)
	if p.swarm.Lab != nil {
		line = p.swarm.Lab.inside(line)
	}
	return say(ctx, p.env, line)
}

// Command runs the command with an environment and gives its standard output.
func Command(ctx context.Context, binary string, env []string, args ...string) (string, error) {
	return command(ctx, env, append([]string{binary}, args...))
}

// CommandSays is Command that also gives what is on standard error.
func CommandSays(ctx context.Context, binary string, env []string, args ...string) (out, said string, err error) {
	return say(ctx, env, append([]string{binary}, args...))
}

func command(ctx context.Context, env, line []string) (string, error) {
	out, _, err := say(ctx, env, line)
	return out, err
}

func say(ctx context.Context, env, line []string) (out, said string, err error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var output, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &output, &errs
	if err := run(cmd); err != nil {
		return "", "", fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, errs.String())
	}
	return output.String(), errs.String(), nil
}

// Close kills what still runs.
func (s *Swarm) Close() error {
	var errs []error
	for _, p := range s.Peers {
		errs = append(errs, p.Signal(syscall.SIGKILL))
	}
	for _, p := range s.Peers {
		<-p.Ended()
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
