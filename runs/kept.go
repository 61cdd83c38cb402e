package runs

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// kept are the answers that this peer keeps for the owners of runs: of a run at most two, which differ. What this
// peer has computed itself is never refused or given up for what others bring.
type kept struct {
	*table
	of map[RunID]*keptRun
	// outdated are writes under way of answers that were dropped: what is said of them is not of the next one there.
	outdated map[placeOf]int
}

// placeOf is where an answer is written.
type placeOf struct {
	run  RunID
	file File
}

type keptRun struct {
	owner   PeerID
	answers []keptAnswer
	again   repetition // of this peer's own claim
	asked   repetition // of the question whether the owner has it: its tombstone may have been lost
}

type keptAnswer struct {
	Claim
	file    File
	size    int64
	since   time.Time // when it came
	found   time.Time // zero, or when it was found that came in an earlier life: since is by the clock of then
	writing bool      // it is on its way to the disk,
	written bool      // and there
	ticket  Ticket    // of who is to be told when it is; 0: nobody
}

// keeping is the giving of an answer to more peers.
type keeping struct {
	answer *Answer
	list   []PeerID // who may be asked yet
	asked  int      // have not answered yet
	kept   int      // keep it
}

// refuses says why an answer that somebody brings is not kept; "" if it may be.
func (k *kept) refuses(run RunID, author PeerID, hash Hash, size int64) string {
	r := k.runs[run]
	if r == nil || r.mine {
		return "this peer takes no part in the run"
	}
	if r.m.Verify != "" {
		return "nobody but its owner comes to its answer"
	}
	if !k.credible(r, author, "") {
		return "its author is no member"
	}
	if r.state == StateCancelled || k.graves.over(run, r.m.Owner) {
		return "the run is over"
	}
	if r.m.Sealed == nil { // an owner that has forgotten the run could do nothing with the answer
		return "the run has ended here, and its manifest is gone"
	}
	if old := k.of[run]; old != nil {
		for _, a := range old.answers {
			if a.Hash == hash {
				return "it is kept already"
			}
		}
		if len(old.answers) >= 2 {
			return "two others are kept"
		}
	} else {
		owners := 0
		for _, other := range k.of {
			if other.owner == r.m.Owner {
				owners++
			}
		}
		if len(k.of) >= k.cfg.Held || owners >= k.cfg.HeldOf {
			return fmt.Sprintf("answers to %d runs are kept, %d of them of its owner; at most %d and %d are", len(k.of),
				owners, k.cfg.Held, k.cfg.HeldOf)
		}
	}
	if k.size()+size+int64(len(r.m.Sealed)) > k.cfg.HeldBytes {
		return fmt.Sprintf("at most %d bytes of answers are kept for others", k.cfg.HeldBytes)
	}
	return ""
}

func (k *kept) size() (n int64) {
	for _, r := range k.of {
		n += r.size()
	}
	return n
}

func (r *keptRun) size() (n int64) {
	for _, a := range r.answers {
		n += a.size
	}
	return n
}

// bring keeps what somebody brings; the ticket is answered when it is on the disk.
func (k *kept) bring(t Ticket, c *Claim, out Outcome, elapsed int64, peers int) {
	if why := k.refuses(c.Run, c.Author, c.Hash, int64(len(out.Bytes))); why != "" {
		k.order(Reply{t, c.Run, &Refusal{Refuse, why}})
		return
	}
	k.write(k.runs[c.Run], c, out, elapsed, peers, t)
}

// write puts an answer where there is room.
func (k *kept) write(r *run, c *Claim, out Outcome, elapsed int64, peers int, t Ticket) *Answer {
	n := k.of[c.Run]
	if n == nil {
		n = &keptRun{owner: r.m.Owner}
		k.of[c.Run] = n
	}
	file := HeldFile
	if slices.ContainsFunc(n.answers, func(a keptAnswer) bool { return a.file == HeldFile }) {
		file = RivalFile
		k.warn(c.Run, "there are two answers: by %s and %s", n.answers[0].Author, c.Author)
	}
	a := &Answer{Manifest: r.m.Sealed, Owner: r.m.Owner, Outcome: out, Ended: c.At, Elapsed: elapsed, Claim: c,
		Peers: peers}
	n.answers = append(n.answers, keptAnswer{Claim: *c, file: file, size: int64(len(out.Bytes) + len(a.Manifest)),
		since: k.now, writing: true, ticket: t})
	k.order(WriteAnswer{file, c.Run, a})
	return a
}

