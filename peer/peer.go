package peer

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/deposits"
	"github.com/satin-peer/satin/peer/depot"
	"github.com/satin-peer/satin/peer/emulate"
	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/peer/switchboard"
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
	// Prefer is what the owner of the machine allows of these, and when; nil: all, always. Peer.Prefer changes it.
	Prefer *preferences.Preferences
	// Compute is the program, and its arguments, that ends in child.Main: the jobs of each run get a process of
	// their own by it. nil: they run in this process.
	Compute []string
	// Memory is how many bytes each of these may have, without Prefer; 0 is child.DefaultMemory.
	Memory int64
	// Executables are those that its owner lets jobs have run, for their bytes. Without Compute there are none.
	Executables []child.Program
	// ObjectsMemory is how many bytes what the jobs of others' runs share may take here, encoded; one run, own ones
	// too, and the runs of one owner may have a half of it. 0 is sharedobj.Default for each, of however many.
	ObjectsMemory int64
	// Modules says whose modules this peer runs: ModulesOff, ModulesPublished or ModulesMembers, which "" means.
	// Without Compute it runs none.
	Modules string
	// ModuleCache is how many bytes of the disk they may take; 0 is DefaultModuleCache.
	ModuleCache int64
	// RunDisk is how many bytes of the disk the checkpoints of others' runs may take, without Prefer; 0: as many as
	// there are.
	RunDisk int64
	// Deposits are the bounds of what members keep for each other; zero means deposits.DefaultConfig. RunDisk bounds
	// them too.
	Deposits deposits.Config
	// RunMemory is how many bytes of this process's memory what other members give it may take: a half jobs, results
	// and what is known of lost work (a half of that each run, owner and sender), a quarter manifests, and a quarter
	// long results that are coming. 0: as many as there are.
	RunMemory int64
	// LongestLife is how long this peer takes part in another's run at most; 0: as long as its owner says.
	LongestLife time.Duration
	// Provision is the command, with its arguments, that asks for machines when an own run wants more peers than there
	// are; it gets their number and the run's ID as its last arguments. nil: none is asked for. ProvisionMost is how
	// many it may be asked for, for one run.
	Provision     []string
	ProvisionMost int
	// Trusted are the IDs of peers whose results are used uncompared in runs of this peer that are verified: machines
	// of its owner, or that he vouches for.
	Trusted []string
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
	// Every is how often the peer does what is due: tell its load, measure and forget members, look after its runs,
	// ask those whose segments are watched. 10 ms to a minute; 0 means a second.
	Every time.Duration
	// AdaptEvery is the time over which the efficiency of runs is measured, and after which those that adapt may decide
	// who takes part; a second at least, 0 is 30.
	AdaptEvery time.Duration
	// LeavePatience is how long Leave may take to hand over what others can use. 0: nothing is handed over.
	LeavePatience time.Duration
	// Checkpoint is how long a result may wait before it is written to the disk; 0: runs are not kept there.
	Checkpoint time.Duration
	// Emulate is a directory made by emulate.Create: what crosses between clusters is delayed as the network
	// there says. "" is none. It needs Cluster.
	Emulate string
	// Visitors has what was built of the program for browsers: see package gateway; nil: what is in this program.
	Visitors fs.FS
	// Name is what the peer is called, for people. What cannot be shown in a line, and what is too long, is left out.
	Name string
	// Software is the program's version, for people.
	Software string
	Log      *slog.Logger
}

// A Peer is a member of a swarm: parts with a job each, which assemble.go puts together. It implements control.Daemon.
// Methods may be called from any goroutine.
type Peer struct {
	*base.Base
	cfg       Config
	host      *host.Host
	news      chan struct{}     // the members have changed; room for one
	emulator  *emulate.Emulator // nil: none
	once      sync.Once
	caretaker *caretaker

	// who there is
	board     *switchboard.Board
	members   *members.Members
	places    *places.Places
	swarm     *swarm
	exclusion *exclusion
	meetings  *meetings
	card      *ownCard
	voice     *voice
	door      *door

	// runs
	runs         *conductor
	coordinator  *coordinator
	files        *archive
	checkpoints  *ledger.Store
	deaths       *infirmary
	traffic      *traffic
	crew         *crew
	modules      *modules
	constants    *constants.Store
	depot        *depot.Depot
	publications *publications
	owner        *owner
	visitors     *visitors
	sharing      *sharing

	// what is told of them
	work     *work
	reporter *reporter
	doctor   *doctor
	showing  *showing
	watching *watching
}

