package host

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// A Roll says who is out of the swarm: by the list of this peer, or by the statements of those who may say so to all. A
// Host has one.
type Roll struct {
	host   *Host
	banned *revocations
	lines  lines
}

// Roll says who is out.
func (h *Host) Roll() *Roll { return &h.roll }

// out says whether a peer is, of whom nothing is known but its ID: by this peer's list, or by the founder, unless it
// is on the list of those who are let in.
func (r *Roll) out(id peer.ID) bool {
	return r.host.revoked.has(id) || id != r.host.id && r.banned.byFounder(id) && !r.host.allowed.has(id)
}

// outBelow is out for the subject of a certificate, of which those above it are known.
func (r *Roll) outBelow(id peer.ID, above []certificate) bool {
	return r.out(id) || id != r.host.id && r.banned.out(id, above) && !r.host.allowed.has(id)
}

// Outcast says whether a peer was put out, or is a member only by one that was, as far as this peer has seen its
// certificates.
func (r *Roll) Outcast(id peer.ID) bool {
	if r.out(id) {
		return true
	}
	chain := r.lines.of(id) // their signatures were checked when they came
	for i := range chain {
		if r.outBelow(peer.ID(chain[i].Subject), chain[:i]) {
			return !r.host.allowed.has(id)
		}
	}
	return false
}

// Shown is a proof that a peer is or was a member and was not put out: the one that came with what it has signed, or
// what it has shown here. The error is why there is none, ErrOut if it was put out. None is needed of this peer itself,
// in an open swarm, and of whoever is let in by its ID.
func (r *Roll) Shown(id peer.ID, proof []byte) ([]byte, error) {
	switch {
	case r.out(id):
		return nil, errOut(id)
	case id == r.host.id, r.host.cfg.Trust == TrustOpen, r.host.allowed.has(id):
		return nil, nil
	}
	chain, err := decodeProof(proof)
	if err == nil {
		err = r.holds(chain, id)
	}
	if here := r.lines.of(id); err != nil && here != nil {
		chain, err = here, r.holds(here, id)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotInvited, err)
	}
	return wire.Control().Encode(chain)
}

// holds says why a chain proves nothing.
func (r *Roll) holds(chain []certificate, id peer.ID) error {
	return verifyChain(chain, r.host.swarm.standing().public, id, r.outBelow)
}

// note remembers what a peer that was let in has shown, if that proves anything: in an open swarm, and of whoever is
// let in by its ID, nobody has looked at it.
func (r *Roll) note(id peer.ID, chain []certificate) {
	if r.host.cfg.Trust != TrustOpen && r.holds(chain, id) == nil {
		r.lines.note(id, chain, r.host.book.met)
	}
}

// Branch is the member whom the founder has let in and by whom a peer is one, at whatever remove: that peer itself, or
// one above it; of this peer, too. It is the same for all of whom that is not known, as in an open swarm.
func (h *Host) Branch(id peer.ID) string {
	chain := h.roll.lines.of(id)
	if id == h.id && h.cfg.Trust != TrustOpen {
		chain = h.swarm.standing().chain
	}
	if len(chain) == 0 {
		return ""
	}
	return cmp.Or(branch(chain), id).String()
}

// branch is the same by certificates; "" for the founder, whose own is the first.
func branch(chain []certificate) peer.ID {
	if len(chain) < 2 {
		return ""
	}
	return peer.ID(chain[1].Subject)
}

// lines are the certificates of peers that this one has met or heard of, for when one of those above them is put out
// while they are away.
type lines struct {
	mu sync.Mutex
	by map[peer.ID][]certificate
}

const (
	maxLines   = 4096 // more than there are members that an address book has met
	drawnLines = 128
)

func (l *lines) note(id peer.ID, chain []certificate, met func(peer.ID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[peer.ID][]certificate{}
	}
	if l.by[id] == nil && len(l.by) >= maxLines {
		delete(l.by, l.spare(met)) // whoever is still about will show its own again
	}
	l.by[id] = chain
}

// spare is who makes room: whoever may invite can make up as many as it likes, and must not have others forgotten so,
// nor itself. So it is one of the largest branch, as far below as there is one, whom this peer has not met; as far as a
// few that are drawn show that. The lock is held.
func (l *lines) spare(met func(peer.ID) bool) (spare peer.ID) {
	drawn, size := map[peer.ID][]certificate{}, map[peer.ID]int{}
	for id, chain := range l.by { // in no order
		if len(drawn) == drawnLines {
			break
		}
		if !met(id) {
			drawn[id] = chain
			size[branch(chain)]++
		}
	}
	most := 0
	for id, chain := range drawn {
		if n := size[branch(chain)]*maxChain + len(chain); n > most {
			spare, most = id, n
		}
	}
	return spare
}

func (l *lines) of(id peer.ID) []certificate {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by[id]
}

