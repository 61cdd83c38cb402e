package peer

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	lp2p "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/emulate"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// Config says how a peer takes part in its swarm.
type Config struct {
	// Host is its place in the network; Host.StateDir is where everything lasting is kept.
	Host host.Config
	// Workers is how many cores it may use, 1 to satin.MaxWorkers; 0 means all.
	Workers int
	// Compute is the program, and its arguments, that ends in child.Main: the jobs of each run get a process of
	// their own by it. nil: they run in this process.
	Compute []string
	// Memory is how many bytes each of these may have; 0 is child.DefaultMemory.
	Memory int64
	// Modules says whose modules this peer runs: ModulesOff, ModulesPublished or ModulesMembers, which "" means.
	// Without Compute it runs none.
	Modules string
	// ModuleCache is how many bytes of the disk they may take; 0 is DefaultModuleCache.
	ModuleCache int64
	// FullPriority keeps the workers from being run at the lowest priority that the system has.
	FullPriority bool
	// Cluster names the cluster that this peer is in; "" lets it find out.
	Cluster string
	// Policy is the steal policy of the runs that this peer owns; "" is the default.
	Policy string
	// Steal are the bounds and periods of the steal protocol; zero means steal.LAN.
	Steal steal.Config
	// Runs are the bounds and periods of the life of runs; zero means runs.DefaultConfig.
	Runs runs.Config
	// Stream and Gossip bound the traffic; zero fields take the defaults.
	Stream stream.Config
	Gossip gossip.Config
	// LeavePatience is how long Leave may take to hand over what others can use. 0: nothing is handed over.
	LeavePatience time.Duration
	// Checkpoint is how long a result may wait before it is written to the disk; 0: runs are not kept there.
	Checkpoint time.Duration
	// Emulate is a directory made by emulate.Create: what crosses between clusters is delayed as the network
	// there says. "" is none. It needs Cluster.
	Emulate string
	// Software is the program's version, for people.
	Software string
	Log      *slog.Logger
}

// A Peer is a member of a swarm. It implements control.Daemon. Methods may be called from any goroutine.
type Peer struct {
	*base
	cfg         Config
	host        *host.Host
	net         lp2p.Host
	key         crypto.PrivKey
	self        steal.PeerID
	stream      *stream.Transport
	apps        *catalog
	members     *members
	news        chan struct{} // the members have changed; room for one
	runs        *conductor
	files       *archive
	checkpoints *checkpoints
	deaths      infirmary
	arbiter     *arbiter
	places      *places
	started     time.Time
	lives       atomic.Uint64
	past        pastWork
	leaving     atomic.Bool
	left        chan struct{} // closed when this peer has left the swarm
	pausing     pausing

	watched  watched  // segments.go
	watching watching // segments_watch.go

	emulator *emulate.Emulator // nil: none
	traded   sync.Map          // steal.PeerID -> *trade

	gossipMu sync.Mutex
	gossip   *gossip.Gossip
	speaks   string // the swarm that gossip was opened for
	spoke    uint64 // how often it was opened

	cardMu  sync.Mutex
	card    *statement.SignedCard // this peer's own
	cardSeq uint64

	once sync.Once
}

// Open makes a peer and lets it into the network. Its errors are those of host.Open and of a configuration
// out of range.
func Open(ctx context.Context, cfg Config, apps []Application) (_ *Peer, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Workers == 0 {
		cfg.Workers = min(runtime.GOMAXPROCS(0), satin.MaxWorkers)
	}
	if cfg.Workers < 1 || cfg.Workers > satin.MaxWorkers {
		return nil, fmt.Errorf("the number of workers is %d, allowed are 1 to %d", cfg.Workers, satin.MaxWorkers)
	}
	if cfg.Steal == (steal.Config{}) {
		cfg.Steal = steal.LAN()
	}
	if cfg.Runs == (runs.Config{}) {
		cfg.Runs = runs.DefaultConfig()
	}
	if _, err := policy.ByName(cfg.Policy, ""); err != nil {
		return nil, err
	}
	p := &Peer{base: newBase(cfg.Log, time.Now), cfg: cfg, apps: &catalog{built: map[string]Application{}},
		left: make(chan struct{}), news: make(chan struct{}, 1)}
	for _, a := range apps {
		p.apps.built[a.Name] = a
	}
	p.started = p.now()
	p.arbiter = &arbiter{cores: cfg.Workers}
	p.members = &members{log: cfg.Log, cards: map[peer.ID]*memberCard{}, changed: p.membersChanged}
	p.runs = newConductor(p)
	if p.host, err = host.Open(ctx, cfg.Host); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	p.net, p.self = p.host.Network(), steal.PeerID(p.host.ID().String())
	p.key = p.net.Peerstore().PrivKey(p.host.ID())
	if p.places, err = newPlaces(p); err != nil {
		return nil, err
	}
	if err := p.openFiles(); err != nil {
		return nil, err
	}
	if err := p.openModules(); err != nil {
		return nil, err
	}
	p.runs.open(p.cfg.Runs)
	if err := p.openEmulation(); err != nil {
		return nil, err
	}
	p.renewCard()
	p.cfg.Stream.Wide, p.cfg.Stream.Admitted = p.isWide, p.host.Admitted
	p.stream = stream.New(p.net, p.cfg.Stream, stream.Handler{Received: p.received, Failed: p.failed})
	if err := p.openGossip(); err != nil {
		return nil, err
	}
	left := p.files.recall()
	p.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Recall(now, left) })
	p.serveExchange()
	p.serveAnswers()
	p.serveCollecting()
	p.serveWatch()
	p.apps.modules.serve()
	p.host.OnPeer(p.onPeer)
	p.spawn(p.upkeep)
	p.spawn(p.runs.findDormant)
	return p, nil
}

