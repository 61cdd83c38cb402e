package driver

import (
	"bytes"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Where whoever takes part can be asked how it came to an outcome (Proving.Open), a voucher commits to the tree of
// the nodes below: see provenance. What it shows is checked here against the commitment, and one node at a time is
// run again (Proving.Rerun), with the outcomes that were shown of those below it.

// Shown is what a peer has shown of a node: what stands behind its claim, and its word for that very node.
type Shown struct {
	Made
	Voucher []byte
}

// A Trial is a job to be run again, with the outcomes of some jobs below it.
type Trial struct {
	In    verify.Node // the job that was handed in
	by    verify.PeerID
	Job   steal.Job
	Given []Given
}

// Tried is what came of a trial.
type Tried struct {
	OK      bool // it came to an end
	Outcome []byte
	Used    []bool // of those given, which were spawned
	Took    time.Duration
}

// ticket names something that was shown.
type ticket struct {
	by   verify.PeerID
	tree verify.Hash
}

// gallery has what was shown of one job: what is to be run again, and as much of the rest as need not be asked for
// again.
type gallery struct {
	of   map[ticket]*Shown
	last ticket                        // that was looked at
	use  map[verify.PeerID]verify.Hash // by whom; two that differ are both there until it is known who lies
}

// What is shown of all jobs of a run is bounded, in bytes, and so is what one peer has shown.
const (
	maxShown   = 64 << 20
	maxShownBy = 16 << 20
)

// look gives what was shown; nil if it is not here.
func (g *gallery) look(t ticket) *Shown {
	s := g.of[t]
	if s != nil {
		g.last, g.use[t.by] = t, t.tree
	}
	return s
}

// add keeps what was shown of a job, and says whether there is room for it. What is not in use makes room.
func (v *proving) add(g *gallery, t ticket, s *Shown) bool {
	n := s.Size()
	if v.shown[t.by]+n > maxShownBy {
		v.clear(t.by)
	}
	if v.shown[""]+n > maxShown {
		v.clear("")
	}
	if v.shown[t.by]+n > maxShownBy || v.shown[""]+n > maxShown {
		return false
	}
	if g.of == nil {
		g.of, g.use = map[ticket]*Shown{}, map[verify.PeerID]verify.Hash{}
	}
	g.of[t] = s
	v.count(t.by, n)
	return true
}

// count notes that there are so many bytes more of what a peer has shown; "" is all.
func (v *proving) count(by verify.PeerID, bytes int) {
	v.shown[by] += bytes
	v.shown[""] += bytes
}

// clear forgets what is not in use of what a peer has shown, or all have.
func (v *proving) clear(by verify.PeerID) {
	for _, p := range v.open {
		for t, s := range p.shown.of {
			if p.shown.use[t.by] != t.tree && (by == "" || by == t.by) {
				v.count(t.by, -s.Size())
				delete(p.shown.of, t)
			}
		}
	}
}

// Opened says what a peer has shown of a claim, which Proving.Open has asked for; nil: nothing that it has signed.
func (d *Driver) Opened(now time.Duration, asked verify.Open, s *Shown) {
	d.feed(input{kind: opened, now: now, asked: &asked, shown: s})
}

// Reran says what came of a trial.
func (d *Driver) Reran(now time.Duration, t *Trial, r Tried) {
	d.feed(input{kind: reran, now: now, trial: t, tried: &r})
}

// claim is what somebody says of a node. Where the application says what is compared, or nothing is opened, it
// commits to nothing else.
func (v *proving) claim(n verify.Node, p *proof, author verify.PeerID, w *saying) verify.Claim {
	digest := v.d.cfg.Notary.Digest(w.essence)
	if author == "" || v.cfg.Open == nil || !v.comparesAll(&p.job) {
		return (&verify.Opening{Node: n, Outcome: digest}).Claim()
	}
	c, _ := v.d.cfg.Notary.Claim(n, digest, w.Voucher)
	v.counts.Nodes += min(c.Nodes, verify.MaxNodes)
	return c
}

// alike says whether outcomes of a job can be compared.
func (v *proving) alike(j steal.Job) bool {
	v.d.shared.makeWhole(&j)
	return v.cfg.Alike(j.Function, j.Arg)
}

// comparesAll says whether all of an outcome of a job is compared, as it is of a node.
func (v *proving) comparesAll(j *steal.Job) bool { return !v.cfg.Judged(j.Function) && v.alike(*j) }

// show has a claim opened: by who made it, unless there is nothing below that is not known here.
func (v *proving) show(o *verify.Open) {
	p := v.open[o.In]
	if p == nil {
		return
	}
	if alone := new(Made).opening(&o.Claim); o.In == o.Claim.Node &&
		alone.Claim() == o.Claim {
		v.absorb(v.core.Opened(at(v.d.now), o.In, o.Of, o.Claim, alone))
		return
	}
	if s := p.shown.look(ticket{o.Of, o.Claim.Tree}); s != nil {
		v.absorb(v.core.Opened(at(v.d.now), o.In, o.Of, o.Claim, s.opening(&o.Claim)))
		return
	}
	v.counts.Openings++
	p.asked, p.since = *o, v.d.now
	v.cfg.Open(*o)
}

// opened takes in what was shown. What it says of the job and of the outcomes must be what was committed to. Whoever
// has its answers about a job waited for, all together, for much longer than it had the job shows nothing more: else
// one that answers slowly could hold the run.
func (v *proving) opened(o *verify.Open, s *Shown) {
	p := v.open[o.In]
	if p == nil || p.asked != *o {
		return
	}
	p.waited += v.d.now - p.since
	var opening *verify.Opening
	if s != nil && p.waited <= 2*v.cfg.Config.Wait+p.said[o.Of].had {
		s.Job.Path, s.Job.Identity = PathOf(o.Claim.Node), o.Claim.Node.Identity
		t := ticket{o.Of, o.Claim.Tree}
		if v.right(s) && (p.shown.of[t] != nil || v.add(&p.shown, t, s)) {
			opening = p.shown.look(t).opening(&o.Claim)
		}
	}
	v.absorb(v.core.Opened(at(v.d.now), o.In, o.Of, o.Claim, opening))
}

func (v *proving) right(s *Shown) bool {
	return s.fits() && job.Identify(s.Job.Function, s.Job.Arg) == s.Job.Identity &&
		!slices.ContainsFunc(s.Children, func(g Given) bool { return v.d.cfg.Notary.Digest(g.Bytes) != g.Outcome })
}

// rerun has a node run again: a job that was handed in, with nothing known below it, like any job of this peer's, a
// node of a tree by itself. Where not all of a node's outcome is compared it may honestly differ, though that of the
// job above it does not: nothing is to be learned from it.
func (v *proving) rerun(o *verify.Rerun) {
	p := v.open[o.In]
	if p == nil {
		return
	}
	if v.cfg.Config.Spot == 0 {
		v.counts.Settled++
	}
	if o.Node == o.In && len(o.Given) == 0 {
		v.counts.Reran++
		if p.judged = true; p.own != nil {
			v.judge(o.In, p)
		} else {
			v.here(o.In)
		}
		return
	}
	s := p.shown.of[p.shown.last]
	if s == nil || NodeOf(s.Job.Path, s.Job.Identity) != o.Node || !v.comparesAll(&s.Job) {
		v.absorb(v.core.Reran(at(v.d.now), o.In, nil))
		return
	}
	trial := &Trial{In: o.In, by: p.shown.last.by, Job: s.Job}
	if !v.mayRerun(p, trial.by) {
		v.absorb(v.core.Reran(at(v.d.now), o.In, nil))
		return
	}
	for _, g := range s.Children {
		if _, is := verify.Find(o.Given, g.Node); is {
			trial.Given = append(trial.Given, g)
		}
	}
	v.counts.Reran++
	v.cfg.Rerun(trial)
}

// mayRerun says whether there is time left to run nodes of a peer's jobs again: two minutes, and for each job what that
// may take at most, by the time for which the peer had it. After that its jobs are computed here whole, as if it showed
// nothing: else one that commits to a million nodes could have a share of them run again, each for as long as one may
// take, and nobody else's meanwhile.
func (v *proving) mayRerun(p *proof, by verify.PeerID) bool {
	if v.cfg.Config.Spot == 0 {
		return true // one of those who differ is out then
	}
	if _, known := v.left[by]; !known {
		v.left[by] = 2 * v.cfg.Config.Wait
	}
	if p.audited != by {
		p.audited = by
		v.left[by] += time.Duration(float64(p.said[by].had) * (1 + 2*v.cfg.Config.Spot*mostCores*mostSlower))
	}
	return v.left[by] > 0
}

// Of what a job took about twice the share of spot checks is run again: on one core, where many may have computed it,
// and on a machine that may be slower, and busy.
const (
	mostCores  = 64
	mostSlower = 4
)

// reran takes in what came of that.
func (v *proving) reran(t *Trial, r *Tried) {
	v.counts.Took += r.Took
	v.left[t.by] -= r.Took
	if p := v.open[t.In]; p != nil && r.OK && v.cfg.Config.Spot > 0 {
		p.checked += r.Took
	}
	var again *verify.Opening
	if r.OK {
		again = &verify.Opening{Node: NodeOf(t.Job.Path, t.Job.Identity), Outcome: v.d.cfg.Notary.Digest(r.Outcome)}
		for i, g := range t.Given {
			if i < len(r.Used) && r.Used[i] {
				again.Children = append(again.Children, g.Claim)
			}
		}
	}
	v.absorb(v.core.Reran(at(v.d.now), t.In, again))
}

// differ says whether not all have said the same.
func (p *proof) differ() bool {
	var first *saying
	for _, w := range p.said {
		if first == nil {
			first = &w
		} else if !bytes.Equal(w.essence, first.essence) {
			return true
		}
	}
	return false
}

// evidence is what shows a lie: the node that is wrong, as its author has shown it, or the whole job.
func (v *proving) evidence(p *proof, b *verify.Blame) Caught {
	c := Caught{Peer: b.Peer, Claimed: b.Proof.Wrong.Outcome}
	s := p.shown.of[ticket{b.Peer, b.Proof.Wrong.Claim().Tree}]
	if s == nil {
		c.Job, c.Said = p.job, p.said[b.Peer].Word
		if v.d.shared.makeWhole(&c.Job); p.own != nil {
			c.Truth = p.own.Word
		}
		return c
	}
	c.Job, c.Said.Voucher, c.Alone = s.Job, s.Voucher, true
	for _, g := range s.Children {
		if _, is := verify.Find(b.Proof.Given, g.Node); !is {
			g.Bytes = nil
		}
		c.Children = append(c.Children, g)
	}
	return c
}
