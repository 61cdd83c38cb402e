package steal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/transcript"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// The transcripts in testdata are played as package transcript says.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, func() (*strings.Builder, func(*testing.T, *datadriven.TestData)) {
		s := &stage{actors: make(map[string]*actor)}
		return &s.out, s.command
	})
}

// stage holds the cores of one transcript and the messages between them.
type stage struct {
	out     strings.Builder
	now     time.Duration
	run     steal.Run       // what all cores are told of the run
	cut     map[string]bool // the peers on the far side of a partition
	actors  map[string]*actor
	crashed *actor // the last one
	order   []string
	flying  []flying
	lastMsg int
}

// flying is a message, or news, that has been sent and not delivered.
type flying struct {
	n    int
	m    *steal.Message
	news *steal.News
}

// actor is one peer: a core and a pretended engine that runs nothing but remembers what it was ordered.
type actor struct {
	stage   *stage
	name    string
	cluster steal.ClusterID
	inc     steal.Incarnation
	policy  string
	room    int // Config.MaxWaiting, if not 0
	eager   time.Duration
	end     time.Duration // of leases; 0: never
	driver  *driver.Driver
	script  *steal.Scripted
	load    steal.Load
	queue   []steal.Taken
	slots   map[steal.Ref]string // what became of each job given away
	jobs    map[steal.Ref]steal.Job
	lastRef steal.Ref
	running []steal.SegmentID
	mute    bool // does not answer Take orders
	asleep  bool // is not ticked
}

func (s *stage) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

func (s *stage) command(t *testing.T, d *datadriven.TestData) {
	names := d.CmdArgs
	switch d.Cmd {
	case "run": // run a b c: a root job, its owner, who starts it in its first life, and more deputies
		s.run.Root = steal.Job{Function: "root", Identity: job.Identify("root", nil)}
		for _, a := range names {
			s.run.Deputies = append(s.run.Deputies, steal.PeerID(a.Key))
		}
	case "peers":
		s.addPeers(t, d)
	case "partition": // partition c d: nothing gets through between these and the others; nobody: it is over
		s.cut = make(map[string]bool)
		for _, a := range names {
			s.cut[a.Key] = true
		}
	case "spawn": // spawn a 3 [size=n]: three more jobs in a's queue
		s.spawn(t, d)
	case "busy", "idle", "mute":
		for _, a := range names {
			x := s.actor(t, d, a.Key)
			x.mute = d.Cmd == "mute"
			if !x.mute {
				x.load.Idle = 0
				if d.Cmd == "idle" {
					x.load.Idle = x.load.Workers
				}
				s.report(x)
			}
		}
	case "steal": // steal thief victim [max=n] [patience=d]
		s.plan(t, d, func(x *steal.Scripted, other steal.PeerID, n int, patience time.Duration) {
			x.Steals = append(x.Steals, policy.Steal{Victim: other, Max: n, Patience: patience})
		})
	case "push": // push victim thief [max=n]
		s.plan(t, d, func(x *steal.Scripted, other steal.PeerID, n int, _ time.Duration) {
			x.Pushes = append(x.Pushes, policy.Push{Thief: other, Max: n})
		})
	case "route": // route b via=far: b's results go through that cluster
		var via string
		d.ScanArgs(t, "via", &via)
		s.actor(t, d, names[0].Key).script.Via = steal.ClusterID(via)
	case "deliver", "drop", "duplicate", "fail", "redirect":
		s.network(t, d)
	case "stabilize":
		for len(s.flying) > 0 {
			s.deliver(s.flying[0])
		}
	case "advance":
		s.advance(t, d)
	case "finish": // finish b 1 out
		x := s.actor(t, d, names[0].Key)
		id := steal.SegmentID(number(t, d, names[1].Key))
		x.running = slices.DeleteFunc(x.running, func(r steal.SegmentID) bool { return r == id })
		x.load.Idle++
		x.happened(port.Event{Kind: port.Finished, Segment: id, Outcome: []byte(names[2].Key), Good: true})
		s.report(x)
	case "abort": // abort a 1 2
		x := s.actor(t, d, names[0].Key)
		var refs []steal.Ref
		for _, n := range names[1:] {
			refs = append(refs, steal.Ref(number(t, d, n.Key)))
			x.slots[refs[len(refs)-1]] = "aborted"
		}
		x.happened(port.Event{Kind: port.Dropped, Refs: refs})
	case "leave": // leave b [patience=1s]
		x := s.actor(t, d, names[0].Key)
		x.driver.Leave(s.now, duration(t, d, "patience"))
	case "sleep", "wake":
		s.actor(t, d, names[0].Key).asleep = d.Cmd == "sleep"
	case "crash":
		s.crashed = s.actor(t, d, names[0].Key)
		delete(s.actors, names[0].Key)
	case "restart":
		s.restart(t, d)
	case "state":
		for _, n := range names {
			s.actor(t, d, n.Key).driver.Core().WriteState(&s.out, s.now)
		}
	case "stats":
		for _, n := range names {
			s.stats(s.actor(t, d, n.Key))
		}
	default:
		s.recoveryCommand(t, d)
	}
}