// above says whether one is known to be a member by another.
func (l *lines) above(inviter, id peer.ID) bool {
	return slices.ContainsFunc(l.of(id), func(c certificate) bool { return peer.ID(c.Subject) == inviter })
}

// Condemn is Host.Revoke for a liar; told says whether others are to be told, too.
func (r *Roll) Condemn(id peer.ID) (told bool, err error) {
	told = r.speaks(id)
	remark := aLiar
	if by := r.host.Branch(id); by != "" {
		remark += " by " + by
	}
	return told, r.putOut(id, told, remark)
}

func (r *Roll) putOut(id peer.ID, tell bool, remark string) (err error) {
	if id == r.host.id {
		return ErrSelf
	}
	if _, _, err := identity([]byte(id)); err != nil {
		return fmt.Errorf("%w: %w", ErrAddress, err)
	}
	if err := r.host.revoked.add(id, remark); err != nil {
		return err
	}
	if err := r.host.allowed.set(id, false); err != nil {
		return err
	}
	if tell {
		err = r.banish(id, false)
	}
	r.host.visitors.review(r.standingOf)
	return err
}

// speaks says whether to tell others of a liar, which nobody has asked for: if it is known to be a member by this peer,
// since else the statement counts for nobody, and as long as half of the room is left for what people say.
func (r *Roll) speaks(liar peer.ID) bool {
	return r.lines.above(r.host.id, liar) && r.banned.spare(r.host.swarm.standing().chain)
}

// banish makes the statement, if this peer may invite, that a peer is out, or, lifted, that it is not any more.
// Own has it then.
func (r *Roll) banish(id peer.ID, lifted bool) error {
	s := r.host.swarm.standing()
	if r.host.cfg.Trust == TrustOpen || r.host.swarm.mayInvite() != nil {
		return nil
	}
	number, said := r.banned.number(banned{r.host.id, id})
	if lifted && !said {
		return nil
	}
	say := revocation{Swarm: s.public, Subject: []byte(id), Author: s.chain, Number: number, Lifted: lifted}
	text, err := say.signed()
	if err != nil {
		return err
	}
	say.Signature = ed25519.Sign(r.host.swarm.key, text)
	b, err := wire.Control().Encode(say)
	if err != nil {
		return err
	}
	v, err := openRevocation(b, s.public)
	if err == nil {
		_, err = r.banned.add(v, time.Now())
	}
	return err
}

// Check says whether a statement that a peer is out may be passed on.
func (r *Roll) Check(b []byte) error {
	_, err := openRevocation(b, r.host.swarm.standing().public)
	return err
}

// Hear takes in the statement that a peer is out, from anywhere, and puts out whom it concerns. It says
// whether it was news; then those whom this peer only knows of are to be looked at again, with Vouch.
func (r *Roll) Hear(b []byte) (news bool, err error) {
	if r.host.cfg.Trust == TrustOpen {
		return false, nil
	}
	v, err := openRevocation(b, r.host.swarm.standing().public)
	if err != nil {
		return false, err
	}
	if news, err = r.banned.add(v, time.Now()); !news || err != nil {
		return false, err
	}
	r.host.log.Info("a member says who is out of the swarm", "peer", v.subject, "author", v.author, "lifted", v.Lifted)
	r.host.visitors.review(r.standingOf)
	return true, nil
}

// Told are at most so many statements that peers are out, for a member to hear; if there are more, others at
// each turn.
func (r *Roll) Told(most, turn int) (list [][]byte) {
	r.banned.mu.Lock()
	defer r.banned.mu.Unlock()
	all := r.banned.sorted()
	for i := range min(most, len(all)) {
		list = append(list, all[(turn*most+i)%len(all)].bytes)
	}
	return list
}

// Own are those that this peer has made, newest last.
func (r *Roll) Own() (list [][]byte) {
	r.banned.mu.Lock()
	defer r.banned.mu.Unlock()
	for _, v := range r.banned.sorted() {
		if v.author == r.host.id {
			list = append(list, v.bytes)
		}
	}
	return list
}

// standingOf says whether a peer that has been let in may stay.
func (r *Roll) standingOf(id peer.ID, said *hello) error {
	if r.out(id) {
		return errOut(id)
	}
	s := r.host.swarm.standing()
	if said == nil || r.host.cfg.Trust == TrustOpen || r.host.allowed.has(id) || len(s.public) == 0 {
		return nil
	}
	if err := verifyChain(said.Chain, s.public, id, r.outBelow); err != nil {
		return fmt.Errorf("%w: %w", ErrNotInvited, err)
	}
	return nil
}

// errOut is why somebody who was put out is refused.
func errOut(id peer.ID) error {
	return fmt.Errorf("%w: %w: that of %s", ErrNotInvited, ErrOut, id)
}