// finished is the end of the root job of another peer's run here.
func (k *kept) finished(r *run, out Outcome) {
	if r.state.Ended() || r.keeping != nil {
		return
	}
	c := Claim{Run: r.m.Run, Author: k.self, Hash: out.Hash, At: k.now.Unix(), Until: r.m.Expires,
		Of: out.Of}
	if c.Sealed = k.signer.Claim(&c); c.Sealed == nil {
		k.warn(r.m.Run, "the answer cannot be signed")
		return
	}
	elapsed := k.now.Unix() - r.m.Created
	a := &Answer{Manifest: r.m.Sealed, Owner: r.m.Owner, Outcome: out, Ended: c.At,
		Elapsed: elapsed * int64(time.Second),
		Claim:   &c}
	r.keeping = &keeping{answer: a}
	n := k.of[r.m.Run]
	if n != nil && slices.ContainsFunc(n.answers, func(a keptAnswer) bool { return a.Hash == c.Hash }) {
		k.spread(r) // the same is here already
		return
	}
	if n != nil && len(n.answers) >= 2 { // the second of the others' gives way
		k.drop(r.m.Run, 1)
		if n.answers[0].file == RivalFile {
			k.order(Remove{HeldFile, r.m.Run})
		} else {
			k.order(Remove{RivalFile, r.m.Run})
		}
	}
	k.makeRoom(r.m, int64(len(out.Bytes)+len(a.Manifest)))
	r.keeping.answer = k.write(r, &c, out, a.Elapsed, 0, 0)
}

// makeRoom gives up what would be one too many, or too large, beside an answer to a run that was computed here: the
// oldest of the same owner, or of whoever has the most. One that is still being given to others stays.
func (k *kept) makeRoom(m *Manifest, size int64) {
	has, others := map[PeerID]int64{}, 0 // answers to other runs or, if these are too large, bytes
	large := k.size()+size > k.cfg.HeldBytes
	for id, n := range k.of {
		if id == m.Run {
			continue
		}
		others++
		if has[n.owner]++; large {
			has[n.owner] += n.size() - 1
		}
	}
	full := !large && has[m.Owner] >= int64(k.cfg.HeldOf)
	if !full && !large && others < k.cfg.Held {
		return
	}
	var gone RunID
	var oldest *keptRun
	for _, id := range k.ids() {
		n, r := k.of[id], k.runs[id]
		if full && n.owner != m.Owner || r != nil && r.keeping != nil {
			continue
		}
		if oldest == nil || has[n.owner] > has[oldest.owner] ||
			has[n.owner] == has[oldest.owner] && n.answers[0].since.Before(oldest.answers[0].since) {
			gone, oldest = id, n
		}
	}
	for oldest != nil && k.of[gone] != nil {
		k.order(Remove{oldest.answers[0].file, gone})
		k.drop(gone, 0)
	}
	if large && oldest != nil {
		k.makeRoom(m, size)
	}
}

// wrote goes on when an answer is on the disk, or could not be put there.
func (k *kept) wrote(id RunID, file File, trouble string) {
	n, i := k.of[id], -1
	if n != nil {
		i = slices.IndexFunc(n.answers, func(a keptAnswer) bool { return a.file == file })
	}
	w := placeOf{id, file}
	outdated := k.outdated[w] > 0
	if outdated {
		if k.outdated[w]--; k.outdated[w] == 0 {
			delete(k.outdated, w)
		}
	}
	if i < 0 {
		k.order(Remove{file, id}) // released in the meantime
		return
	}
	if outdated {
		return
	}
	a := &n.answers[i]
	a.writing = false
	ticket, mine := a.ticket, a.Author == k.self
	a.ticket = 0
	if a.written = trouble == ""; !a.written {
		k.warn(id, "an answer for another peer could not be kept: %s", trouble)
		k.drop(id, i)
		k.order(Remove{file, id}) // it may be there all the same
	}
	r := k.runs[id]
	if ticket != 0 {
		var no *Refusal
		if trouble != "" {
			no = &Refusal{Unavailable, trouble}
		}
		k.order(Reply{ticket, id, no})
	}
	if mine && r != nil && r.keeping != nil {
		if r.stored = trouble; trouble != "" {
			out := r.keeping.answer.Outcome
			r.unsaved = &out
		}
		k.spread(r)
	}
}

// drop removes one answer from the notes.
func (k *kept) drop(id RunID, i int) {
	n := k.of[id]
	if t := n.answers[i].ticket; t != 0 {
		k.order(Reply{t, id, &Refusal{Refuse, "its owner was heard in the meantime, or another one came"}})
	}
	if a := &n.answers[i]; a.writing {
		if k.outdated == nil {
			k.outdated = map[placeOf]int{}
		}
		k.outdated[placeOf{id, a.file}]++
	}
	if n.answers = slices.Delete(n.answers, i, i+1); len(n.answers) == 0 {
		delete(k.of, id)
	}
}

