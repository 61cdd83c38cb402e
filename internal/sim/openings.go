package sim

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// A Manner is how liars stand by what they bring where they can be asked how they came to it.
type Manner uint8

const (
	Unasked Manner = iota // nobody is asked
	Bends                 // they change what they bring, and show how they came to what it was
	MakesUp               // they make it up, and sign that it was made of nothing
	Spoils                // they get leaves wrong, and show all that they have made of these
	Hides                 // the same, and show nothing
	Dawdles               // the same, and show it when nobody waits any more
	Garbles               // the same, and show something else
	manners
)

// openingPatience is how long the owner waits for what it has asked for, as peers do, and rerunTime how long it runs
// one node.
const (
	openingPatience = 10 * time.Second
	rerunTime       = 30 * time.Second
)

// made is what stands behind a peer's vouchers, in this life, by commitment.
type made map[verify.Hash]*driver.Made

// exhibits are what the owner was shown, so that it is known which lies it has seen.
type exhibits struct {
	shown map[verify.Node][]exhibit     // by the job that was handed in
	seen  map[string]map[int32]struct{} // whose outcomes of jobs, by path, have a node that was found wrong
}

type exhibit struct {
	by    int32
	claim verify.Claim
}

// ask asks a peer for what stands behind a claim. The question or the answer may be lost; and whoever has begun another
// life knows nothing of it.
func (w *world) ask(p *peer, o verify.Open) {
	of := w.of(steal.PeerID(o.Of))
	const oneLost = 20
	delay := func() int64 { return w.random.Int64N(int64(300 * time.Millisecond)) }
	answered := false
	answer := func(s *driver.Shown) {
		if answered {
			return
		}
		if answered = true; s != nil {
			w.exhibits.shown[o.In] = append(w.exhibits.shown[o.In], exhibit{of.number, o.Claim})
		}
		p.driver.Opened(p.local(), o, s)
		p.settle()
	}
	after := func(p *peer, delay int64, do func()) {
		w.queue.post(event{at: w.now + delay, what: sharedDue, peer: p.number, do: do})
	}
	after(p, int64(openingPatience), func() { answer(nil) })
	if w.random.IntN(oneLost) == 0 {
		return
	}
	after(of, delay(), func() {
		s, d := w.cfg.Quorum.shows(of, &o), delay()
		if w.cfg.Quorum.is(of, Dawdles) {
			d += int64(openingPatience)
		}
		after(p, d, func() { answer(s) })
	})
}

// is says whether a peer lies in such a way.
func (q *Quorum) is(p *peer, t Manner) bool {
	return q != nil && q.Shows == t && slices.Contains(q.Liars, p.number)
}

// asks says whether peers remember how they came to outcomes.
func (q *Quorum) asks() bool { return q != nil && q.Shows != Unasked }

// spoils is what a leaf comes to at a peer.
func (q *Quorum) spoils(p *peer, n Node, r Result) Result {
	if q.asks() && q.Shows >= Spoils && slices.Contains(q.Liars, p.number) && q.falls(n.Key) {
		r.Sum++
	}
	return r
}

// shows is what a peer shows of a claim that it has made; nil for nothing.
func (q *Quorum) shows(p *peer, o *verify.Open) *driver.Shown {
	made := p.made[o.Claim.Tree]
	if made == nil || q.is(p, Hides) {
		return nil
	}
	s := &driver.Shown{Made: driver.Made{Job: made.Job, Children: slices.Clone(made.Children)}}
	s.Voucher = newNotary(p).Vouch(p.world.run, &verify.Opening{Node: o.Claim.Node, Outcome: o.Claim.Outcome,
		Time: o.Claim.Time, Children: claimsOf(s.Children)})
	if q.is(p, Garbles) {
		garble(p, s)
	}
	return s
}

func claimsOf(list []driver.Given) (claims []verify.Claim) {
	for i := range list {
		claims = append(claims, list[i].Claim)
	}
	return claims
}

