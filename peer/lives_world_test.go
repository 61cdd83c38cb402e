package peer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wallclock"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/arbiter"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/presence"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A livesWorld is some members of a swarm, each a process with the real conductor and all that is between it and the
// disk, that dies and begins anew. Engines, the network and the moods of the disks are models; time is virtual.
type livesWorld struct {
	members []*livesMember
	began   time.Time
	loose   sync.WaitGroup // what is on its way

	mu     sync.Mutex
	random *rand.Rand
	broken error
	loss   float64 // of what is told or asked
	calm   bool    // no more faults
	over   bool
	runs   []*lifeRun
	open   map[string]int // commands that have not come to an end
	words  strings.Builder
}

// A livesMember is one that keeps its key and its directory over its lives.
type livesMember struct {
	w    *livesWorld
	id   peer.ID
	host *host.Host // that nobody connects to
	dir  string
	mine int // its number

	turn    chan struct{} // a life begins when the last one is over
	mu      sync.Mutex
	now     *being // nil: it is down
	lives   uint64
	killed  int
	tries   int               // commands to take a run up again
	deaths  map[job.RunID]int // of processes
	apart   bool              // it cannot be reached
	busy    sync.WaitGroup
	onDisk  func(d *moods) // its moods, also in the next life
	disk    *moods         // of the life that is there, begins or was the last
	platter *platter
	off     atomic.Int64 // by so many nanoseconds its clock is wrong
}

// clock is what it reads.
func (m *livesMember) clock() time.Time {
	return wallclock.Set(time.Now(), time.Duration(m.off.Load()))
}

// A being is a life: one process of a member's.
type being struct {
	m    *livesMember
	id   peer.ID
	peer *Peer
	lane *lane
	disk *moods

	mu      sync.Mutex
	engines []*choreEngine
}

func (w *livesWorld) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.words, "%8.3f "+format+"\n", append([]any{time.Since(w.began).Seconds()}, args...)...)
}

// fail notes the first invariant that is broken.
func (w *livesWorld) fail(format string, args ...any) {
	w.say("BROKEN: "+format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = fmt.Errorf("after %v: %w", time.Since(w.began), fmt.Errorf(format, args...))
	}
}

func (w *livesWorld) draw(f func(r *rand.Rand) float64) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f(w.random)
}

func (w *livesWorld) chance(p float64) bool { return w.draw((*rand.Rand).Float64) < p }
func (w *livesWorld) below(n int) int       { return int(w.draw((*rand.Rand).Float64) * float64(n)) }
func (w *livesWorld) some(most time.Duration) time.Duration {
	return time.Duration(w.draw((*rand.Rand).Float64) * float64(most))
}

func (w *livesWorld) lost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calm && w.random.Float64() < w.loss
}

// after does something later, on a goroutine that the end of the world waits for.
func (w *livesWorld) after(d time.Duration, f func()) {
	w.loose.Go(func() {
		time.Sleep(d)
		w.mu.Lock()
		over := w.over
		w.mu.Unlock()
		if !over {
			f()
		}
	})
}

// way is the life at the other end of the way from one to a member; nil if there is none.
func (w *livesWorld) way(from *being, to peer.ID) *being {
	i := slices.IndexFunc(w.members, func(m *livesMember) bool { return m.id == to })
	if i < 0 || from.m.isApart() || from.lane.isCut() {
		return nil
	}
	m := w.members[i]
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.apart || m.now == nil || m.now == from {
		return nil
	}
	return m.now
}

func (m *livesMember) isApart() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.apart
}

func (m *livesMember) life() *being {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (l *lane) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// livesApp is the application that all have.
var livesApp = Application{Name: "peertest"}

// boot begins a life of a member that is down: what assemble does, without the parts that know the world outside.
func (m *livesMember) boot() {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if m.life() != nil {
		return
	}
	w := m.w
	cfg := Config{Host: host.Config{StateDir: m.dir}, Every: time.Second, Workers: 1, Steal: steal.LAN(),
		Runs: livesConfig(), Checkpoint: 500 * time.Millisecond, LeavePatience: 2 * time.Second, FullPriority: true}
	var log io.Writer = io.Discard
	if *livesTrace {
		log = lifeLog{w, m.mine}
	}
	x := &being{m: m, id: m.id}
	b := base.New(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: noTime})),
		m.clock, cfg.Every)
	x.disk = &moods{w: w}
	b.Medium = &moodyDisk{moods: x.disk, platter: m.platter}
	x.lane = &lane{w: w, self: x, handlers: map[protocol.ID]network.StreamHandler{}}
	p := &Peer{Base: b, cfg: cfg, host: m.host, news: make(chan struct{}, 1)}
	x.peer = p
	a := &assembly{peer: p, key: m.host.Network().Peerstore().PrivKey(m.id)}
	m.mu.Lock()
	m.lives++
	lives := m.lives
	if m.disk = x.disk; m.onDisk != nil {
		m.onDisk(x.disk)
	}
	m.mu.Unlock()
	if err := a.openCatalog([]Application{livesApp}); err != nil {
		w.fail("%v", err)
	}
	if err := a.openFiles(); err != nil {
		w.fail("%v", err)
	}
	p.deaths.files.Medium = &moodyDisk{moods: x.disk, platter: m.platter, prompt: true}
	x.meet()
	x.form(a, lives)
	w.remembers(x)
	left := p.files.recall()
	p.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Recall(now, left) })
	a.asked.inquiries.serve()
	a.asked.keeping.serve()
	a.asked.collecting.serve()
	m.mu.Lock()
	m.now = x
	m.mu.Unlock()
	w.say("p%d begins its life %d", m.mine, lives)
	p.Spawn(x.upkeep)
	p.Spawn(p.runs.findDormant)
}

