//go:build floods

package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/steal"
)

// A daemonVictim is a daemon of its own process, with a run of its own.
type daemonVictim struct {
	t       *testing.T
	program string
	env     []string
	pid     int

	other func() job.RunID // the run of another member, that takes part in this one's as this one does in its
}

func (d *daemonVictim) command(args ...string) *exec.Cmd {
	c := exec.Command(d.program, args...)
	c.Env = append(os.Environ(), d.env...)
	return c
}

func (d *daemonVictim) ask(args ...string) string {
	d.t.Helper()
	out, err := d.command(args...).Output()
	if err != nil {
		d.t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// begins starts a process that ends with the test.
func (d *daemonVictim) begins(args ...string) int {
	c := d.command(args...)
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	return c.Process.Pid
}

// peak is the most memory that the daemon has had, in bytes.
func (d *daemonVictim) peak() int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.pid))
	if err != nil {
		d.t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	kib, _ := strconv.Atoi(string(m[1]))
	return kib << 10
}

// cores is how many cores the daemon uses from now on until it is asked, its jobs' process not counted.
func (d *daemonVictim) cores() (until func() float64) {
	used, began := cputime.Of(d.pid), time.Now()
	return func() float64 { return (cputime.Of(d.pid) - used).Seconds() / time.Since(began).Seconds() }
}

func newDaemonVictim(t *testing.T, join ...string) (d *daemonVictim, run job.RunID) {
	dir := t.TempDir()
	d = &daemonVictim{t: t, program: filepath.Join(dir, "satin-peer"), env: []string{
		"SATIN_STATE_DIR=" + dir + "/state",
		"SATIN_RUNTIME_DIR=" + dir + "/run", "SATIN_SWARM=" + swarmName, "SATIN_LISTEN=/ip4/127.0.0.1/tcp/0",
		"SATIN_MDNS=false", "SATIN_DHT=false", "SATIN_NAT=false", "SATIN_DASHBOARD=off", "SATIN_WORKERS=1"}}
	if out, err := exec.Command("go", "build", "-o", d.program, "../../cmd/satin-peer").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.pid = d.begins("start")
	until(t, "the daemon answers", func() bool { return d.command("status").Run() == nil })
	for _, line := range join {
		d.ask("join", line)
	}
	d.other = sync.OnceValue(func() job.RunID {
		_, run := newDaemonVictim(t, d.invitation())
		until(t, "it is taken part in", func() bool { return slices.Contains(d.runs(false), run) })
		return run
	})
	d.begins("run", "nqueens", "20")
	until(t, "the run is there", func() bool {
		own := d.runs(true)
		if len(own) == 1 {
			run = own[0]
		}
		return len(own) == 1
	})
	return d, run
}

// runs are the daemon's own, or others'.
func (d *daemonVictim) runs(own bool) (ids []job.RunID) {
	var list []control.RunInfo
	out, err := d.command("runs", "--json").Output()
	if err != nil || json.Unmarshal(out, &list) != nil {
		return nil
	}
	for _, i := range list {
		if id, ok := job.ParseRunID(i.Run); ok && i.Mine == own {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *daemonVictim) invitation() string {
	d.t.Helper()
	line := strings.TrimSpace(d.ask("invite"))
	return line[strings.LastIndex(line, " ")+1:]
}

// member joins the daemon's swarm.
func (d *daemonVictim) member(run job.RunID) *robber {
	d.t.Helper()
	line := d.invitation()
	i, err := host.ParseInvitation(line)
	if err != nil {
		d.t.Fatal(err)
	}
	h, err := host.Open(d.t.Context(), hostConfig(d.t))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = h.Close() })
	if err := h.Join(patience(d.t), line); err != nil {
		d.t.Fatal(err)
	}
	r := &rogue{h, i.Inviter}
	r.introduces(d.t)
	return r.steals(d.t, run)
}

// probe measures round trips of the steal protocol, so many at least, until a time.
func (x *robber) probe(t *testing.T, until time.Time) (took []time.Duration) {
	for len(took) < probes || time.Now().Before(until) {
		x.last++
		id, began := x.last, time.Now()
		to := steal.Address{Peer: steal.PeerID(x.victim.String())}
		x.send(to, &steal.Message{Request: &steal.StealRequest{ID: id}})
		for answered := false; !answered; time.Sleep(20 * time.Microsecond) {
			x.mu.Lock()
			answered = slices.ContainsFunc(x.got, func(m *steal.Message) bool {
				return m.Reply != nil && m.Reply.ID == id
			})
			x.mu.Unlock()
			if time.Since(began) > 30*time.Second {
				t.Fatal("the victim does not answer")
			}
		}
		took = append(took, time.Since(began))
		x.mu.Lock()
		x.got = nil
		x.mu.Unlock()
	}
	return took
}

// p99 is the 99th percentile, in milliseconds.
func p99(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)*99/100]) / 1e6
}

// floodIs is how a process is told what to pour on whom: the kind, the run, the other run, the daemon's program and the
// variables of its commands.
const floodIs = "SATIN_TEST_FLOOD"

// flood has a process of its own begin to flood the daemon, and says how much it has poured when it has ended.
func (d *daemonVictim) flood(name string, run, other job.RunID) (poured func() int) {
	d.t.Helper()
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	c := exec.Command("nice", "-n", "19", self, "-test.run", "^TestPour$")
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%s,%s,%s,%s", floodIs, name, run.Hex(), other.Hex(), d.program,
		strings.Join(d.env, ",")))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begins" {
		d.t.Fatalf("who is to flood says %q", lines.Text())
	}
	return func() (n int) {
		if !lines.Scan() {
			d.t.Fatal("who floods says nothing")
		}
		n, _ = strconv.Atoi(lines.Text())
		return n
	}
}
