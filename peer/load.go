package peer

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// load is what a peer tells everybody of its part in a run: a hint, for the owner's progress display and
// final figures, and for whoever asks what the others do.
type load struct {
	Run     job.RunID       `cbor:"1,keyasint"`
	Workers int             `cbor:"2,keyasint,omitempty"`
	Busy    int             `cbor:"3,keyasint,omitempty"`
	Queued  int             `cbor:"4,keyasint,omitempty"`
	Stats   report.RunStats `cbor:"5,keyasint"`
	// Share is how much of the run's tree is done, in millionths; of whoever holds its root only.
	Share int `cbor:"6,keyasint,omitempty"`
	// Rate is the highest bandwidth that it has measured to another cluster, in bytes a second, for who coordinates
	// the run.
	Rate int64 `cbor:"7,keyasint,omitempty"`
	// Efficiency is the run's in the last period, in millionths; of who coordinates it only.
	Efficiency int `cbor:"8,keyasint,omitempty"`
	// Speed is how fast a core of it is, and Yardstick the job that tells, of whoever holds the root only.
	Speed     port.Speed `cbor:"9,keyasint,omitzero"`
	Yardstick *yardstick `cbor:"10,keyasint,omitempty"`

	// Lacks is how many bytes of its input the root waits for, of who holds it.
	Lacks uint64 `cbor:"11,keyasint,omitempty"`
	// Late is how many of its workers were in a leaf at the end, and have not told what they did last.
	Late int `cbor:"12,keyasint,omitempty"`

	leaf *steal.Job // that has run here

	heard, until time.Time // it is believed to be the present one until then
	cores        int       // workers that it had at most
	// what the peer told before this, and when; zero: nothing
	before   uint64
	beforeAt time.Time
}

// wholeShare is the Share of a tree that is done.
const wholeShare = 1_000_000

// overtaken says whether a load was told before the last one of a peer that takes no part any more, which came first.
// Soon afterwards it may be one of another part, which begins anew.
func (l *load) overtaken(by *load) bool {
	done, last := l.Stats.Executed, by.Stats.Executed
	return by.Workers == 0 && l.heard.Before(by.until) && (done < last || done == last && l.Workers > 0)
}

// rate is how many jobs a second the peer has executed lately; what it told last gets older.
func (l *load) rate(now time.Time) float64 {
	over := now.Sub(l.beforeAt).Seconds()
	if l.beforeAt.IsZero() || !now.Before(l.until) || over <= 0 || l.Stats.Executed < l.before {
		return 0
	}
	return float64(l.Stats.Executed-l.before) / over
}

// statsOf puts what the engine and the core count under the names that people see. Both count since this peer began
// to take part.
func statsOf(p port.Figures, s session.Stats) report.RunStats {
	c := &s.Steal
	r := report.RunStats{
		Jobs: report.Jobs{Spawns: p.Spawned, Executed: p.Executed, Syncs: p.Syncs, Aborts: p.Aborts,
			AbortedJobs: p.Aborted},
		AbortMessages:      c.SentByKind[steal.KindAbort],
		LocalStealAttempts: c.StealsSentLocal, LocalStealSuccesses: c.StealsWonLocal,
		WideStealAttempts: c.StealsSentWide, WideStealSuccesses: c.StealsWonWide,
		Given: c.JobsGivenLocal + c.JobsGivenWide, Taken: c.JobsTakenLocal + c.JobsTakenWide,
		IntraMessages: c.MessagesSentLocal, IntraBytes: c.BytesSentLocal,
		InterMessages: c.MessagesSentWide, InterBytes: c.BytesSentWide,
		RestartedJobs: c.JobsPutBack, OrphansKept: c.OrphansKept, OrphansAdopted: c.OrphansAdopted,
		OrphansReused: c.OrphansReused, News: c.NewsSent,
		SharedFetched: s.Shared.Fetches, SharedIntraBytes: s.Shared.BytesLocal, SharedInterBytes: s.Shared.BytesWide,
		SharedOffers: s.Shared.OffersTold, Copies: c.EagerCopies + c.OverdueCopies, CopiesWon: c.EagerWon,
	}
	timesOf(&r, &p.Times, c)
	return r
}

