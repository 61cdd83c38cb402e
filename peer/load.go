package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
)

// load is what a peer tells everybody of its part in a run: a hint, for the owner's progress display and
// final figures, and for whoever asks what the others do.
type load struct {
	Run     satin.RunID `cbor:"1,keyasint"`
	Workers int         `cbor:"2,keyasint,omitempty"`
	Busy    int         `cbor:"3,keyasint,omitempty"`
	Queued  int         `cbor:"4,keyasint,omitempty"`
	Figures runFigures  `cbor:"5,keyasint"`
	heard   time.Time
}

// runFigures are counts since a peer began to take part.
type runFigures struct {
	Spawned      uint64 `cbor:"1,keyasint,omitempty"`
	Executed     uint64 `cbor:"2,keyasint,omitempty"`
	Syncs        uint64 `cbor:"3,keyasint,omitempty"`
	Aborted      uint64 `cbor:"4,keyasint,omitempty"`
	SentLocal    uint64 `cbor:"5,keyasint,omitempty"` // steal requests
	SentWide     uint64 `cbor:"6,keyasint,omitempty"`
	WonLocal     uint64 `cbor:"7,keyasint,omitempty"`
	WonWide      uint64 `cbor:"8,keyasint,omitempty"`
	Given        uint64 `cbor:"9,keyasint,omitempty"`
	Taken        uint64 `cbor:"10,keyasint,omitempty"`
	MessagesIn   uint64 `cbor:"11,keyasint,omitempty"` // sent inside the cluster
	MessagesOut  uint64 `cbor:"12,keyasint,omitempty"` // sent to other clusters
	BytesIn      uint64 `cbor:"13,keyasint,omitempty"`
	BytesOut     uint64 `cbor:"14,keyasint,omitempty"`
	Restarted    uint64 `cbor:"15,keyasint,omitempty"`
	IdleSeconds  uint64 `cbor:"16,keyasint,omitempty"` // milliseconds of workers without a job
	TotalSeconds uint64 `cbor:"17,keyasint,omitempty"` // milliseconds of workers
	Kept         uint64 `cbor:"18,keyasint,omitempty"` // orphans
	Adopted      uint64 `cbor:"19,keyasint,omitempty"`
	Reused       uint64 `cbor:"20,keyasint,omitempty"`
	News         uint64 `cbor:"21,keyasint,omitempty"`
}

func figuresOf(p satin.Stats, s session.Stats) runFigures {
	total := time.Duration(p.Workers) * p.Elapsed
	return runFigures{
		Spawned: p.Spawned, Executed: p.Executed, Syncs: p.Syncs, Aborted: p.Aborted,
		SentLocal: s.Steal.StealsSentLocal, SentWide: s.Steal.StealsSentWide,
		WonLocal: s.Steal.StealsWonLocal, WonWide: s.Steal.StealsWonWide,
		Given: s.Steal.JobsGivenLocal + s.Steal.JobsGivenWide, Taken: s.Steal.JobsTakenLocal + s.Steal.JobsTakenWide,
		MessagesIn: s.Steal.MessagesSentLocal, MessagesOut: s.Steal.MessagesSentWide,
		BytesIn: s.Steal.BytesSentLocal, BytesOut: s.Steal.BytesSentWide, Restarted: s.Steal.JobsPutBack,
		Kept: s.Steal.OrphansKept, Adopted: s.Steal.OrphansAdopted, Reused: s.Steal.OrphansReused,
		News:        s.Steal.NewsSent,
		IdleSeconds: uint64(max(p.Idle, 0).Milliseconds()), TotalSeconds: uint64(max(total, 0).Milliseconds()),
	}
}

// add adds another peer's part.
func (f *runFigures) add(g *runFigures) {
	for _, x := range [...]struct{ to, from *uint64 }{
		{&f.Spawned, &g.Spawned}, {&f.Executed, &g.Executed}, {&f.Syncs, &g.Syncs}, {&f.Aborted, &g.Aborted},
		{&f.SentLocal, &g.SentLocal}, {&f.SentWide, &g.SentWide}, {&f.WonLocal, &g.WonLocal}, {&f.WonWide, &g.WonWide},
		{&f.Given, &g.Given}, {&f.Taken, &g.Taken}, {&f.MessagesIn, &g.MessagesIn}, {&f.MessagesOut, &g.MessagesOut},
		{&f.BytesIn, &g.BytesIn}, {&f.BytesOut, &g.BytesOut}, {&f.Restarted, &g.Restarted},
		{&f.IdleSeconds, &g.IdleSeconds}, {&f.TotalSeconds, &g.TotalSeconds},
		{&f.Kept, &g.Kept}, {&f.Adopted, &g.Adopted}, {&f.Reused, &g.Reused}, {&f.News, &g.News},
	} {
		*x.to += *x.from
	}
}

