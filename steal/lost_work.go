package steal

import (
	"slices"

	"github.com/satin-peer/satin/job"
)

// lostWork is what this peer has and knows of work whose owner is gone: outcomes that are kept, what others told,
// what is to be told to them, and what the engine was shown of all this.
type lostWork struct {
	*shared
	segments   *segments
	leases     *leases
	store      store
	tuples     tupleTable
	telling    teller
	shown      snapshots
	reconsider bool                      // something is known that was not, or a job is restarted
	theirs     func(voucher []byte) bool // see Outcasts; nil: nobody is out
}

func newLostWork(s *shared, ss *segments, ls *leases) *lostWork {
	return &lostWork{shared: s, segments: ss, leases: ls, store: newStore(s, s.cfg.MaxKept, s.cfg.MaxKeptBytes),
		tuples: newTupleTable(s.cfg.MaxTuples, s.purse)}
}

// keep puts an outcome into the store; nil if it is not kept, or was before.
func (lw *lostWork) keep(p Partial, class keptClass, owner PeerID) *kept {
	if !lw.salvaging() || len(p.Path) == 0 || lw.theirs != nil && lw.theirs(p.Voucher) {
		return nil
	}
	if owner == lw.self.Peer {
		owner = ""
	}
	k, isNew := lw.store.put(p, class, owner)
	if !isNew {
		return nil
	}
	lw.stats.PartialsKept++
	if class.computedHere() {
		lw.stats.TuplesEvicted += lw.tuples.dropBelow(p.Path, func(*tupleEntry) bool { return true })
	}
	return k
}

func (lw *lostWork) restore(parts []Partial) {
	for _, p := range parts {
		if k := lw.keep(p, restored, ""); k != nil {
			lw.stats.PartialsRestored++
			lw.announceOne(k)
			lw.reconsider = true
		}
	}
}

// keepCopies keeps what another peer has too, as far as it is not here already.
func (lw *lostWork) keepCopies(of PeerID, parts []Partial) {
	for i := range parts {
		if lw.store.find(parts[i].Path, parts[i].Identity) != nil {
			continue
		}
		if k := lw.keep(parts[i], handed, of); k != nil {
			k.copied = true
		}
	}
}

// keepOrphan keeps the outcome of a job that nobody has had, and tells of it.
func (lw *lostWork) keepOrphan(s *segment) {
	k := lw.keep(s.part(), own, "")
	if k != nil {
		lw.announce(k.Path, k.Identity)
	}
}

// learn takes in who has a job.
func (lw *lostWork) learn(u Tuple) {
	lw.stats.TuplesHeard++
	if u.Holder.Peer == lw.self.Peer || len(u.Path) == 0 {
		return // the root is for masters to have
	}
	if e := lw.tuples.put(u); e != nil {
		e.since = lw.now - u.Age
		lw.reconsider = true
	}
}

// learnFromOther takes in what a peer says of another: made-up holders could drive true ones out of the table.
func (lw *lostWork) learnFromOther(u Tuple) {
	if lw.isMember(u.Holder.Peer) && len(lw.tuples.find(u.Path, u.Identity)) < maxHolders {
		lw.learn(u)
	}
}

// known says whether somebody has what an orphan is to find out.
func (lw *lostWork) known(s *segment) bool {
	if lw.store.find(s.job.Path, s.job.Identity) != nil {
		return true
	}
	has := func(e *tupleEntry) bool { return e.Done && lw.isMember(e.Holder.Peer) }
	return slices.ContainsFunc(lw.tuples.find(s.job.Path, s.job.Identity), has) ||
		lw.store.index.above(s.job.Path, func(k *kept) bool { return k.class != handed }) ||
		lw.tuples.index.above(s.job.Path, has)
}

// adoptable finds the job among those that run here for nobody; nil if it is not there, or if the engine has
// given it away.
func (lw *lostWork) adoptable(p job.Path, id job.Identity) (found *segment) {
	if found = lw.segments.oldest(p, id, (*segment).adoptable); found != nil {
		for _, l := range lw.leases.refs {
			if l.ofSegment && l.job.Identity == id && slices.Equal(l.job.Path, p) {
				return nil
			}
		}
	}
	return found
}

// orphansUnder lists tuples at or below a restarted job's path, for the thief that gets it: at most so many,
// and so many bytes.
func (lw *lostWork) orphansUnder(p job.Path, most int, bytes *int) (list []Tuple) {
	add := func(u Tuple) bool {
		if size := u.Size(); len(list) < most && *bytes >= size {
			*bytes -= size
			list = append(list, u)
			return true
		}
		return false
	}
	for _, span := range [...][]*kept{lw.store.index.at(p), lw.store.index.below(p)} {
		for _, k := range span {
			if !add(lw.has(k)) {
				return list
			}
		}
	}
	for _, s := range lw.segments.inOrder() {
		if s.adoptable() && atOrAbove(p, s.job.Path) &&
			!add(lw.worksOn(s)) {
			return list
		}
	}
	for _, span := range [...][]*tupleEntry{lw.tuples.index.at(p), lw.tuples.index.below(p)} {
		for _, e := range span {
			if !add(e.Tuple) {
				return list
			}
		}
	}
	return list
}