// garble makes something else of what was committed to.
func garble(p *peer, s *driver.Shown) {
	r := p.world.random
	if len(s.Children) == 0 || r.IntN(6) == 0 {
		s.Job.Arg = slices.Clone(s.Job.Arg)
		s.Job.Arg[r.IntN(8)]++
		return
	}
	i := r.IntN(len(s.Children))
	g := &s.Children[i]
	switch r.IntN(5) {
	case 0: // not what it says it is
		g.Bytes = slices.Clone(g.Bytes)
		g.Bytes[8]++
	case 1: // not what was committed to
		g.Bytes = slices.Clone(g.Bytes)
		g.Bytes[8]++
		g.Outcome = newNotary(p).Digest(g.Bytes)
	case 2:
		s.Children = slices.Delete(s.Children, i, i+1)
	case 3:
		s.Children = slices.Insert(s.Children, i, *g)
	default: // how it came to something else
		if below := p.made[g.Tree]; below != nil {
			s.Made = *below
		} else {
			g.Tree[0]++
		}
	}
}

// tries runs a node again, beside all that the owner does.
func (w *world) tries(p *peer, t *driver.Trial) {
	r := w.rerun(&t.Job, t.Given)
	if r.Took > rerunTime {
		r.OK = false
	}
	n, digest := driver.NodeOf(t.Job.Path, t.Job.Identity), newNotary(p).Digest(r.Outcome)
	for _, x := range w.exhibits.shown[t.In] {
		if r.OK && x.claim.Node == n && x.claim.Outcome != digest && slices.Contains(w.cfg.Quorum.Liars, x.by) {
			if w.exhibits.seen[t.In.Path] == nil {
				w.exhibits.seen[t.In.Path] = map[int32]struct{}{}
			}
			w.exhibits.seen[t.In.Path][x.by] = struct{}{}
		}
	}
	w.queue.post(event{at: w.now + int64(min(r.Took, rerunTime)), what: sharedDue, peer: p.number, do: func() {
		p.driver.Reran(p.local(), t, r)
		p.settle()
	}})
}

// rerun is what a job comes to with the outcomes of some below it.
func (w *world) rerun(j *steal.Job, given []driver.Given) (r driver.Tried) {
	tree := w.cfg.Tree
	r.Used = make([]bool, len(given))
	var run func(path job.Path, n Node) Result
	run = func(path job.Path, n Node) (sum Result) {
		r.Took += time.Duration(tree.Cost(n))
		children := tree.Children(n, nil)
		if len(children) == 0 {
			return leafResult(tree, n)
		}
		for i := len(children) - 1; i >= 0; i-- { // newest first, as engines run them
			at := append(slices.Clone(path), uint32(i)+1)
			var x Result
			name := driver.NodeOf(at, identify(children[i].encode(tree.ArgBytes(children[i]))))
			if k := slices.IndexFunc(given, func(g driver.Given) bool { return g.Node == name }); k >= 0 {
				o, _ := decodeOutcome(given[k].Bytes)
				x, r.Used[k] = o.result, true
			} else {
				x = run(at, children[i])
			}
			if tree.Any(n) && x == something {
				return something
			}
			sum = combined(tree, sum, x)
		}
		if tree.Any(n) {
			return nothing
		}
		return sum
	}
	n, ok := decodeNode(j.Arg)
	if r.OK = ok; ok {
		o := outcome{claim: claimOf(w.run, j.Path, n), result: run(j.Path, n)}
		r.Outcome = o.encode(tree.ResultBytes(n))
	}
	return r
}

// checkProof looks at a lie as others would who have the proof alone.
func (w *world) checkProof(c *driver.Caught) {
	if !c.Alone {
		return
	}
	n := driver.NodeOf(c.Job.Path, c.Job.Identity)
	var given []driver.Given
	signed := true
	for _, g := range c.Children {
		if g.Bytes != nil {
			given = append(given, g)
			signed = signed && (notary{}).Digest(g.Bytes) == g.Outcome
		}
	}
	claim, _ := notary{open: true}.Claim(n, c.Claimed, c.Said.Voucher)
	o := verify.Opening{Node: n, Outcome: c.Claimed, Time: claim.Time, Children: claimsOf(c.Children)}
	again := w.rerun(&c.Job, given)
	if !signed || !o.Opens(&claim) || !again.OK || (notary{}).Digest(again.Outcome) == c.Claimed {
		panic(violation(proofHolds, "%s is put out for what it has said of %v, and the proof does not show it", c.Peer,
			c.Job.Path))
	}
}

// checkUsed looks at an outcome of another that the owner is about to use.
func (w *world) checkUsed(path job.Path, o *outcome) {
	if _, wrong := w.exhibits.seen[driver.NodeOf(path, job.Identity{}).Path][o.by]; wrong {
		panic(violation(seenLie, "the outcome of %v by %d is used, of which a node was run again and is wrong", path, o.by))
	}
}
