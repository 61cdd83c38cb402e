package driver

import (
	"bytes"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Proving says how outcomes of others are compared before they are used: see steal.Run.Proving. It needs a Notary.
type Proving struct {
	Config verify.Config
	View   verify.View
	Rand   verify.Rand
	// Judged says whether the engine is to judge an outcome of a function by itself: see port.Judge.
	Judged func(function string) bool
	// Alike says whether outcomes of a job can be compared; those of others are computed here.
	Alike func(function string, arg []byte) bool
	// Doubtful says whether outcomes of a function may honestly differ if one of its jobs shares a lattice of its own,
	// which the engine is to tell: see port.Shares.
	Doubtful func(function string) bool
	// Author is who has signed a voucher, which was checked where it came in.
	Author func(voucher []byte) verify.PeerID
	// Open asks a peer for what stands behind a claim of its, which Driver.Opened is to be told; Rerun has a job
	// run again, which Driver.Reran is. They must not block. nil: nobody can be asked, and a node is a whole stolen
	// job.
	Open  func(o verify.Open)
	Rerun func(t *Trial)
	// Caught is told who has lied. It must not block.
	Caught func(c Caught)
	// Passed is told whose outcomes were compared and found right, at once: View.Passed is to say so. It
	// must not block.
	Passed func(list []verify.PeerID)
	// Agreed is told which outcome of a job is believed, and the vouchers of those others who have said this very
	// one. It must not block. nil: nobody wants to know.
	Agreed func(n verify.Node, j *steal.Job, outcome []byte, vouchers [][]byte)
	// Missing is told how many more peers by others are wanted, and that a job waits for them. It must not block.
	Missing func(peers int)
}

// Caught is a lie: what its author has said came of a job, and what does come of it. Whoever has the program can
// see for himself who is right; that the author has said it, its voucher shows.
type Caught struct {
	Peer    verify.PeerID
	Job     steal.Job
	Claimed verify.Hash // of the outcome
	Said    Word
	Truth   Word // of this peer, if it has computed it as well; else what was said shows by itself that it is wrong,
	// or, if Alone, the job does, run again with those outcomes of its children that are there.
	Alone    bool
	Children []Given
}

// Word is an outcome and its voucher.
type Word struct{ Outcome, Voucher []byte }

// Proofs counts what was compared.
type Proofs struct {
	Proved  uint64          // outcomes that were believed in the end
	Copies  uint64          // further ones that were asked of others
	Here    uint64          // further ones that were computed here, disputes included
	Settled uint64          // disputes
	Waiting int             // jobs that wait until there are more peers by others,
	Missing int             // and how many more the one that wants most needs
	Caught  []verify.PeerID // in the order in which they were
	Earned  []Earned        // by peer; not to be changed
	Unlike  uint64          // jobs that shared lattices of their own, so that what others had said of them was no proof
	Doubt   float64         // with which probability at most an outcome that is used is wrong, where records count
	OnLiars uint64          // outcomes that are used and rest on the word of those alone who were caught later

	Nodes    uint64 // that others have committed to
	Openings uint64 // that they were asked for
	Reran    uint64 // nodes that were run again here, which took so long
	Took     time.Duration

	Answer verify.Authors // of the root's outcome that this peer has come to, besides it
}

// proving stands between steal's core, which holds what is unproved, and that of package verify, which says what is
// believed. What is handed in is a whole stolen job: whoever takes part gives nothing on. The nodes below it are in the
// file openings.go. A nil *proving is that of a run in which outcomes are used as they come.
type proving struct {
	d      *Driver
	cfg    *Proving
	core   *verify.Core
	open   map[verify.Node]*proof
	nodes  map[steal.Handle]verify.Node
	shown  map[verify.PeerID]int           // bytes of what they have shown, by peer
	left   map[verify.PeerID]time.Duration // for running nodes of theirs again: see mayRerun
	ticked time.Duration
	counts Proofs

	judging map[sharedobj.Ticket]judgement
	tickets sharedobj.Ticket
}

// judgement is an outcome that the engine judges, and who has brought it.
type judgement struct {
	node verify.Node
	from verify.PeerID
	said saying
}

// proof is what is known of a job whose outcome is unproved.
type proof struct {
	job     steal.Job
	handles []steal.Handle // that wait for it
	said    map[verify.PeerID]saying
	own     *saying       // computed here
	judged  bool          // the core waits for what it comes to here
	unlike  bool          // what others say of it is not compared
	shown   gallery       // of its nodes
	checked time.Duration // that running some of its nodes again has taken
	asked   verify.Open   // last,
	since   time.Duration // then;
	waited  time.Duration // and for how long for all answers
	audited verify.PeerID // whose nodes were run again last
}

// saying is an outcome, and what of it is compared, and used: all of it, or what the application says that it
// has in common with all that are right.
type saying struct {
	Word
	essence []byte
	had     time.Duration // for which who has brought it had the job
}

// proofEvery is how often the core is told the time while it waits for somebody.
const proofEvery = time.Second

func newProving(d *Driver, cfg *Proving) *proving {
	if cfg == nil {
		return nil
	}
	return &proving{d: d, cfg: cfg, core: verify.New(cfg.Config, cfg.View, cfg.Rand), open: map[verify.Node]*proof{},
		nodes: map[steal.Handle]verify.Node{}, shown: map[verify.PeerID]int{}, left: map[verify.PeerID]time.Duration{},
		judging: map[sharedobj.Ticket]judgement{}}
}

// at is a time of the driver's clock as the core wants it.
func at(now time.Duration) time.Time { return time.Unix(0, int64(now)) }

// next is when the core wants to know the time; false if it waits for nobody.
func (v *proving) next() (time.Duration, bool) {
	if v == nil || len(v.open) == 0 {
		return 0, false
	}
	return v.ticked + proofEvery, true
}

func (v *proving) tick(now time.Duration) {
	if due, waits := v.next(); waits && now >= due {
		v.ticked = now
		v.absorb(v.core.Tick(at(now)))
	}
}

// came takes in what somebody has made of a job, or that he will make nothing of it.
func (v *proving) came(o *steal.Order) {
	n, now := NodeOf(o.Job.Path, o.Job.Identity), at(v.d.now)
	p := v.open[n]
	if p == nil {
		p = &proof{job: o.Job, said: map[verify.PeerID]saying{}}
		v.open[n] = p
	}
	if !slices.Contains(p.handles, o.Handle) {
		p.handles = append(p.handles, o.Handle)
		v.nodes[o.Handle] = n
	}
	from, w := verify.PeerID(o.Peer), saying{Word{o.Outcome, o.Voucher}, o.Outcome, o.Had}
	switch judged := v.cfg.Judged(o.Job.Function); {
	case o.Lost || judged && len(v.judging) >= maxJudging:
		v.absorb(v.core.Lost(now, n, from, false))
	case !judged:
		v.heard(n, from, w, compared)
	default:
		v.tickets++
		v.judging[v.tickets] = judgement{n, from, w}
		v.d.job = p.job
		v.d.shared.makeWhole(&v.d.job)
		v.d.order = port.Order{Kind: port.Judge, Job: &v.d.job, Outcome: v.d.shared.whole(w.Outcome),
			Shared: &port.Shared{Ticket: v.tickets}}
		v.d.cfg.Engine.Do(&v.d.order)
	}
}

// maxJudging bounds the outcomes that are being judged; there is one for each job that is away, and each copy.
const maxJudging = 1 << 14

// What the application says of an outcome by itself.
type verdict uint8

const (
	compared verdict = iota
	provesItself
	isWrong
)

// judged takes in what the engine says of an outcome.
func (v *proving) judged(e *port.Event) {
	if v == nil {
		return
	}
	j, ok := v.judging[e.Shared.Ticket]
	if !ok {
		return
	}
	delete(v.judging, e.Shared.Ticket)
	is := isWrong
	switch {
	case e.Good:
		is, j.said.essence = compared, e.Outcome
		if e.Shared.Changed {
			is = provesItself
		}
	case e.Shared.Changed && j.from != "":
		if v.open[j.node] != nil {
			v.absorb(v.core.Lost(at(v.d.now), j.node, j.from, true))
		}
		return
	}
	v.heard(j.node, j.from, j.said, is)
}

// heard tells the core what somebody has made of a job. Whoever takes part gives nothing on, so what another one has
// signed is none of its: else it could stand for any number of keys, each of which would have a voice.
func (v *proving) heard(n verify.Node, from verify.PeerID, w saying, is verdict) {
	p, now := v.open[n], at(v.d.now)
	if p == nil {
		return // nobody waits for it any more
	}
	if from != "" && v.cfg.Author(w.Voucher) != from {
		v.absorb(v.core.Lost(now, n, from, true))
		return
	}
	claim := v.claim(n, p, from, &w)
	if from == "" {
		p.own = &w
	} else if _, twice := p.said[from]; !twice {
		p.said[from] = w
	}
	switch {
	case is == provesItself:
		v.absorb(v.core.Proven(now, claim, from))
	case is == isWrong && from != "":
		v.absorb(v.core.Refuted(now, claim, from))
	case from != "" && !v.alike(p.job):
		v.here(n)
	case is == isWrong: // or says nothing, here: it is used, and makes no liars of those who have an answer
		v.absorb(append(v.core.Unlike(now, n), v.core.Came(now, claim, from)...))
	default:
		v.absorb(v.core.Came(now, claim, from))
	}
	if p.judged && p.own != nil && v.open[n] == p {
		v.judge(n, p)
	}
}

// shares takes in that a job that runs here shares a lattice of its own: nothing is compared with what it comes to.
// What is compared is computed here alone, so those above it share one, too.
func (v *proving) shares(s identity) {
	if v == nil {
		return
	}
	n := NodeOf(s.path, s.id)
	if p := v.open[n]; p != nil && !p.unlike && v.cfg.Doubtful(p.job.Function) {
		p.unlike = true
		v.counts.Unlike++
		v.absorb(v.core.Unlike(at(v.d.now), n))
	}
}

// judge tells the core what a job comes to here.
func (v *proving) judge(n verify.Node, p *proof) {
	p.judged = false
	v.absorb(v.core.Reran(at(v.d.now), n, &verify.Opening{Node: n, Outcome: v.d.cfg.Notary.Digest(p.own.essence)}))
}

// absorb carries out what the core wants, which may lead to more.
func (v *proving) absorb(orders []verify.Order) {
	for _, o := range orders {
		switch o := o.(type) {
		case verify.Copy:
			v.counts.Copies++
			v.ask(o.Node, input{kind: copyWanted, to: steal.PeerID(o.To)})
		case verify.RunHere:
			if p := v.open[o.Node]; p != nil && p.differ() {
				v.counts.Settled++
			}
			v.here(o.Node)
		case verify.Rerun:
			v.rerun(&o)
		case verify.Open:
			v.show(&o)
		case verify.Accept:
			v.accept(&o)
		case verify.Blame:
			v.caught(&o)
		case verify.Passed:
			v.cfg.Passed(o.Peers)
		case verify.Missing:
			v.cfg.Missing(o.Peers)
		}
	}
}

// ask tells steal's core what is wanted of a job.
func (v *proving) ask(n verify.Node, in input) {
	if p := v.open[n]; p != nil && len(p.handles) > 0 {
		in.now, in.handle = v.d.now, p.handles[0]
		v.d.inputs.push(in)
	}
}

func (v *proving) here(n verify.Node) {
	if p := v.open[n]; p != nil && p.own == nil {
		v.counts.Here++
		v.ask(n, input{kind: copyWanted})
	}
}

// accept has an outcome used that is believed.
func (v *proving) accept(o *verify.Accept) {
	p := v.open[o.Node]
	if p == nil {
		return
	}
	word := p.own
	for _, id := range o.By {
		if w, ok := p.said[id]; ok && word == nil {
			word = &w
		}
	}
	if word == nil {
		return
	}
	v.counts.Proved++
	v.earn(p, o)
	use := word.Word
	if !bytes.Equal(word.essence, use.Outcome) { // nobody has said this, but all mean it
		use.Outcome = word.essence
		use.Voucher = v.d.cfg.Notary.Vouch(v.d.core.Run(), &verify.Opening{Node: o.Node, Outcome: o.Outcome})
	}
	if v.cfg.Agreed != nil {
		v.agreed(p, o, use.Outcome)
	}
	for _, h := range p.handles {
		v.d.inputs.push(input{kind: proved, now: v.d.now, handle: h, word: use})
	}
	v.close(o.Node, p)
}

// agreed tells on whose words an outcome is believed.
func (v *proving) agreed(p *proof, o *verify.Accept, outcome []byte) {
	var vouchers [][]byte
	for _, id := range o.By {
		if w, ok := p.said[id]; ok && bytes.Equal(w.Outcome, outcome) {
			vouchers = append(vouchers, w.Voucher)
		}
	}
	if len(vouchers) > 0 {
		j := p.job
		v.d.shared.makeWhole(&j)
		v.cfg.Agreed(o.Node, &j, outcome, vouchers)
	}
}

// caught puts out whoever has lied.
func (v *proving) caught(b *verify.Blame) {
	v.counts.Caught = append(v.counts.Caught, b.Peer)
	v.d.inputs.push(input{kind: shunned, now: v.d.now, outcasts: steal.Outcasts{Caught: steal.PeerID(b.Peer)}})
	if p := v.open[b.Proof.Said.Node]; p != nil {
		v.cfg.Caught(v.evidence(p, b))
		delete(p.said, b.Peer)
		p.checked, p.waited = 0, 0
	}
	if i, is := find(v.counts.Earned, b.Peer); is {
		v.counts.Earned = slices.Delete(slices.Clone(v.counts.Earned), i, i+1)
	}
}

// proven forgets that somebody waits for a job.
func (v *proving) proven(h steal.Handle) {
	n := v.nodes[h]
	delete(v.nodes, h)
	if p := v.open[n]; p != nil {
		if p.handles = slices.DeleteFunc(p.handles, func(x steal.Handle) bool { return x == h }); len(p.handles) == 0 {
			v.close(n, p)
		}
	}
}

func (v *proving) close(n verify.Node, p *proof) {
	for t, s := range p.shown.of {
		v.count(t.by, -s.Size())
	}
	delete(v.open, n)
	v.core.Done(n)
}

// Proofs are what was compared so far, and what was not.
func (d *Driver) Proofs() (p Proofs) {
	if d.proving != nil {
		p = d.proving.counts
		p.Caught = slices.Clone(p.Caught)
		p.Doubt, p.OnLiars = d.proving.core.InDoubt()
		p.Waiting, p.Missing = d.proving.core.Lacking()
	}
	if d.sources != nil {
		p.Answer = d.sources.answer
	}
	return p
}
