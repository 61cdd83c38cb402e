package driver

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// A Notary vouches for what was computed here. It must not block.
type Notary interface {
	// Vouch says who has computed an outcome, and from which of others it was made. Whoever lets it out of this
	// peer signs for that: until then nobody else has to believe it.
	Vouch(run job.RunID, o *verify.Opening) (voucher []byte)
	// Digest is the hash under which an outcome is vouched for: the same for all that are equal, wherever they come
	// from.
	Digest(outcome []byte) verify.Hash
	// Claim is what a voucher, which was checked where it came in, says of a node: what is not there stays zero. Of
	// are those on whose word that rests, its author among them; this peer is not.
	Claim(n verify.Node, outcome verify.Hash, voucher []byte) (c verify.Claim, of verify.Authors)
	// Out says whether one of these was put out: what was made of their outcomes goes nowhere.
	Out(of *verify.Authors) bool
}

// provenance says of each segment, and of each long job in it, from which outcomes it was made that did not come
// from the same piece of work: those of stolen jobs, and of long jobs in place. Each belongs to what was computed
// next above it; so the outcomes of a run are a tree, of which each voucher commits to all that is below, and names
// whose they are. That of the root stays here: it is for this peer's disk, and to others there is a statement of the
// answer.
type provenance struct {
	notary Notary
	run    job.RunID
	commit func(c *verify.Claim, m *Made)
	parts  map[steal.SegmentID][]part         // of all that run, in the order in which they came
	beyond map[steal.SegmentID]verify.Authors // of those for which there was no room among the parts
	jobs   map[steal.SegmentID]steal.Job      // of parts, if somebody may want to see how it was made
	loose  map[steal.SegmentID]time.Duration  // that went into what is no part of its own
	answer verify.Authors                     // of the root's outcome, once it is there
}

// Made is what stands behind a voucher: whoever has it can run the job again, and nothing below it that is a child.
type Made struct {
	Job      steal.Job
	Children []Given // in the order of their paths; none is in another one
}

// Given is the outcome of a job below another one.
type Given struct {
	verify.Claim
	Bytes []byte // the outcome; nil if only the claim is known
}

// MaxMade bounds what stands behind one voucher, in bytes of arguments, outcomes and paths, and maxHeld the outcomes
// that are held for that of one segment.
const (
	MaxMade = 512 << 10
	maxHeld = 16 * MaxMade
)

// opening is what is committed to by a claim, as far as that says it.
func (m *Made) opening(c *verify.Claim) *verify.Opening {
	o := &verify.Opening{Node: c.Node, Outcome: c.Outcome, Time: c.Time}
	for i := range m.Children {
		o.Children = append(o.Children, m.Children[i].Claim)
	}
	return o
}

// Size is what it takes, with the job's path in its claim.
func (m *Made) Size() int {
	const each = 128 // of hashes and numbers
	n := each + len(m.Job.Function) + len(m.Job.Arg) + 8*len(m.Job.Path)
	for i := range m.Children {
		n += each + len(m.Children[i].Node.Path) + len(m.Children[i].Bytes)
	}
	return n
}

// fits says whether it can be shown.
func (m *Made) fits() bool {
	return m.Size() <= MaxMade && !m.Names() &&
		!slices.ContainsFunc(m.Children, func(g Given) bool { return len(g.Node.Path) > 4*steal.MaxPath })
}

// Names says whether a child's outcome names what whoever runs the job again would not have.
func (m *Made) Names() bool {
	return slices.ContainsFunc(m.Children, func(g Given) bool {
		names, _ := port.NamedBy(g.Bytes)
		return len(names) > 0
	})
}

// part is an outcome below a segment that is in nothing else below it.
type part struct {
	path    job.Path
	claim   verify.Claim
	of      verify.Authors
	outcome []byte // nil: it cannot be shown
}

func newProvenance(cfg *Config) *provenance {
	if cfg.Notary == nil {
		return nil
	}
	return &provenance{notary: cfg.Notary, run: cfg.Core.Run(), commit: cfg.Commit,
		parts: map[steal.SegmentID][]part{}, beyond: map[steal.SegmentID]verify.Authors{},
		jobs: map[steal.SegmentID]steal.Job{}, loose: map[steal.SegmentID]time.Duration{}}
}

// begins notes that a segment runs, and which job it is.
func (v *provenance) begins(s steal.SegmentID, j *steal.Job) {
	if v == nil {
		return
	}
	v.parts[s] = nil
	if v.commit != nil {
		v.jobs[s] = *j
	}
}

// NodeOf names a job as package verify does.
func NodeOf(path job.Path, id job.Identity) verify.Node {
	b := make([]byte, 0, 4*len(path))
	for _, c := range path {
		b = binary.BigEndian.AppendUint32(b, c)
	}
	return verify.Node{Path: string(b), Identity: id}
}

// PathOf is the path in a node's name.
func PathOf(n verify.Node) (path job.Path) {
	for b := []byte(n.Path); len(b) >= 4; b = b[4:] {
		path = append(path, binary.BigEndian.Uint32(b))
	}
	return path
}