// Open makes a peer and lets it into the network. Its errors are those of host.Open and of a configuration
// out of range.
func Open(ctx context.Context, cfg Config, apps []Application) (_ *Peer, err error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	p := &Peer{Base: base.New(cfg.Log, time.Now, cfg.Every), cfg: cfg, news: make(chan struct{}, 1)}
	if p.host, err = host.Open(ctx, cfg.Host); err != nil {
		return nil, err
	}
	if err := assemble(p, apps); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// complete puts in what is the default, and refuses what is out of range.
func (cfg *Config) complete() error {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Workers == 0 {
		cfg.Workers = min(runtime.GOMAXPROCS(0), satin.MaxWorkers)
	}
	if cfg.Workers < 1 || cfg.Workers > satin.MaxWorkers {
		return fmt.Errorf("the number of workers is %d, allowed are 1 to %d", cfg.Workers, satin.MaxWorkers)
	}
	cfg.Every = cmp.Or(cfg.Every, time.Second)
	if cfg.AdaptEvery == 0 {
		cfg.AdaptEvery = adapt.Default(adapt.Off).Period
	}
	if cfg.Every < 10*time.Millisecond || cfg.Every > time.Minute {
		return fmt.Errorf("a peer does what is due every %v, allowed are 10ms to 1m", cfg.Every)
	}
	if cfg.Steal == (steal.Config{}) {
		cfg.Steal = steal.LAN()
	}
	if cfg.Runs == (runs.Config{}) {
		cfg.Runs = runs.DefaultConfig()
	}
	if cfg.LongestLife > 0 {
		cfg.Runs.LongestLife = cfg.LongestLife
	}
	if len(cfg.Provision) > 0 {
		cfg.Runs.Provision = cfg.ProvisionMost
	}
	if cfg.Visitors == nil {
		cfg.Visitors = gateway.Dist()
	}
	_, err := policy.ByName(cfg.Policy, "")
	return err
}

// settle goes over to the swarm that the host has become a member of, if it is another one than before.
func (p *Peer) settle() {
	if p.voice.move() {
		p.card.renew()
		p.voice.setMembers(p.swarm.forGossip())
	}
}

// onPeer is called when a member was admitted and connected, or is not connected any more.
func (p *Peer) onPeer(id peer.ID, up bool) {
	if up {
		p.places.Heard(id)
		p.Spawn(func(ctx context.Context) {
			p.settle()
			p.meetings.meetSoon(ctx, id)
		})
	}
}

// upkeep does what is to be done now and then.
func (p *Peer) upkeep(ctx context.Context) {
	due := time.NewTicker(p.Every)
	defer due.Stop()
	turn := time.NewTimer(adapt.TurnEvery)
	defer turn.Stop()
	gone := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.news:
			p.places.MembersChanged()
			p.traffic.forget()
			p.spreadMembers()
		case <-turn.C:
			turn.Reset(p.crew.arbiter.Next())
		case now := <-due.C:
			p.runs.keepUp()
			p.runs.leaveExcess(now)
			p.constants.Prune(now)
			if len(p.cfg.Compute) > 0 {
				p.crew.memory.collect(p.runs.inProgress(), p.traffic.stream.Stats().Coming)
			}
			p.visitors.expire()
			p.visitors.assign()
			if gone == "" {
				if gone = p.files.gone(); gone != "" {
					p.Log.Error(gone)
				}
			}
			p.members.Expire(now)
			p.places.KeepUp(now, len(p.runs.inProgress()) == 0)
			p.runs.tellLoads(now)
			p.coordinator.keepUp(now)
			p.traffic.keepUp()
			p.card.keepUp(now)
			p.exclusion.keepUp(now)
			p.runs.jury.keepUp(now)
			held := func() int { return jobsHeld(p.runs.inProgress()) }
			if over, finished := p.caretaker.presence.KeepUp(now, held); over || finished {
				p.Log.Info("pause", "over", over, "begins with all jobs done", finished)
			}
			p.modules.keepUp()
			p.depot.KeepUp(now)
			p.publications.keepUp(p.host.Roll().Outcast)
			p.work.sample(now)
			p.runs.hours.keepUp(p.runs, now)
			p.runs.jury.receipts.keepUp(now)
		}
	}
}

// membersChanged has upkeep tell the runs and gossip who there is. Members that come in a rush are told of together.
func (p *Peer) membersChanged() {
	select {
	case p.news <- struct{}{}:
	default: // upkeep will look at them all
	}
}

// spreadMembers gives everybody who needs them the present members and clusters.
func (p *Peer) spreadMembers() {
	p.runs.mu.Lock()
	for _, r := range p.runs.parts {
		if r.final == nil {
			r.session.SetMembers(p.swarm.takingPart(r.manifest, p.runs.core))
		}
	}
	p.runs.mu.Unlock()
	p.modules.setMembers()
	p.depot.SetMembers()
	p.voice.setMembers(p.swarm.forGossip())
}

// Close ends the peer at once, without a word to others. After Leave it only tidies up.
func (p *Peer) Close() {
	p.once.Do(func() {
		p.End(func() {
			if p.runs != nil { // else it was never put together
				p.caretaker.presence.Leave()
				p.sharing.close()
				abandon(p.runs.inProgress())
				p.runs.hours.save(p.Log)
				p.voice.close()
				p.traffic.close()
			}
			p.modules.close()
			p.depot.Close()
			_ = p.host.Close()
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
