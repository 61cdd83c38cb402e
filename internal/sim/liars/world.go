package liars

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/sim/agenda"
	"github.com/satin-peer/satin/verify"
)

// A Config is one schedule.
type Config struct {
	Seed    uint64
	Verify  verify.Config
	Peers   int
	Liars   int // of them
	Is      Character
	OneGang bool   // all liars were brought in by one member
	Jobs    int    // nodes that are given away
	Deepest int    // of the tree
	Heavy   bool   // how long its nodes take has a heavy tail
	Says    Says   // of liars
	Quiet   bool   // nobody says how long nodes took
	Rough   bool   // peers make nodes of some jobs only, each of others
	Lossy   bool   // answers come late or never, now and then
	Used    bool   // what was accepted is used, and cannot be taken back: so it is with peers
	Record  uint64 // comparisons that each peer has passed before
	Fresh   bool   // liars have passed none
}

// A Result is what came of it.
type Result struct {
	Wrong    int // outcomes that were believed at the end and are not so
	Misled   int // that were accepted although they are not so; some were taken back
	Jobs     int
	Needed   int    // nodes that had to be run once
	Ran      int    // that were run, by all and by the owner
	Owner    int    // of those by the owner, single nodes counted
	Time     uint64 // that it took to run once what had to be,
	OwnTime  uint64 // and of the owner, what it has run
	Openings int
	Caught   int     // liars that were blamed
	Lied     int     // that have lied at all
	Missing  int     // jobs that wait for more peers
	OnLiars  int     // outcomes that rest on the word of those alone who were caught later, as the core says at the end
	Doubt    float64 // of all others, with which probability one is wrong at most, as it says; added up
}

// Errors of a schedule: what must never be.
var (
	errBlamed = errors.New("an honest peer is blamed")
	errProof  = errors.New("a proof does not hold")
	errOpen   = errors.New("a node was never accepted")
	errRecord = errors.New("a liar has left a friend who is believed")
)

type world struct {
	cfg   Config
	rng   *rand.Rand
	now   time.Time
	queue agenda.Agenda // by the time since 1970
	core  *verify.Core
	peers map[verify.PeerID]*peer
	order []*peer
	own   *peer
	is    map[verify.Node]verify.Hash  // what was accepted
	so    map[verify.Node]verify.Claim // what is so
	past  verify.Records
	away  bool // nobody is known to be a member by anybody: the owner has been started again
	res   Result
	err   error
}

// Candidates and Introducer are the core's view.
func (w *world) Candidates() (list []verify.Candidate) {
	for _, p := range w.order {
		list = append(list, verify.Candidate{ID: p.id, Introducer: p.by})
	}
	return list
}

func (w *world) Introducer(id verify.PeerID) verify.PeerID {
	if p := w.peers[id]; p != nil {
		return p.by
	}
	return ""
}

func (w *world) Trusted(verify.PeerID) bool { return false }

func (w *world) Passed(id verify.PeerID) uint64 { return w.past.Passed(id) }

// hand is by whom a peer is a member, as far as the owner knows.
func (w *world) hand(id verify.PeerID) verify.PeerID {
	if w.away {
		return ""
	}
	return w.Introducer(id)
}

func (w *world) Below(n uint64) uint64 { return w.rng.Uint64N(n) }

// Run runs a schedule to its end.
func Run(cfg Config) (Result, error) {
	w := &world{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 14)), now: time.Unix(0, 0),
		peers: map[verify.PeerID]*peer{}, is: map[verify.Node]verify.Hash{}, so: map[verify.Node]verify.Claim{}}
	w.core = verify.New(cfg.Verify, w, w)
	var records []verify.Record
	add := func(i int, is Character, by string) *peer {
		p := &peer{id: verify.PeerID(fmt.Sprint("p", i)), by: verify.PeerID(by), is: is, rough: cfg.Rough,
			made: map[verify.Hash]*verify.Opening{}, rng: rand.New(rand.NewPCG(cfg.Seed, uint64(100+i)))}
		p.speed = 50 + p.rng.Uint64N(150)
		if is != Honest {
			p.says = cfg.Says
		}
		if cfg.Quiet {
			p.says = NoTimes
		}
		w.peers[p.id] = p
		if is == Honest || !cfg.Fresh {
			records = append(records, verify.Record{Peer: p.id, Passed: cfg.Record, Hand: p.by})
		}
		w.order = append(w.order, p)
		return p
	}
	for i := range cfg.Peers {
		is, by := Honest, fmt.Sprint("m", i)
		if i < cfg.Liars {
			is = cfg.Is
			if cfg.OneGang {
				by = "gang"
			}
		}
		add(i, is, by)
	}
	w.past.Hand = w.hand
	w.past.Recall(records)
	w.rng.Shuffle(len(w.order), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
	w.own = &peer{is: Honest, says: NoTimes, made: map[verify.Hash]*verify.Opening{}, rng: w.rng}
	jobs := w.giveAway()
	w.tick()
	for _, ok := w.queue.Due(); ok && w.err == nil && w.now.Before(time.Unix(3600, 0)); _, ok = w.queue.Due() {
		at, do := w.queue.Next()
		w.now = time.Unix(0, int64(at))
		do()
	}
	w.conclude(jobs)
	return w.res, w.err
}

func (w *world) tree() tree { return tree{w.cfg.Deepest, w.cfg.Heavy} }