// openFiles opens what lasts.
func (p *Peer) openFiles() (err error) {
	state := p.cfg.Host.StateDir
	if p.files, err = openArchive(p.base, state, p.host.ID(), p.apps); err != nil {
		return err
	}
	p.checkpoints = &checkpoints{base: p.base, dir: filepath.Join(state, "checkpoints"), every: p.cfg.Checkpoint,
		most: p.cfg.Steal.MaxKept, mostBytes: p.cfg.Steal.MaxKeptBytes}
	p.deaths.files, err = openCabinet(filepath.Join(state, "deaths"), ".deaths", maxDeaths, p.now)
	return err
}

// openEmulation puts the imitated network before the steal protocol.
func (p *Peer) openEmulation() (err error) {
	if p.cfg.Emulate == "" {
		return nil
	}
	p.emulator, err = emulate.Open(p.cfg.Emulate, p.cfg.Cluster, func(id steal.PeerID) string {
		if other, err := peer.Decode(string(id)); err == nil {
			return p.places.of(other).Name
		}
		return ""
	})
	if err != nil {
		return fmt.Errorf("the emulated network: %w", err)
	}
	p.cfg.Stream.Delay = p.emulator
	return nil
}

// onPeer is called when a member was admitted and connected, or is not connected any more.
func (p *Peer) onPeer(id peer.ID, up bool) {
	if up {
		p.places.heard(id)
		p.spawn(func(ctx context.Context) {
			p.settle()
			p.meet(ctx, id)
		})
	}
}

// upkeep does what is to be done now and then.
func (p *Peer) upkeep(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	turn := time.NewTicker(turnEvery)
	defer turn.Stop()
	var partners map[peer.ID]bool // whose connections are guarded
	gone := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.news:
			p.places.membersChanged()
			p.spreadMembers()
		case <-turn.C:
			p.arbiter.next()
		case now := <-second.C:
			p.runs.keepUp()
			if gone == "" {
				if gone = p.files.gone(); gone != "" {
					p.log.Error(gone)
				}
			}
			p.members.expire(now)
			p.places.keepUp(now)
			p.tellLoads(now)
			partners = p.guard(partners)
			p.freshenCard(now)
			p.pausing.keepUp(p, now)
			p.apps.modules.keepUp()
			p.past.sample(p, now)
		}
	}
}

// membersChanged has upkeep tell the runs and gossip who there is. Members that come in a rush are told of
// together.
func (p *Peer) membersChanged() {
	select {
	case p.news <- struct{}{}:
	default: // upkeep will look at them all
	}
}

// spreadMembers gives everybody who needs them the present members and clusters.
func (p *Peer) spreadMembers() {
	for _, r := range p.runs.inProgress() {
		r.session.SetMembers(p.membersOf(r.manifest))
	}
	p.apps.modules.setMembers()
	p.tellGossipMembers()
}

// membersOf lists who takes part in a run, with their clusters; this peer among them.
func (p *Peer) membersOf(m *runs.Manifest) *steal.Members {
	list := []steal.Member{{ID: p.self, Cluster: steal.ClusterID(p.places.mine().Name)}}
	for _, c := range p.participants(m, true) {
		list = append(list, steal.Member{ID: steal.PeerID(c.Peer.String()),
			Cluster: steal.ClusterID(p.places.of(c.Peer).Name)})
	}
	return steal.NewMembers(list)
}

// Close ends the peer at once, without a word to others. After Leave it only tidies up.
func (p *Peer) Close() {
	p.once.Do(func() {
		p.leaving.Store(true)
		p.end(func() {
			for _, r := range p.runs.inProgress() {
				r.session.Close()
				r.keeper.close(false)
			}
			p.apps.modules.close()
			p.closeGossip()
			if p.stream != nil {
				_ = p.stream.Close()
			}
			if p.host != nil {
				_ = p.host.Close()
			}
		})
		if p.emulator != nil {
			_ = p.emulator.Close() // nobody is received from any more
		}
	})
}

// encode is for our own messages, which are small and well formed.
func encode(v any) []byte {
	b, err := wire.Control().Encode(v)
	if err != nil {
		panic(err) // of a type of this package
	}
	return b
}
