//go:build floods

package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// What floods may cost: see docs/security.md.
const (
	mostMemory = 150e6
	mostSlower = 5
	flooders   = 4
	probes     = 400
	floodFor   = 20 * time.Second
)

// A daemonVictim is a daemon of its own process, with a run of its own.
type daemonVictim struct {
	t       *testing.T
	program string
	env     []string
	pid     int
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

func newDaemonVictim(t *testing.T) (d *daemonVictim, run job.RunID) {
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
	d.begins("run", "nqueens", "20")
	until(t, "the run is there", func() bool {
		var list []struct{ Run string }
		out, err := d.command("runs", "--json").Output()
		if err == nil && json.Unmarshal(out, &list) == nil && len(list) == 1 {
			run, _ = job.ParseRunID(list[0].Run)
		}
		return run != job.RunID{}
	})
	return d, run
}

// member joins the daemon's swarm.
func (d *daemonVictim) member(run job.RunID) *robber {
	d.t.Helper()
	line := strings.TrimSpace(d.ask("invite"))
	line = line[strings.LastIndex(line, " ")+1:]
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
	return (&rogue{h, i.Inviter}).steals(d.t, run)
}

// probe measures round trips of the steal protocol, and gives the 99th percentile.
func (x *robber) probe(t *testing.T) time.Duration {
	var took []time.Duration
	for range probes {
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
	slices.Sort(took)
	return took[len(took)*99/100]
}

// floods are what a member sends without an end; n counts up.
var floods = map[string]func(t *testing.T, x *robber, n int) *steal.Message{
	"jobs": func(_ *testing.T, _ *robber, n int) *steal.Message {
		m := &steal.Message{Reply: &steal.StealReply{}}
		for k := range 12 {
			m.Reply.Jobs = append(m.Reply.Jobs, steal.Grant{Handle: steal.Handle(12*n + k + 1),
				Job: steal.Job{Path: job.Path{uint32(n), uint32(k)}, Function: "nqueens.place",
					Arg: make([]byte, 15<<10)}})
		}
		return m
	},
	"hand-overs": func(t *testing.T, x *robber, n int) *steal.Message {
		return x.handOver(t, n, 100<<10)
	},
	"long hand-overs": func(t *testing.T, x *robber, n int) *steal.Message {
		return x.handOver(t, n, 4<<20)
	},
	"long tuples": func(_ *testing.T, x *robber, n int) *steal.Message {
		g := steal.Grant{Handle: steal.Handle(n + 1), Job: steal.Job{Path: job.Path{uint32(n)},
			Function: "nqueens.place", Restarted: true}}
		for k := range 5 {
			path := make(job.Path, 8000)
			path[0], path[1], path[2] = uint32(n), uint32(k), 1<<20
			g.Orphans = append(g.Orphans, steal.Tuple{Path: path, Holder: x.self, Done: true})
		}
		return &steal.Message{Reply: &steal.StealReply{Jobs: []steal.Grant{g}}}
	},
}

func (x *robber) handOver(t *testing.T, n, size int) *steal.Message {
	p := steal.Partial{Path: job.Path{uint32(n), 7}, Identity: job.Identity{1}, Outcome: make([]byte, size)}
	c := (&verify.Opening{Node: driver.NodeOf(p.Path, p.Identity), Outcome: compute.Digest(p.Outcome)}).Claim()
	var err error
	if p.Voucher, err = statement.Vouch(x.key, x.run, &c); err != nil {
		t.Error(err)
	}
	return &steal.Message{HandOver: &steal.HandOver{ID: uint64(n + 1), Parts: []steal.Partial{p}}}
}

// Floods of every kind, by several members at once, leave the victim's memory and its answers within bounds.
func TestFloods(t *testing.T) {
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			d, run := newDaemonVictim(t)
			honest := d.member(run)
			quiet, before := honest.probe(t), d.peak()
			until := time.Now().Add(floodFor)
			for range flooders {
				x := d.member(run)
				go func() {
					for n := 0; time.Now().Before(until); n++ {
						x.send(steal.Address{Peer: steal.PeerID(x.victim.String())}, flood(t, x, n))
						x.mu.Lock()
						x.got = nil
						x.mu.Unlock()
						time.Sleep(time.Millisecond)
					}
				}()
			}
			flooded := honest.probe(t)
			for time.Now().Before(until) {
				flooded = max(flooded, honest.probe(t))
			}
			t.Logf("%s: p99 %v, before %v (%.1f times); most memory %.0f MB, before %.0f MB", name, flooded, quiet,
				float64(flooded)/float64(quiet), float64(d.peak())/1e6, float64(before)/1e6)
			if d.peak() > mostMemory {
				t.Errorf("%.0f MB, at most %.0f are allowed", float64(d.peak())/1e6, mostMemory/1e6)
			}
			if flooded > mostSlower*max(quiet, 2*time.Millisecond) {
				t.Errorf("steals take %.1f times as long, at most %d are allowed", float64(flooded)/float64(quiet), mostSlower)
			}
		})
	}
}
