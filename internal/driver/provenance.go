package driver

import (
	"encoding/binary"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// A Notary vouches for what was computed here. It must not block.
type Notary interface {
	// Vouch says who has computed an outcome, and from which of others it was made. Whoever lets it out of this peer
	// signs for that: until then nobody else has to believe it.
	Vouch(run job.RunID, o *verify.Opening) (voucher []byte)
	// Digest is the hash under which an outcome is vouched for: the same for all that are equal, wherever they come
	// from.
	Digest(outcome []byte) verify.Hash
	// Claim is what a voucher, which was checked where it came in, says of a node: what is not there stays zero.
	Claim(n verify.Node, outcome verify.Hash, voucher []byte) verify.Claim
}

// provenance says of each segment, and of each long job in it, from which outcomes it was made that did not come from
// the same piece of work: those of stolen jobs, and of long jobs in place. Each belongs to what was computed next above
// it; so the outcomes of a run are a tree, of which each voucher commits to all that is below.
//
// Nothing here speaks for the root: its outcome is the answer, for which there is a statement.
type provenance struct {
	notary Notary
	run    job.RunID
	parts  map[steal.SegmentID][]part // of those that run, in the order in which they came
}

// part is an outcome below a segment that is in nothing else below it.
type part struct {
	path  job.Path
	claim verify.Claim
}

func newProvenance(n Notary, run job.RunID) *provenance {
	if n == nil {
		return nil
	}
	return &provenance{notary: n, run: run, parts: map[steal.SegmentID][]part{}}
}

// NodeOf names a job as package verify does.
func NodeOf(path job.Path, id job.Identity) verify.Node {
	b := make([]byte, 0, 4*len(path))
	for _, c := range path {
		b = binary.BigEndian.AppendUint32(b, c)
	}
	return verify.Node{Path: string(b), Identity: id}
}

// took notes that an outcome was used here in the place of a job that a segment has spawned.
func (v *provenance) took(of map[steal.SegmentID]identity, j identity, outcome, voucher []byte) {
	if v == nil {
		return
	}
	if s := above(of, j.path); s != 0 {
		claim := v.notary.Claim(NodeOf(j.path, j.id), v.notary.Digest(outcome), voucher)
		v.add(s, part{j.path, claim})
	}
}

// add enters a part. A segment that has more than can be opened says nothing of how it was made: what it is vouched for
// is the outcome alone, and whoever is to open it cannot.
func (v *provenance) add(s steal.SegmentID, p part) {
	if list := v.parts[s]; len(list) <= verify.MaxChildren {
		v.parts[s] = append(list, p)
	}
}

// kept vouches for long jobs that ran in place, each a part of the segment that it is in.
func (v *provenance) kept(of map[steal.SegmentID]identity, parts []steal.Partial) {
	if v == nil {
		return
	}
	for i := range parts {
		p := &parts[i]
		s := above(of, p.Path)
		var below, beside []part
		for _, x := range v.parts[s] {
			if p.Path.Above(x.path) {
				below = append(below, x)
			} else {
				beside = append(beside, x)
			}
		}
		o := v.opening(identity{p.Path, p.Identity}, p.Outcome, below)
		p.Voucher = v.notary.Vouch(v.run, o)
		if s != 0 {
			v.parts[s] = beside
			v.add(s, part{p.Path, o.Claim()})
		}
	}
}

// finished vouches for a segment.
func (v *provenance) finished(s steal.SegmentID, j identity, e *port.Event) (voucher []byte) {
	if v == nil || len(j.path) == 0 {
		return nil
	}
	return v.notary.Vouch(v.run, v.opening(j, e.Outcome, v.parts[s]))
}

// forget forgets what a segment was made of: it has ended.
func (v *provenance) forget(s steal.SegmentID) {
	if v != nil {
		delete(v.parts, s)
	}
}

func (v *provenance) opening(j identity, outcome []byte, parts []part) *verify.Opening {
	o := &verify.Opening{Node: NodeOf(j.path, j.id), Outcome: v.notary.Digest(outcome)}
	for _, p := range parts {
		o.Children = append(o.Children, p.claim)
	}
	return o
}

// above finds the segment that a job belongs to: the one with the longest path above it; 0 if there is none.
func above(of map[steal.SegmentID]identity, path job.Path) (best steal.SegmentID) {
	for s, j := range of {
		if !j.path.Above(path) {
			continue
		}
		if b := of[best]; best == 0 || len(j.path) > len(b.path) || len(j.path) == len(b.path) && s < best {
			best = s
		}
	}
	return best
}