// giveAway has each job be stolen by somebody, one after the other.
func (w *world) giveAway() (jobs []verify.Node) {
	for i := range w.cfg.Jobs {
		n := verify.Node{Path: fmt.Sprintf("%03d/", i)}
		n.Identity[0], n.Identity[1] = byte(w.rng.Uint32()), byte(w.rng.Uint32())
		for k := 2; k < 16; k++ {
			n.Identity[k] = byte(w.rng.Uint32())
		}
		jobs = append(jobs, n)
		w.so[n] = w.tree().compute(n, honest, w.tree().is, never).claim
		thief := w.order[w.rng.IntN(len(w.order))]
		w.after(time.Duration(i)*time.Second, func() { w.give(n, thief, false) })
	}
	return jobs
}

func (w *world) after(d time.Duration, do func()) {
	w.queue.Post(w.now.Add(d).Sub(time.Unix(0, 0)), do)
}

// delay is that of a message or of the computing; it may be so long that nobody waits for it.
func (w *world) delay(lossy bool) time.Duration {
	d := time.Duration(1+w.rng.IntN(2000)) * time.Millisecond
	if lossy && w.rng.IntN(20) == 0 {
		d += time.Hour
	}
	return d
}

// give has a peer compute a node, unless it was put out.
func (w *world) give(n verify.Node, p *peer, lossy bool) {
	if w.core.Blamed(p.id) {
		p = w.own
	}
	c, ran, took := p.compute(n, w.tree())
	w.res.Ran += ran
	d := w.delay(lossy)
	if p == w.own {
		w.res.Owner += ran
		w.res.OwnTime += took
		d = time.Second
	}
	w.after(d, func() {
		if _, used := w.is[n]; !used || !w.cfg.Used {
			w.carryOut(w.core.Came(w.now, c, p.id))
		}
	})
}

func (w *world) tick() {
	w.after(time.Second, func() {
		w.carryOut(w.core.Tick(w.now))
		if len(w.is) < w.cfg.Jobs || w.now.Before(time.Unix(int64(w.cfg.Jobs)+60, 0)) {
			w.tick()
		}
	})
}

// carryOut does what the core orders.
func (w *world) carryOut(list []verify.Order) {
	for _, o := range list {
		switch o := o.(type) {
		case verify.Copy:
			w.give(o.Node, w.peers[o.To], w.cfg.Lossy)
		case verify.RunHere:
			w.give(o.Node, w.own, false)
		case verify.Open:
			w.open(o)
		case verify.Rerun:
			again, ran, took := w.tree().rerun(o.Node, o.Given)
			w.res.Ran += ran
			w.res.Owner += ran
			w.res.OwnTime += took
			w.after(time.Millisecond, func() { w.carryOut(w.core.Reran(w.now, o.In, again)) })
		case verify.Accept:
			w.is[o.Node] = o.Outcome
			if o.Outcome != w.so[o.Node].Outcome {
				w.res.Misled++
			}
			if w.cfg.Used {
				w.core.Done(o.Node)
			}
		case verify.Withdraw:
			delete(w.is, o.Node)
		case verify.Passed:
			w.past.Pass(o.Peers)
		case verify.Blame:
			w.blamed(o)
		case verify.Missing:
			w.res.Missing++
		}
	}
}

func (w *world) open(o verify.Open) {
	w.res.Openings++
	p, d := w.own, time.Millisecond
	if o.Of != "" {
		p, d = w.peers[o.Of], w.delay(w.cfg.Lossy)
	}
	opened := p.opening(&o.Claim)
	if opened == nil {
		d = time.Millisecond
	}
	w.after(d, func() {
		w.carryOut(w.core.Opened(w.now, o.In, o.Of, o.Claim, opened))
	})
}

func (w *world) blamed(o verify.Blame) {
	p := w.peers[o.Peer]
	switch {
	case p == nil || !p.lied:
		w.err = fmt.Errorf("%w: %q", errBlamed, o.Peer)
	case !o.Proof.Holds(func(n verify.Node, given []verify.Claim) *verify.Opening {
		again, _, _ := w.tree().rerun(n, given)
		return again
	}):
		w.err = fmt.Errorf("%w: of %q", errProof, o.Peer)
	}
	w.res.Caught++
	w.away = w.cfg.Seed%2 == 0
	w.past.Fall(o.Peer)
	w.away = false
	for _, x := range w.order { // whoever has let a liar in may have let in more
		if x.by == p.by && w.past.Passed(x.id) > 0 {
			w.err = fmt.Errorf("%w: %q, of %q", errRecord, x.id, o.Peer)
		}
	}
}

// conclude compares what was believed with what is so.
func (w *world) conclude(jobs []verify.Node) {
	w.res.Jobs = len(jobs)
	doubt, onLiars := w.core.InDoubt()
	w.res.Doubt, w.res.OnLiars = doubt, int(onLiars)
	for _, p := range w.order {
		if p.lied {
			w.res.Lied++
		}
	}
	for _, n := range jobs {
		w.res.Needed += int(w.so[n].Nodes)
		w.res.Time += w.so[n].Time
		got, ok := w.is[n]
		switch {
		case !ok && w.err == nil && w.cfg.Verify.Own:
			w.err = fmt.Errorf("%w: %s", errOpen, n.Path)
		case ok && got != w.so[n].Outcome:
			w.res.Wrong++
		}
	}
}