// took notes that an outcome was used here in the place of a job that a segment has spawned.
func (v *provenance) took(g *outside) {
	if v != nil {
		claim, of := v.notary.Claim(NodeOf(g.path, g.id), v.notary.Digest(g.outcome), g.voucher)
		v.add(g.segment, part{g.path, claim, of, g.outcome})
	}
}

// add enters a part of a segment, if that runs. One that has more than can be opened says nothing of how it was made:
// what it is vouched for is the outcome alone, and whoever is to open it cannot. Whose it was made of is said all the
// same, of all in it that comes later.
func (v *provenance) add(s steal.SegmentID, p part) {
	list, runs := v.parts[s]
	switch {
	case !runs:
	case len(list) <= verify.MaxChildren:
		if v.commit == nil || held(list)+len(p.outcome) > maxHeld {
			p.outcome = nil
		}
		v.parts[s] = append(list, p)
	case !p.of.None():
		all := v.beyond[s]
		all.Join(&p.of)
		v.beyond[s] = all
	}
}

// held is how many bytes of outcomes are held.
func held(list []part) (n int) {
	for i := range list {
		n += len(list[i].outcome)
	}
	return n
}

// kept vouches for a long job that ran in place, a part of the segment that it is in. Where others may want to run it
// again one that cannot be is none: it belongs to what is above it. Good says whether it is to be kept.
func (v *provenance) kept(k *port.KeptJob) (voucher []byte, good bool) {
	if v == nil {
		return nil, true
	}
	p, s := &k.Partial, k.Segment
	isBelow := func(x part) bool { return p.Path.Above(x.path) }
	var below []part
	for _, x := range v.parts[s] {
		if isBelow(x) {
			below = append(below, x)
		}
	}
	x, alone := v.vouch(s, identity{p.Path, p.Identity}, p.Outcome, below, &k.Job, k.Own, &voucher)
	if _, runs := v.parts[s]; runs && (v.commit == nil || !alone) {
		v.parts[s] = slices.DeleteFunc(v.parts[s], isBelow)
		v.add(s, x)
	} else if runs {
		v.loose[s] += k.Own
	}
	return voucher, x.of.None() || !v.notary.Out(&x.of)
}

// vouch vouches for an outcome that was made of others in a segment, and took so long besides. Where somebody may want
// to see how, and would not be able to run the job again with these, it is vouched for alone. Nobody else is told how
// long it took.
func (v *provenance) vouch(s steal.SegmentID, j identity, outcome []byte, parts []part, whole *steal.Job,
	own time.Duration, voucher *[]byte) (x part, alone bool) {
	m := &Made{Job: steal.Job{Path: j.path, Identity: j.id}}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.claim.Node.Path, b.claim.Node.Path) })
	of := v.beyond[s]
	for i := range parts {
		m.Children = append(m.Children, Given{parts[i].claim, parts[i].outcome})
		of.Join(&parts[i].of)
	}
	o := m.opening(&verify.Claim{Node: NodeOf(j.path, j.id), Outcome: v.notary.Digest(outcome)})
	o.Of = of
	if v.commit != nil {
		o.Time = uint64(max(own, 0) / time.Microsecond)
		for i := range o.Children {
			o.Time += min(o.Children[i].Time, verify.MaxTime)
		}
		o.Time = min(o.Time, verify.MaxTime)
	}
	c := o.Claim()
	if v.commit != nil {
		if whole != nil {
			m.Job = *whole
		}
		if alone = whole == nil || len(whole.Names) > 0 || !m.fits() || !o.Opens(&c); alone {
			o.Children = nil
			c = o.Claim()
		} else {
			v.commit(&c, m)
		}
	}
	*voucher = v.notary.Vouch(v.run, o)
	return part{j.path, c, of, outcome}, alone
}

// finished vouches for a segment. Good says whether its outcome is to leave this peer: what was made of those of
// whoever was put out meanwhile is not, but for the answer, which says so.
func (v *provenance) finished(s steal.SegmentID, j identity, outcome []byte,
	own time.Duration) (voucher []byte, good bool) {
	if v == nil {
		return nil, true
	}
	if len(j.path) == 0 {
		o := &verify.Opening{Node: NodeOf(nil, j.id), Outcome: v.notary.Digest(outcome), Of: v.beyond[s]}
		for i := range v.parts[s] {
			o.Of.Join(&v.parts[s][i].of)
		}
		v.answer = o.Of
		return v.notary.Vouch(v.run, o), true
	}
	var whole *steal.Job
	if x, ok := v.jobs[s]; ok {
		whole = &x
	}
	x, _ := v.vouch(s, j, outcome, v.parts[s], whole, own+v.loose[s], &voucher)
	return voucher, x.of.None() || !v.notary.Out(&x.of)
}

// forget forgets what a segment was made of: it has ended.
func (v *provenance) forget(s steal.SegmentID) {
	if v != nil {
		delete(v.parts, s)
		delete(v.beyond, s)
		delete(v.jobs, s)
		delete(v.loose, s)
	}
}