// stats gives the figures under the names that people see.
func (f *runFigures) stats() control.RunStats {
	const ms = 1000.0
	idle := min(f.IdleSeconds, f.TotalSeconds)
	return control.RunStats{
		Spawns: f.Spawned, Executed: f.Executed, Syncs: f.Syncs, AbortedJobs: f.Aborted,
		LocalStealAttempts: f.SentLocal, LocalStealSuccesses: f.WonLocal, WideStealAttempts: f.SentWide,
		WideStealSuccesses: f.WonWide,
		IntraMessages:      f.MessagesIn, IntraBytes: f.BytesIn, InterMessages: f.MessagesOut, InterBytes: f.BytesOut,
		RestartedJobs: f.Restarted, OrphansKept: f.Kept, OrphansAdopted: f.Adopted, Orphans: f.Reused, News: f.News,
		StealTime: float64(idle) / ms, UsefulTime: float64(f.TotalSeconds-idle) / ms,
	}
}

const (
	// loadEvery is how often a peer tells its load while it changes, in a small swarm; in a large one the
	// whole swarm's loads come at most as often as loadsPerSecond.
	loadEvery      = time.Second
	loadsPerSecond = 10
	// loadLife is how long a load is believed to be the present one.
	loadLife = 10 * time.Second
	// maxLoads bounds the peers of a run whose loads are kept.
	maxLoads = 4096
	maxLoad  = 512 // bytes, encoded
)

// loadTeller remembers what was told last.
type loadTeller struct {
	at       time.Time
	executed uint64
	busy     int
}

// tellLoads tells everybody what this peer does for each run, if that has changed and it is time.
func (p *Peer) tellLoads(now time.Time) {
	every := max(loadEvery, time.Duration(p.members.count())*time.Second/loadsPerSecond)
	for _, r := range p.runs.inProgress() {
		if r.session == nil || now.Sub(r.load.at) < every {
			continue
		}
		l := p.loadOf(r)
		if l.Figures.Executed == r.load.executed && l.Busy == r.load.busy {
			continue
		}
		r.load = loadTeller{now, l.Figures.Executed, l.Busy}
		p.publishLoad(l)
	}
}

func (p *Peer) loadOf(r *run) *load {
	s := r.session.Stats()
	return &load{
		Run: r.manifest.Run, Workers: s.Load.Workers, Busy: max(s.Load.Workers-s.Load.Idle, 0), Queued: s.Load.Queued,
		Figures: figuresOf(r.session.Pool().Stats(), s), // not figures(), which the table's mutex guards
	}
}

// hearLoad takes in another peer's load.
func (p *Peer) hearLoad(from peer.ID, payload []byte) {
	var l load
	if wire.Control().Decode(payload, &l) != nil {
		return // checked before
	}
	l.heard = time.Now()
	t := p.runs
	t.mu.Lock()
	r := t.table[l.Run]
	if r != nil && r.state != control.RunRefused && (r.loads[from] != nil || len(r.loads) < maxLoads) {
		if r.loads == nil {
			r.loads = map[peer.ID]*load{}
		}
		r.loads[from] = &l
		r.most = max(r.most, len(r.loads)+1)
	}
	t.mu.Unlock()
	if r == nil {
		t.heard(l.Run, from)
	}
}

// total adds up what all peers have told of their part. The table's mutex is held.
func (r *run) total() *runFigures {
	f := r.figures()
	for _, l := range r.loads {
		f.add(&l.Figures)
	}
	return &f
}

// taking counts the peers that take part now, their workers, and those of them that are busy. The table's
// mutex is held.
func (r *run) taking(now time.Time) (peers, workers, busy int) {
	if r.session != nil && !r.state.Ended() {
		s := r.session.Stats()
		peers, workers, busy = 1, s.Load.Workers, max(s.Load.Workers-s.Load.Idle, 0)
	}
	for _, l := range r.loads {
		if now.Sub(l.heard) < loadLife {
			peers, workers, busy = peers+1, workers+l.Workers, busy+l.Busy
		}
	}
	return peers, workers, busy
}