// timesOf divides the time of the engine's cores. What free ones waited for the protocol's core has booked, at moments
// of its own, so that it may have a little more or less than there was.
func timesOf(r *report.RunStats, t *port.Times, c *steal.Stats) {
	left := max(t.Cores, 0)
	part := func(d time.Duration) time.Duration {
		d = min(max(d, 0), left)
		left -= d
		return d
	}
	free := part(t.Free)
	busy := left
	stealing, waiting := part(t.Stealing), part(t.Waiting)
	r.RecoverTime, r.EncodeTime = report.SpanOf(part(t.Recovering)), report.SpanOf(part(t.Encoding))
	r.UsefulTime, left = report.SpanOf(left), free
	r.CommTime = report.SpanOf(part(c.IdleCommunicating))
	r.StealTime = report.SpanOf(stealing + part(c.IdleStealing))
	r.WaitTime = report.SpanOf(waiting + part(c.IdleWaiting))
	r.IdleTime = report.SpanOf(left)
	if t.CPU > 0 {
		r.HeldTime, r.CPUTime = report.SpanOf(busy), report.SpanOf(t.CPU)
	}
}

const (
	// loadLife is how long a load is believed to be the present one, at least, and loadTurns of how many turns of its
	// teller, which are rare in a large swarm.
	loadLife  = 10 * time.Second
	loadTurns = 3
	// maxLoads bounds the peers of a run whose loads are kept.
	maxLoads = 4096
	maxLoad  = 1280 // bytes, encoded
	// maxLinkRate bounds the bandwidth that a load tells of.
	maxLinkRate = 1e15
)

// loadTeller remembers what was told last.
type loadTeller struct {
	at       time.Time
	executed uint64
	busy     int
	share    int
	lacks    bool // something of the run's input
}

// told says whether there is nothing in a load that was not told lately. The share of whoever holds the root grows by
// what others do, also while it does nothing itself; that it waits is told to newcomers too. And a peer whose cores are
// idle, or in one long job, says so again: who is silent is taken for one that has none.
func (t *loadTeller) told(l *load, lately bool) bool {
	return l.Stats.Executed == t.executed && l.Busy == t.busy && l.Share == t.share &&
		l.Lacks == 0 && !t.lacks && (lately || l.Workers == 0)
}

// tellLoads tells everybody what this peer does for each run, if that has changed and it is time.
func (t *conductor) tellLoads(now time.Time) {
	every, again := loadEvery(t.swarm.members, t.Every), min(t.loadLife(), t.crew.cfg.AdaptEvery)/2
	for _, r := range t.inProgress() {
		if now.Sub(r.load.at) < every {
			continue
		}
		l := r.loadNow()
		t.mu.Lock()
		master := r.session.Stats().Master
		if l.Yardstick = r.findYardstick(master, l.leaf); master {
			l.Efficiency = int(r.efficiency() * wholeShare)
		}
		if !r.toldLast && !r.load.told(l, now.Sub(r.load.at) < again) { // it may have ended while it was counted
			r.load = loadTeller{now, l.Stats.Executed, l.Busy, l.Share, l.Lacks > 0}
			t.voice.tell(gossip.KindLoad, encode(l))
		}
		t.mu.Unlock()
	}
}

// loadEvery is how often a peer tells its load while it changes: every Config.Every in a small swarm.
func loadEvery(m *members.Members, least time.Duration) time.Duration {
	return report.Every(m.Count(), report.LoadsPerSecond, least)
}

// loadLife is for how long a load is believed to be the present one.
func (t *conductor) loadLife() time.Duration {
	return max(loadLife, loadTurns*loadEvery(t.swarm.members, t.Every))
}

// loadNow is what there is to tell of this peer's part.
func (r *part) loadNow() *load {
	f, s := r.session.Lately(), r.session.Stats()
	l := &load{
		Run: r.manifest.Run, Workers: s.Load.Workers, Busy: max(s.Load.Workers-s.Load.Idle, 0), Queued: s.Load.Queued,
		Rate:  int64(min(s.Rate, maxLinkRate)),
		Stats: statsOf(f, s), // not stats(), which the conductor's mutex guards
		Speed: f.Speed, leaf: f.Leaf,
	}
	if s.Master {
		l.Share = int(f.Progress * wholeShare)
	}
	if s.Lack != nil {
		l.Lacks = max(r.input, s.Lack.Here+1) - s.Lack.Here // more than nothing
	}
	return l
}