// spread gives an answer to more peers that take part, deputies first, and tells everybody when enough keep it.
func (k *kept) spread(r *run) {
	s := r.keeping
	s.list = k.confidants(r.m)
	s.list = s.list[:min(len(s.list), k.cfg.Keepers)]
	k.askKeepers(r)
}

func (k *kept) askKeepers(r *run) {
	s := r.keeping
	for len(s.list) > 0 && s.kept+s.asked < k.cfg.Copies {
		k.order(KeepAt{r.m.Run, s.list[0], s.answer})
		s.list = s.list[1:]
		s.asked++
	}
	if s.asked > 0 {
		return
	}
	c := *s.answer.Claim
	r.keeping = nil
	if r.state.Ended() {
		return // its owner was heard in the meantime; what it has not got, it is told of
	}
	k.order(TellClaim{c})
	if n := k.of[r.m.Run]; n != nil {
		n.again.begin(k.now)
	}
	r.accept(c.Hash, &c)
	also := fmt.Sprintf("as %d others do", s.kept)
	switch s.kept {
	case 0:
		also = "and nobody else does"
	case 1:
		also = "as one other does"
	}
	k.end(r, StateDone, "this peer had the root job at the end, and keeps the answer for its owner, "+also, true)
}

// keptAt is the answer of a peer that was asked to keep one.
func (k *kept) keptAt(r *run, ok bool) {
	if r.keeping == nil {
		return
	}
	r.keeping.asked--
	if ok {
		r.keeping.kept++
	}
	k.askKeepers(r)
}

// release gives up what was kept for an owner who has it, or does not want it. One who has another answer has yet to
// hear of this one.
func (k *kept) release(s *Tombstone) {
	n := k.of[s.Run]
	if n == nil || n.owner != s.Author {
		return
	}
	for i := len(n.answers) - 1; i >= 0; i-- {
		a := n.answers[i]
		if s.Reason == Cancelled || s.Reason == Finished && s.Hash != nil && *s.Hash == a.Hash {
			k.drop(s.Run, i)
			k.order(Remove{a.file, s.Run})
		}
	}
}

// claims lists the claims of the answers that are kept for a peer.
func (k *kept) claims(owner PeerID) (list []Claim) {
	for _, id := range k.ids() {
		for _, a := range k.of[id].answers {
			if k.of[id].owner == owner && a.written && len(list) < k.cfg.Told {
				list = append(list, a.Claim)
			}
		}
	}
	return list
}

// claim is that of an answer that is kept of a run; nil if none is.
func (k *kept) claim(id RunID) *Claim {
	if n := k.of[id]; n != nil && n.answers[0].written {
		return &n.answers[0].Claim
	}
	return nil
}

// owned says whether an answer is kept of a run of that owner.
func (k *kept) owned(id RunID, owner PeerID) bool {
	return k.claim(id) != nil && k.of[id].owner == owner
}

func (k *kept) ids() []RunID {
	return slices.SortedFunc(maps.Keys(k.of), func(a, b RunID) int { return cmp.Or(bytes.Compare(a[:], b[:])) })
}

// old says whether an answer has been kept for long enough.
func (k *kept) old(a *keptAnswer) bool {
	if a.found.IsZero() {
		return k.now.Sub(a.since) > k.cfg.HeldFor
	}
	return k.now.Sub(a.found) > k.cfg.HeldFor || k.day.Date.Sub(a.since) > k.cfg.HeldFor
}

// tick tells again what this peer has come to and keeps, for the owner may not have heard, asks the owner
// whether it has it, and removes what has been kept for long enough.
func (k *kept) tick() {
	for _, id := range k.ids() {
		if n := k.of[id]; k.view.Alive(n.owner) && n.asked.due(k.now, k.cfg.ClaimEvery) {
			k.order(Ask{id, n.owner})
		}
		for _, a := range k.of[id].answers {
			if r := k.runs[id]; a.Author == k.self && a.written && (r == nil || r.keeping == nil) &&
				k.of[id].again.due(k.now, k.cfg.ClaimEvery) {
				k.order(TellClaim{a.Claim})
			}
		}
		for i := len(k.of[id].answers) - 1; i >= 0; i-- {
			if a := k.of[id].answers[i]; a.written && k.old(&a) {
				k.order(Remove{a.file, id})
				if k.drop(id, i); k.of[id] == nil {
					break
				}
			}
		}
	}
}
