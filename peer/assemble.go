package peer

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/arbiter"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/deposits"
	"github.com/satin-peer/satin/peer/depot"
	"github.com/satin-peer/satin/peer/emulate"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/quota"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// An assembly puts a peer together: it has what several of its parts are made with.
type assembly struct {
	peer      *Peer
	apps      *catalog
	key       crypto.PrivKey
	published *cabinet.Cabinet
	asked     answering
}

// answering is what members ask each other about runs.
type answering struct {
	inquiries
	keeping
	collecting
}

// assemble makes the parts of a peer, has what was left of earlier lives go on, and lets the others in.
func assemble(p *Peer, apps []Application) error {
	a := &assembly{peer: p, key: p.host.Network().Peerstore().PrivKey(p.host.ID())}
	p.cfg.Runs.Life, p.cfg.Runs.Seen = p.host.Incarnation(), p.host.Seen()
	if err := a.openCatalog(apps); err != nil {
		return err
	}
	if err := a.openFiles(); err != nil {
		return err
	}
	if err := a.meetSwarm(); err != nil {
		return err
	}
	self := steal.PeerID(p.host.ID().String())
	vouch := &vouching.Border{Log: p.Log, Key: a.key, Self: p.host.ID(), Outcast: p.host.Roll().Outcast,
		Member: func(id peer.ID) bool {
			_, err := p.host.Vouch(id, nil)
			return err == nil || p.members.Knew(id)
		}}
	p.checkpoints.Vouch = vouch
	obey(p)
	p.voice = &voice{Base: p.Base, cfg: p.cfg.Gossip, host: p.host}
	p.card = &ownCard{Base: p.Base, key: a.key, facts: func() *statement.Card { return p.facts(a.apps) },
		proof: p.host.Proof, every: p.members.Every, tell: func(b []byte) { p.voice.tell(gossip.KindCard, b) },
		skip: func(n uint64) error { return host.Skip(p.cfg.Host.StateDir, n) }}
	p.traffic = &traffic{Base: p.Base, places: p.places, modules: p.modules, depot: p.depot, protect: p.host,
		vouch: vouch}
	p.modules.send, p.depot.Send = p.traffic.sendShared, p.traffic.sendShared
	p.crew = &crew{Base: p.Base, cfg: &p.cfg, self: self, host: p.host, arbiter: arbiter.New(p.cfg.Workers),
		modules: p.modules, apps: a.apps, vouch: vouch, memory: &memory{shareable: p.cfg.ObjectsMemory},
		commitments: &commitments{board: p.board, key: a.key}, depot: p.depot,
		send: p.traffic.send, tell: p.voice.tellNews, sendShared: p.traffic.sendShared,
		tellShared: p.traffic.tellShared}
	p.crew.engines = p.crew.engine
	p.caretaker.crew = p.crew
	p.caretaker.presence.Recall(p.Now())
	p.crew.jobMemory.Store(p.cfg.Memory)
	p.crew.memory.divide(p.cfg.RunMemory, &p.cfg.Runs, &p.cfg.Stream)
	jury := &jury{Base: p.Base, board: p.board, self: p.host.ID(), host: p.host, swarm: p.swarm, vouch: vouch,
		cores: p.cfg.Workers}
	if err := jury.open(&p.cfg); err != nil {
		return err
	}
	p.work = &work{used: p.crew.arbiter.Used}
	p.runs = newConductor(p.Base, outside{
		self: runs.PeerID(self), key: a.key, host: p.host, apps: a.apps, swarm: p.swarm, voice: p.voice, files: p.files,
		checkpoints: p.checkpoints, deaths: p.deaths, crew: p.crew, jury: jury, work: p.work,
		provision: p.cfg.Provision, others: &a.asked, hours: openHours(p.cfg.Host.StateDir),
	}, p.cfg.Runs)
	p.traffic.runs, p.modules.runs, p.work.running = p.runs, p.runs, p.runs.running
	p.work.others = p.runs.othersRate
	p.coordinator = newCoordinator(p.Base, p.cfg.AdaptEvery, p.runs)
	welcome(p, vouch)
	p.exclusion = &exclusion{Base: p.Base, host: p.host, members: p.members, runs: p.runs, voice: p.voice}
	p.publications = &publications{Base: p.Base, key: a.key, self: p.host.ID(), modules: p.modules, voice: p.voice,
		files: a.published, host: p.host}
	p.modules.standsFor = p.publications.has
	p.meetings = &meetings{published: p.publications, jury: jury, Base: p.Base, board: p.board, swarm: p.swarm,
		runs: p.runs, card: p.card, out: p.exclusion, host: p.host}
	a.asked.inquiries = inquiries{Base: p.Base, board: p.board, runs: p.runs, files: p.files, apps: a.apps,
		host: p.host}
	a.asked.keeping = keeping{Base: p.Base, self: p.host.ID(), board: p.board, runs: p.runs, files: p.files}
	a.asked.collecting = collecting{Base: p.Base, board: p.board, runs: p.runs, vouch: vouch}
	a.forUsers()
	jury.convene(p)
	return a.speak()
}