// hearLoad takes in another peer's load.
func (t *conductor) hearLoad(from peer.ID, payload []byte) {
	var l load
	if wire.Figures().Decode(payload, &l) != nil {
		return // checked before
	}
	l.heard = t.Now()
	l.until = l.heard.Add(t.loadLife())
	t.mu.Lock()
	r := t.parts[l.Run]
	if r != nil && (r.loads[from] != nil || len(r.loads) < maxLoads) {
		if r.loads == nil {
			r.loads = map[peer.ID]*load{}
		}
		if old := r.loads[from]; old != nil {
			if l.overtaken(old) && !old.heard.Before(r.began) { // not if it is of the part before a suspension
				l = *old
			}
			l.before, l.beforeAt = old.Stats.Executed, old.heard
			l.cores = old.cores
		}
		l.cores = max(l.cores, min(l.Workers, satin.MaxWorkers))
		r.loads[from] = &l
		r.hearYardstick(from, l.Yardstick)
		r.most = max(r.most, len(r.loads)+1)
		if r.final != nil && r.manifest.Owner == t.self { // what it did last
			t.hours.count(r, true, *r.final, l.heard)
		}
	}
	t.mu.Unlock()
	if r == nil {
		t.announced(l.Run, from)
	}
}

const (
	// lastWords is how long the answer of a run waits for what the others did in it, which they tell when they hear of
	// its end: those that are gone never do.
	lastWords = time.Second
	listen    = 5 * time.Millisecond
)

// hearOut waits until those that take part in a run that has just ended have told of all that they did.
func (o *owner) hearOut(ctx context.Context, r *part) {
	if r == nil {
		return
	}
	heard := func() bool {
		o.runs.mu.Lock()
		defer o.runs.mu.Unlock()
		return r.heardOut(o.Now())
	}
	for !heard() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(listen):
		}
	}
}

// heardOut says whether nobody is still to tell, or it is too late: what a peer tells last has no workers. Of one that
// has jobs it may not have been heard yet that it has. The conductor's mutex is held.
func (r *part) heardOut(now time.Time) bool {
	if now.Sub(r.ended) >= lastWords {
		return true
	}
	if !r.settled {
		return false
	}
	if len(r.loads) == 0 {
		return r.stats().Given == 0
	}
	for _, l := range r.loads {
		if l.Workers > 0 && now.Before(l.until) {
			return false
		}
	}
	return true
}

// unheard counts the peers that have not told what they did last. The conductor's mutex is held.
func (r *part) unheard() (n int) {
	for _, l := range r.loads {
		if l.Workers > 0 || l.Late > 0 {
			n++
		}
	}
	if !r.settled || r.late > 0 {
		n++
	}
	return n
}

// total adds up what all peers have told of their part. The conductor's mutex is held.
func (r *part) total() *report.RunStats {
	sum := r.withOthers(r.stats())
	return &sum
}

// withOthers adds what the others have told to the figures of this peer's part. The conductor's mutex is held.
func (r *part) withOthers(sum report.RunStats) report.RunStats {
	if r != nil {
		for _, l := range r.loads {
			sum.Add(&l.Stats)
		}
	}
	return sum
}

// gave is the processor time of each peer, this one and those that told of theirs. The conductor's mutex is held.
func (r *part) gave(self peer.ID) map[string]float64 {
	own := r.stats()
	all := map[string]float64{self.String(): own.CPUTime.Seconds()}
	for id, l := range r.loads {
		all[id.String()] = l.Stats.CPUTime.Seconds()
	}
	return all
}

// taking counts the peers that take part now, their workers, and those of them that are busy. The
// conductor's mutex is held.
func (r *part) taking(now time.Time) (peers, workers, busy int) {
	if r == nil {
		return 0, 0, 0
	}
	if r.final == nil {
		s := r.session.Stats()
		peers, workers, busy = 1, s.Load.Workers, max(s.Load.Workers-s.Load.Idle, 0)
	}
	for _, l := range r.loads {
		if now.Before(l.until) {
			peers, workers, busy = peers+1, workers+l.Workers, busy+l.Busy
		}
	}
	return peers, workers, busy
}