// form makes the parts that have to do with runs.
func (x *being) form(a *assembly, lives uint64) {
	m, p, b := x.m, x.peer, x.peer.Base
	vouch := &vouching.Border{Log: b.Log, Key: a.key, Self: m.id, Member: func(peer.ID) bool { return true },
		Outcast: func(peer.ID) bool { return false }}
	p.checkpoints.Vouch = vouch
	p.caretaker = &caretaker{presence: presence.New("", func(bool, bool) {}, func() {})}
	p.voice = &voice{Base: b, host: m.host, gossip: x.lane}
	p.traffic = &traffic{Base: b, places: p.places, vouch: vouch}
	self := steal.PeerID(m.id.String())
	p.crew = &crew{Base: b, cfg: &p.cfg, self: self, host: incarnation(lives), arbiter: arbiter.New(1),
		apps:  a.apps,
		vouch: vouch, memory: &memory{}, commitments: &commitments{board: p.board, key: a.key}, send: x.lane.send,
		tell: p.voice.tellNews, engines: x.engine}
	p.work, p.cfg.Runs.Life = &work{used: func(time.Duration) {}}, lives
	p.runs = newConductor(b, outside{self: runs.PeerID(self), key: a.key, host: m.host, apps: a.apps, swarm: p.swarm,
		voice: p.voice, files: p.files, checkpoints: p.checkpoints, deaths: p.deaths, crew: p.crew,
		jury: &jury{Base: b, self: m.id, receipts: &receipts{Base: b}, records: &records{Base: b}}, work: p.work,
		others: &a.asked, hours: openHours(m.dir)}, p.cfg.Runs)
	p.traffic.runs, p.work.running, p.work.others = p.runs, p.runs.running, p.runs.othersRate
	a.asked.inquiries = inquiries{Base: b, board: p.board, runs: p.runs, files: p.files, apps: a.apps, host: m.host}
	a.asked.keeping = keeping{Base: b, self: m.id, board: p.board, runs: p.runs, files: p.files}
	a.asked.collecting = collecting{Base: b, board: p.board, runs: p.runs, vouch: vouch}
	a.forUsers()
	a.listen()
}

type incarnation uint64

func (i incarnation) Incarnation() uint64 { return uint64(i) }

// meet makes the parts that know who there is: all members, for ever.
func (x *being) meet() {
	p := x.peer
	p.board = &switchboard.Board{Base: p.Base, Net: x.lane, Admitted: func(peer.ID) bool { return true }}
	p.members = members.New(p.Log, func() string { return "here" }, func() {})
	for _, o := range x.m.w.members {
		if o != x.m {
			p.members.Learn(&statement.SignedCard{Peer: o.id, Card: statement.Card{Cluster: "here", Cores: 1,
				Incarnation: 1,
				Apps:        []statement.App{{Name: livesApp.Name}}}}, nil, time.Now())
		}
	}
	p.places = &places.Places{Base: p.Base, Board: p.board, Members: p.members, Changed: p.membersChanged}
	if err := p.places.Open(x.id, "here"); err != nil {
		x.m.w.fail("%v", err)
	}
	p.swarm = &swarm{self: x.id, apps: p.files.apps, members: p.members, places: p.places, board: p.board,
		branch: func(peer.ID) string { return "" }, guests: func(job.RunID) []steal.PeerID { return nil }}
}