// openCatalog is what this peer has, and what was handed in for its own runs.
func (a *assembly) openCatalog(apps []Application) (err error) {
	p, c := a.peer, &catalog{built: map[string]Application{}}
	a.apps = c
	if len(p.cfg.Compute) > 0 {
		c.programs = p.cfg.Executables
	}
	for _, app := range apps {
		c.built[app.Name] = app
	}
	p.constants, err = constants.Open(p.Base, p.cfg.Host.StateDir,
		(&memory{shareable: p.cfg.ObjectsMemory}).objects().MaxBytes)
	c.constants = p.constants
	return err
}

// openFiles opens what lasts.
func (a *assembly) openFiles() (err error) {
	p := a.peer
	state := p.cfg.Host.StateDir
	if p.files, err = openArchive(p.Base, state, p.host.ID(), a.apps); err != nil {
		return err
	}
	p.checkpoints = &ledger.Store{Base: p.Base, Self: p.host.ID(), Quota: quota.Quota{Most: p.cfg.RunDisk},
		Index: quota.Quota{Most: ledger.MaxIndex, Memory: true},
		Dir:   filepath.Join(state, "checkpoints"), Within: p.cfg.Checkpoint,
		Most: p.cfg.Steal.MaxKept, MostBytes: p.cfg.Steal.MaxKeptBytes}
	p.checkpoints.Quota.Remove = p.checkpoints.MakeWay
	a.published, err = base.OpenCabinet(p.Base, filepath.Join(state, "published"), ".module", maxPublishedHere)
	if err != nil {
		return err
	}
	p.deaths = &infirmary{}
	p.deaths.files, err = base.OpenCabinet(p.Base, filepath.Join(state, "deaths"), ".deaths", maxDeaths)
	return err
}

// meetSwarm makes the parts that know who there is, and where.
func (a *assembly) meetSwarm() error {
	p := a.peer
	p.board = &switchboard.Board{Base: p.Base, Net: p.host.Network(), Admitted: p.host.Admitted,
		Before: map[protocol.ID]protocol.ID{runProtocol: runProtocolBefore}}
	p.members = members.New(p.Log, func() string { return p.places.Mine().Name }, p.membersChanged)
	p.places = &places.Places{Base: p.Base, Board: p.board, Members: p.members, Disconnect: p.host.Disconnect,
		Changed: p.membersChanged}
	if err := p.places.Open(p.host.ID(), p.cfg.Cluster); err != nil {
		return err
	}
	p.swarm = &swarm{self: p.host.ID(), apps: a.apps, members: p.members, places: p.places, board: p.board,
		branch: p.host.Branch}
	p.modules = &modules{Base: p.Base, self: p.host.ID(), members: p.members, places: p.places,
		changed: func() {
			p.card.tellAnew()
			p.membersChanged()
		}, waiting: map[job.RunID]*waitingRun{}}
	a.apps.modules = p.modules
	p.depot = &depot.Depot{Base: p.Base, Self: p.host.ID(), Key: a.key,
		Host: p.host, Board: p.board, Members: p.members, Places: p.places}
	bounds := cmp.Or(p.cfg.Deposits, deposits.DefaultConfig())
	bounds.Seen = p.cfg.Runs.Seen
	return errors.Join(p.modules.open(&p.cfg),
		p.depot.Open(p.cfg.Host.StateDir, bounds, &p.checkpoints.Quota), a.openEmulation())
}

// openEmulation puts the imitated network before the steal protocol.
func (a *assembly) openEmulation() (err error) {
	p := a.peer
	if p.cfg.Emulate == "" {
		return nil
	}
	p.emulator, err = emulate.Open(p.cfg.Emulate, p.cfg.Cluster, func(id steal.PeerID) string {
		if other, err := peer.Decode(string(id)); err == nil {
			return p.places.Of(other).Name
		}
		return ""
	})
	if err != nil {
		return fmt.Errorf("the emulated network: %w", err)
	}
	p.cfg.Stream.Delay = p.emulator
	return nil
}