func (s *stage) actor(t *testing.T, d *datadriven.TestData, name string) *actor {
	x := s.actors[name]
	if x == nil {
		d.Fatalf(t, "no peer %q", name)
	}
	return x
}

func number(t *testing.T, d *datadriven.TestData, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

// addPeers reads: peers a b c cluster=near policy=crs room=1 eager=5s end=4s. Without a policy the transcript decides
// who steals, and without an end a listed lease has none.
func (s *stage) addPeers(t *testing.T, d *datadriven.TestData) {
	cluster, policy, room, eager := "near", "scripted", 0, duration(t, d, "eager")
	end := duration(t, d, "end")
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "cluster":
			cluster = a.Vals[0]
		case "policy":
			policy = a.Vals[0]
		case "room":
			room = number(t, d, a.Vals[0])
		}
	}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			s.actors[a.Key] = &actor{stage: s, name: a.Key, cluster: steal.ClusterID(cluster), inc: 1, policy: policy,
				room: room, eager: eager, end: end}
			s.order = append(s.order, a.Key)
		}
	}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			s.start(t, d, s.actors[a.Key])
		}
	}
}

func (s *stage) members() *steal.Members {
	var list []steal.Member
	for _, n := range s.order {
		if x := s.actors[n]; x != nil {
			list = append(list, steal.Member{ID: steal.PeerID(n), Cluster: x.cluster})
		}
	}
	return steal.NewMembers(list)
}