// engine is crew.engines.
func (x *being) engine(m *statement.SignedManifest, _ compute.Config) (port.Live, error) {
	if x.m.w.lost() {
		return nil, fmt.Errorf("no process can be started")
	}
	e := newChoreEngine(m.Run, x.m.w.fail, func() { x.m.bury(m.Run) })
	x.mu.Lock()
	defer x.mu.Unlock()
	x.engines = append(x.engines, e)
	return e, nil
}

// bury counts the processes that have died of a run. Of more than two at a member, within an hour, one that was killed
// may not know, or two if the disk has refused both, and who was told to try again has one more.
func (m *livesMember) bury(run job.RunID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deaths[run]++; m.deaths[run] > 2+m.killed+m.tries {
		m.w.fail("p%d: %d processes have died of run %s", m.mine, m.deaths[run], run)
	}
}

// upkeep does what Peer.upkeep does for runs, and looks who is there.
func (x *being) upkeep(ctx context.Context) {
	p, due := x.peer, time.NewTicker(x.peer.Every)
	defer due.Stop()
	there := map[peer.ID]*being{}
	for {
		for _, o := range x.m.w.members {
			now := x.m.w.way(x, o.id)
			if was := there[o.id]; was != now {
				if there[o.id] = now; now == nil {
					p.places.Lost(o.id)
				} else {
					p.places.Heard(o.id)
					x.greet(now)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.news:
			p.runs.mu.Lock()
			for _, r := range p.runs.parts {
				if r.final == nil {
					r.session.SetMembers(p.swarm.takingPart(r.manifest, p.runs.core))
				}
			}
			p.runs.mu.Unlock()
			continue
		case now := <-due.C:
			p.runs.mu.Lock()
			p.runs.thrift.Next = now.Add(time.Hour) // which takes long
			p.runs.mu.Unlock()
			p.runs.keepUp()
			p.runs.tellLoads(now)
			x.look()
		}
	}
}

// greet is one side of a meeting.
func (x *being) greet(o *being) {
	t := x.peer.runs
	t.mu.Lock()
	going, over, kept := t.core.InProgress(maxRunsTold), t.core.OwnTombstones(), t.core.ClaimsFor(peerName(o.id))
	t.mu.Unlock()
	for _, s := range over {
		_ = o.peer.runs.buried(s.Sealed)
	}
	for _, c := range kept {
		_ = o.peer.runs.claimed(c.Sealed, x.id)
	}
	for _, run := range going {
		o.peer.runs.announced(run, x.id)
	}
}

// How a life ends.
const (
	politely = "leave"
	killed   = "kill"
	powerCut = "cut"
)

func (x *being) end(how string) {
	m, p := x.m, x.peer
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if how == politely {
		p.caretaker.presence.Leave()
		p.caretaker.presence.Left()
		parts, needless := p.leaveRuns(p.cfg.LeavePatience)
		p.closeLedgers(p.Ctx, parts, needless)
	} else {
		m.mu.Lock()
		m.killed++
		p.deaths.unwritten.Range(func(_, _ any) bool { m.killed++; return false })
		m.mu.Unlock()
		x.disk.set(func() { x.disk.killed = true })
	}
	x.lane.sever(true)
	m.mu.Lock()
	m.now = nil
	m.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.End(func() { abandon(p.runs.inProgress()) })
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		m.w.fail("p%d does not come to its end", m.mine)
		<-done
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.engines {
		if !e.closed.Load() {
			m.w.fail("p%d has ended, and not its part in %s", m.mine, e.run)
		}
	}
	if how == powerCut {
		m.platter.cut()
	}
	m.w.say("p%d has ended: %s", m.mine, how)
}

// newLives makes members whose hosts were made once.
func newLives(seed uint64, hosts []*host.Host, dirs []string) *livesWorld {
	w := &livesWorld{open: map[string]int{}, random: rand.New(rand.NewPCG(seed, 21)), began: time.Now()}
	for i, h := range hosts {
		w.members = append(w.members, &livesMember{w: w, id: h.ID(), host: h, dir: dirs[i], mine: i,
			deaths: map[job.RunID]int{}, platter: newPlatter(w, dirs[i]),
			turn: make(chan struct{}, 1)})
	}
	return w
}

type lifeLog struct {
	w *livesWorld
	i int
}

func (l lifeLog) Write(b []byte) (int, error) {
	l.w.say("    p%d %s", l.i, strings.TrimSpace(string(b)))
	return len(b), nil
}

func noTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// livesConfig is quicker than the default.
func livesConfig() runs.Config {
	c := runs.DefaultConfig()
	c.AnnounceEvery, c.AskEvery, c.ClaimEvery, c.Vacant = 3*time.Second, 3*time.Second, 10*time.Second, 12*time.Second
	c.DormantFor, c.DormantEvery = 8*time.Second, 2*time.Second
	return c
}