// forUsers makes the parts that answer commands.
func (a *assembly) forUsers() {
	p := a.peer
	p.reporter = &reporter{Base: p.Base, cfg: &p.cfg, started: p.Now(), host: p.host, swarm: p.swarm,
		traffic: p.traffic, runs: p.runs, crew: p.crew, files: p.files, checkpoints: p.checkpoints, work: p.work,
		presence: p.caretaker.presence, courtesy: p.caretaker.courtesy, modules: p.modules, apps: a.apps}
	p.doctor = &doctor{Base: p.Base, card: p.card, cfg: &p.cfg, crew: p.crew, reporter: p.reporter, members: p.members,
		files: p.files, deaths: p.deaths}
	p.door = &door{Base: p.Base, host: p.host, members: p.members, meetings: p.meetings,
		exclusion: p.exclusion, reporter: p.reporter, settle: p.settle}
	p.owner = &owner{Base: p.Base, key: a.key, policy: p.cfg.Policy, host: p.host, apps: a.apps, swarm: p.swarm,
		runs: p.runs, files: p.files, checkpoints: p.checkpoints, deaths: p.deaths, presence: p.caretaker.presence,
		reporter: p.reporter}
	p.showing = &showing{Base: p.Base, runs: p.runs, links: p.traffic.links}
	p.watching = newWatching(p.Base, p.board, p.swarm, p.runs, p.showing)
}

// speak begins to speak with others.
func (a *assembly) speak() error {
	p := a.peer
	p.card.renew()
	p.cfg.Stream.Wide, p.cfg.Stream.Admitted = p.places.IsWide, p.host.Admitted
	p.cfg.Stream.Timed = p.coordinator.ways.came
	p.traffic.stream = stream.New(p.host.Network(), p.cfg.Stream, stream.Handler{Received: p.traffic.received,
		Failed: p.traffic.failed, Shared: p.traffic.receivedShared, SharedFailed: p.traffic.sharedFailed})
	a.listen()
	if err := p.voice.open(); err != nil {
		return err
	}
	left := p.files.recall()
	p.runs.input(func(c *runs.Core, now time.Time) []runs.Order { return c.Recall(now, left) })
	p.meetings.serve()
	p.crew.commitments.serve()
	p.runs.jury.receipts.serve()
	a.asked.inquiries.serve()
	a.asked.keeping.serve()
	a.asked.collecting.serve()
	p.showing.serve(p.board)
	p.depot.Serve()
	p.publications.recall()
	p.host.OnPeer(p.onPeer)
	p.Spawn(p.upkeep)
	if p.cfg.Prefer != nil {
		p.caretaker.courtesy.Begin(*p.cfg.Prefer)
		p.Spawn(p.caretaker.courtesy.Keep)
	}
	p.Spawn(p.runs.findDormant)
	return nil
}

// listen says what is done with news.
func (a *assembly) listen() {
	p := a.peer
	p.voice.hear(gossip.KindCard, p.meetings.checkCard, func(author peer.ID, b []byte) {
		_ = p.meetings.hearCard(b, author, nil)
	})
	p.voice.hear(gossip.KindRun, checkAnnouncement, func(author peer.ID, b []byte) {
		p.runs.announced(job.RunID(b), author)
	})
	p.voice.hear(gossip.KindTombstone, checkTombstone, func(author peer.ID, b []byte) {
		if err := p.runs.buried(b); err != nil {
			p.Log.Debug("tombstone refused", "from", author, "error", err)
		}
	})
	p.voice.hear(gossip.KindLoad, checkLoad, p.runs.hearLoad)
	p.voice.hear(gossip.KindNews, checkNews, p.runs.hearNews)
	p.voice.hear(gossip.KindShared, checkShared, p.traffic.hearShared)
	p.voice.hear(gossip.KindRevocation, func(_ peer.ID, b []byte) error { return p.host.Roll().Check(b) },
		func(author peer.ID, b []byte) { p.exclusion.hear(b, author, false) })
	p.voice.hear(gossip.KindDeath, func(_ peer.ID, b []byte) error {
		_, err := readDeath(b)
		return err
	}, p.runs.hearDeath)
	p.voice.hear(gossip.KindRoster, checkRoster, a.asked.hearRoster)
	p.voice.hear(gossip.KindPublished, checkPublished, func(author peer.ID, b []byte) {
		if err := p.publications.hear(b); err != nil {
			p.Log.Debug("notice of a module refused", "from", author, "error", err)
		}
	})
	p.voice.hear(gossip.KindAnswered, checkAnswered, func(author peer.ID, b []byte) {
		if err := p.runs.claimed(b, author); err != nil {
			p.Log.Debug("statement of an answer refused", "from", author, "error", err)
		}
	})
}