func (s *stage) start(t *testing.T, d *datadriven.TestData, x *actor) {
	x.slots, x.jobs = make(map[steal.Ref]string), make(map[steal.Ref]steal.Job)
	x.queue, x.running, x.lastRef = nil, nil, 0
	x.load = steal.Load{Workers: 1}
	var p policy.Policy
	switch x.policy {
	case "crs":
		p = policy.ClusterAware{}
	case "scripted":
		x.script = &steal.Scripted{}
		p = x.script
	default:
		d.Fatalf(t, "unknown policy %q", x.policy)
	}
	cfg := steal.LAN()
	if x.room > 0 {
		cfg.MaxWaiting = x.room
	}
	cfg.EagerAfter, cfg.EagerPercent, cfg.LeaseEnd = x.eager, 50, x.end
	run := s.run
	run.ID, run.Fresh = job.RunID{1}, len(run.Deputies) > 0 && x.name == string(run.Deputies[0]) && x.inc == 1
	core, err := steal.NewCore(cfg, run, steal.Address{Peer: steal.PeerID(x.name), Inc: x.inc}, s.members(), p,
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	x.driver = driver.New(driver.Config{Core: core, Engine: x, Transport: x})
	for _, n := range s.order {
		if y := s.actors[n]; y != nil && y.driver != nil {
			y.driver.SetMembers(s.now, s.members())
		}
	}
	s.report(x)
}

// restart gives a crashed or running peer a new life: restart a.
func (s *stage) restart(t *testing.T, d *datadriven.TestData) {
	name := d.CmdArgs[0].Key
	x := s.actors[name]
	if x == nil && s.crashed != nil && s.crashed.name == name {
		x = s.crashed
		s.actors[name] = x
	}
	if x == nil {
		d.Fatalf(t, "restart of unknown peer %q", name)
	}
	x.inc++
	s.start(t, d, x)
}

func (s *stage) spawn(t *testing.T, d *datadriven.TestData) {
	x := s.actor(t, d, d.CmdArgs[0].Key)
	size := 0
	if d.HasArg("size") {
		d.ScanArgs(t, "size", &size)
	}
	for range number(t, d, d.CmdArgs[1].Key) {
		x.lastRef++
		arg := []byte(strconv.Itoa(int(x.lastRef)))
		arg = append(arg, make([]byte, max(0, size-len(arg)))...)
		j := steal.Job{Path: job.Path{uint32(x.lastRef)}, Identity: job.Identify("f", arg), Function: "f", Arg: arg}
		x.jobs[x.lastRef] = j
		x.queue = append(x.queue, steal.Taken{Ref: x.lastRef, Job: j})
	}
	x.load.Idle = 0
	s.report(x)
}

func (s *stage) report(x *actor) {
	x.load.Queued = len(x.queue)
	x.happened(port.Event{Kind: port.LoadChanged, Load: x.load})
}

func (s *stage) plan(t *testing.T, d *datadriven.TestData,
	add func(*steal.Scripted, steal.PeerID, int, time.Duration)) {
	x := s.actor(t, d, d.CmdArgs[0].Key)
	n := 1
	if d.HasArg("max") {
		d.ScanArgs(t, "max", &n)
	}
	add(x.script, steal.PeerID(d.CmdArgs[1].Key), n, duration(t, d, "patience"))
	s.report(x)
}

// duration reads an argument like patience=1s; 0 without it.
func duration(t *testing.T, d *datadriven.TestData, name string) time.Duration {
	text := "0s"
	if d.HasArg(name) {
		d.ScanArgs(t, name, &text)
	}
	wait, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return wait
}

// network deals with messages in flight, by number or all of them: deliver 3 4, drop, duplicate 5, fail 6.
func (s *stage) network(t *testing.T, d *datadriven.TestData) {
	picked := slices.Clone(s.flying)
	if len(d.CmdArgs) > 0 {
		picked = nil
		for _, a := range d.CmdArgs {
			n := number(t, d, a.Key)
			i := slices.IndexFunc(s.flying, func(f flying) bool { return f.n == n })
			if i < 0 {
				d.Fatalf(t, "no message %d in flight", n)
			}
			picked = append(picked, s.flying[i])
		}
	}
	for _, f := range picked {
		switch d.Cmd {
		case "deliver":
			s.deliver(f)
		case "drop":
			s.land(f)
			s.printf("#%d lost\n", f.n)
		case "fail":
			s.land(f)
			s.printf("#%d cannot be written\n", f.n)
			if f.m == nil {
				break
			}
			if x := s.actors[string(f.m.From.Peer)]; x != nil {
				x.driver.SendFailed(s.now, f.m)
			}
		case "duplicate":
			s.lastMsg++
			s.flying = append(s.flying, flying{s.lastMsg, f.m, f.news})
			s.printf("#%d is #%d again\n", s.lastMsg, f.n)
		case "redirect": // the same message, of another run
			other := flying{n: s.lastMsg + 1}
			if f.m != nil {
				m := *f.m
				m.Run, other.m = job.RunID{2}, &m
			} else {
				news := *f.news
				news.Run, other.news = job.RunID{2}, &news
			}
			s.lastMsg++
			s.flying = append(s.flying, other)
			s.printf("#%d is #%d of another run\n", s.lastMsg, f.n)
		}
	}
}

func (s *stage) land(f flying) {
	s.flying = slices.DeleteFunc(s.flying, func(g flying) bool { return g.n == f.n })
}

func (s *stage) deliver(f flying) {
	s.land(f)
	if f.news != nil {
		s.spread(f)
		return
	}
	x := s.actors[string(f.m.To.Peer)]
	if x != nil && s.cut[x.name] != s.cut[string(f.m.From.Peer)] {
		s.printf("#%d does not get through\n", f.n)
		return
	}
	if x == nil {
		s.printf("#%d to nobody\n", f.n)
		return
	}
	s.printf("#%d arrives at %s\n", f.n, x.name)
	x.driver.Step(s.now, f.m)
}

// spread lets everybody hear news who is there, awake and not cut off from their sender.
func (s *stage) spread(f flying) {
	s.printf("#%d is heard\n", f.n)
	for _, n := range s.order {
		if x := s.actors[n]; x != nil && !x.asleep && n != string(f.news.From.Peer) &&
			s.cut[n] == s.cut[string(f.news.From.Peer)] {
			x.driver.Hear(s.now, f.news)
		}
	}
}

// advance lets time pass, ticking every core when it asks for it: advance 2s. With "flowing" messages arrive at once.
func (s *stage) advance(t *testing.T, d *datadriven.TestData) {
	by, err := time.ParseDuration(d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	for end := s.now + by; ; {
		var next *actor
		at := end
		for _, n := range s.order {
			if x := s.actors[n]; x != nil && !x.asleep {
				if due, ok := x.driver.Core().Next(); ok && (due < at || next == nil && due <= at) {
					next, at = x, due
				}
			}
		}
		s.now = max(s.now, at)
		if next == nil {
			return
		}
		next.driver.Tick(s.now)
		for d.HasArg("flowing") && len(s.flying) > 0 {
			s.deliver(s.flying[0])
		}
	}
}
