package driver

import (
	"cmp"
	"slices"
	"time"

	"github.com/satin-peer/satin/verify"
)

// Earned is what a peer has given to a run, as far as it was verified: nothing of it is the peer's own word. Of a job
// to which others have come too it is the least time for which any of them had it, by this machine's clock, as BOINC
// grants the least that is claimed (D. P. Anderson, BOINC: A System for Public-Resource Computing and Storage, 2004):
// so nobody gains by being slow alone. Of a job of which nodes were run again it is what that took here. What is
// believed for its author's record, or proves itself, is nothing: its time is nobody's but the author's to say.
type Earned struct {
	Peer    verify.PeerID
	Time    time.Duration
	Results uint64
}

// maxEarners bounds the peers that are counted.
const maxEarners = 4096

// earn counts an outcome that is believed for those who have come to it. The list is made anew: whoever reads it does
// so at any time.
func (v *proving) earn(p *proof, a *verify.Accept) {
	least := p.checked
	if a.Compared {
		least = time.Duration(1<<63 - 1)
		if p.own != nil && slices.Contains(a.By, "") {
			least = p.own.had
		}
		for _, id := range a.By {
			if w, ok := p.said[id]; ok {
				least = min(least, w.had)
			}
		}
	}
	if least <= 0 {
		return
	}
	list := slices.Clone(v.counts.Earned)
	for _, id := range a.By {
		w, ok := p.said[id]
		i, known := find(list, id)
		switch {
		case !ok || !known && len(list) >= maxEarners:
			continue
		case !known:
			list = slices.Insert(list, i, Earned{Peer: id})
		}
		list[i].Time += min(least, w.had)
		list[i].Results++
	}
	v.counts.Earned = list
}

// AllEarned adds up two lists, each by peer.
func AllEarned(a, b []Earned) []Earned {
	all := slices.Clone(a)
	for _, e := range b {
		i, known := find(all, e.Peer)
		if !known {
			all = slices.Insert(all, i, Earned{Peer: e.Peer})
		}
		all[i].Time += e.Time
		all[i].Results += e.Results
	}
	return all
}

func find(list []Earned, id verify.PeerID) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(e Earned, id verify.PeerID) int { return cmp.Compare(e.Peer, id) })
}
