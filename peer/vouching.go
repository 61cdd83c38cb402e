package peer

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// vouching is the border at which outcomes get an author, and lose it. What is computed here is signed by this peer's
// key when it leaves: in a message, or to the disk, which others may read one day. Most of what is kept does neither,
// and a signature takes as long as all else that is done for it. What comes from others has to carry the signature of a
// member, for this very job, run and outcome. So whoever has lied can be named however far the lie has travelled, and
// nobody can lie in another's name: nothing unsigned comes in, so what is unsigned was computed here.
type vouching struct {
	*base
	key    crypto.PrivKey
	self   peer.ID
	member func(id peer.ID) bool // now, or once, as far as this peer knows
	// outcast says whether a peer was put out
	outcast func(id peer.ID) bool
	spent   atomic.Int64 // nanoseconds of processor time, of all that is done here
}

// since counts what was begun then, by the processor time of this thread: whatever is done here defers it. What seems
// to be less than nothing was begun on another one.
func (v *vouching) since(began time.Duration) { v.spent.Add(int64(max(0, cputime.Thread()-began))) }

// Vouch writes what is to be signed for an outcome: see driver.Notary.
func (v *vouching) Vouch(run job.RunID, o *verify.Opening) []byte {
	defer v.since(cputime.Thread())
	c := o.Claim()
	b, err := statement.Unsigned(v.self, &c, &o.Of)
	v.cannotSign(run, err)
	return b
}

func (v *vouching) cannotSign(run job.RunID, err error) {
	if err != nil {
		v.log.Error("an outcome cannot be signed, and others will not take it", "run", run, "error", err)
	}
}

// sign signs for an outcome that leaves this peer, if that was not done yet.
func (v *vouching) sign(run job.RunID, p *steal.Partial) {
	if !statement.IsUnsigned(p.Voucher) {
		return
	}
	defer v.since(cputime.Thread())
	r, err := statement.ReadVoucher(p.Voucher, driver.NodeOf(p.Path, p.Identity), compute.Digest(p.Outcome))
	if err == nil && r.Author == v.self {
		p.Voucher, err = r.Sign(v.key, run)
	}
	v.cannotSign(run, err)
}

// send signs for the outcomes in a message. In one that is only relayed nothing is this peer's.
func (v *vouching) send(m *steal.Message) {
	if m.Relayed != nil && m.Relayed.From == m.From {
		m = m.Relayed
	}
	switch {
	case m.Result != nil:
		p := partialOf(m.Result)
		v.sign(m.Run, p)
		m.Result.Voucher = p.Voucher
	case m.HandOver != nil:
		over := *m.HandOver
		over.Parts = slices.Clone(over.Parts)
		for i := range over.Parts {
			v.sign(m.Run, &over.Parts[i])
		}
		m.HandOver = &over
	}
}

// Digest is the same for all outcomes that are equal.
func (v *vouching) Digest(outcome []byte) verify.Hash {
	defer v.since(cputime.Thread())
	return compute.Digest(outcome)
}

// Claim reads a voucher that was checked.
func (v *vouching) Claim(n verify.Node, outcome verify.Hash, voucher []byte) (c verify.Claim, of verify.Authors) {
	defer v.since(cputime.Thread())
	r, err := statement.ReadVoucher(voucher, n, outcome)
	if err != nil {
		return verify.Claim{Node: n, Outcome: outcome}, of
	}
	of = r.Of()
	if by := v.answers(r); by != v.self {
		of.Add(string(by))
	}
	of.Drop(string(v.self))
	return r.Claim, of
}

// answers is on whose word an outcome is taken: its author's or, if that is nobody whom this peer knows, as a tab, that
// of whoever stands for it.
func (v *vouching) answers(r *statement.Vouched) peer.ID {
	if r.Bearer == "" || r.Author == v.self || v.member(r.Author) {
		return r.Author
	}
	return r.Bearer
}

// Out says whether one of these was put out: see driver.Notary.
func (v *vouching) Out(of *verify.Authors) bool {
	defer v.since(cputime.Thread())
	return slices.ContainsFunc(of.Names, func(name string) bool { return v.outcast(peer.ID(name)) })
}

// rests says on whom of those who were put out an outcome rests; "" if on nobody.
func (v *vouching) rests(r *statement.Vouched) peer.ID {
	switch {
	case v.outcast(r.Author):
		return r.Author
	case r.Bearer != "" && v.outcast(r.Bearer):
		return r.Bearer
	}
	for _, name := range r.Of().Names {
		if v.outcast(peer.ID(name)) {
			return peer.ID(name)
		}
	}
	return ""
}

// outcasts are those who are out, for a run.
func (v *vouching) outcasts() steal.Outcasts {
	return steal.Outcasts{Out: func(id steal.PeerID) bool {
		other, err := peer.Decode(string(id))
		return err == nil && v.outcast(other)
	}, Theirs: v.theirs}
}

// theirs says whether a voucher that was checked is by one of the outcasts, or names one.
func (v *vouching) theirs(voucher []byte) bool {
	if statement.IsOwn(voucher) { // as most of what is kept is
		return false
	}
	defer v.since(cputime.Thread())
	r, err := statement.ReadVoucher(voucher, verify.Node{}, verify.Hash{})
	return err == nil && v.rests(r) != ""
}

// authorOf is who has signed a voucher that was checked; "" for what is none.
func authorOf(voucher []byte) peer.ID {
	v, err := statement.ReadVoucher(voucher, verify.Node{}, verify.Hash{})
	if err != nil {
		return ""
	}
	return v.Author
}

func openVoucher(run job.RunID, p *steal.Partial) (*statement.Vouched, error) {
	return statement.OpenVoucher(p.Voucher, run, driver.NodeOf(p.Path, p.Identity), compute.Digest(p.Outcome))
}

// partialOf is what a result has of an outcome.
func partialOf(r *steal.Result) *steal.Partial {
	return &steal.Partial{Path: r.Path, Identity: r.Identity, Outcome: r.Outcome, Voucher: r.Voucher}
}

// check gives who vouches for an outcome that from has sent, or says why it is not to be used.
func (v *vouching) check(run job.RunID, p *steal.Partial, from peer.ID) (*statement.Vouched, error) {
	defer v.since(cputime.Thread())
	r, err := openVoucher(run, p)
	if err != nil {
		return nil, err
	}
	if len(p.Path) == 0 {
		return nil, cannot("the answer of a run is stated by whoever has it, and comes in no other way")
	}
	by := v.answers(r)
	for _, id := range []peer.ID{r.Author, by} {
		if v.outcast(id) {
			return nil, cannot("it was computed by a peer that is out of the swarm, or that stands for it: " + id.String())
		}
	}
	if by == from || by == v.self || v.member(by) {
		return r, nil
	}
	return nil, cannot("no member whom this peer knows has computed it, or stands for who has: " + r.Author.String())
}

// checkKept is check for what comes to be kept, where nobody waits for it: it must not be made of what somebody has
// computed who is out of the swarm, either. With a result that somebody waits for its author has seen to that, as far
// as it had heard: two that do not know of the same members as outcasts would have jobs go back and forth for ever.
func (v *vouching) checkKept(run job.RunID, p *steal.Partial, from peer.ID) error {
	r, err := v.check(run, p, from)
	if err == nil {
		err = v.untouched(r)
	}
	return err
}

// untouched says whose of the outcasts an outcome is, or was made of.
func (v *vouching) untouched(r *statement.Vouched) error {
	if id := v.rests(r); id != "" {
		return cannot("it was computed by a peer that is out of the swarm, or made of what that has computed: " + id.String())
	}
	return nil
}

// restored looks at what a disk has: it was checked when it was written, but it may have been written by anybody.
// What others have computed gets this peer's name beside theirs, for those who do not know them.
func (v *vouching) restored(run job.RunID, p *steal.Partial) error {
	defer v.since(cputime.Thread())
	r, err := openVoucher(run, p)
	if err == nil {
		err = v.untouched(r)
	}
	if err == nil && r.Author != v.self {
		p.Voucher, err = r.StandFor(v.key, run)
	}
	return err
}

// answered looks at an answer that a disk has: it is that of whoever signed it, and only this peer, which had the root
// then, and the owner may say what the answer is. Of are the others on whose word it rests.
func (v *vouching) answered(run job.RunID, p *steal.Partial, owner peer.ID) (of []byte, err error) {
	r, err := openVoucher(run, p)
	switch {
	case err != nil:
		return nil, err
	case r.Author != v.self && r.Author != owner:
		return nil, cannot("neither this peer nor the owner has signed it, but " + r.Author.String())
	}
	a := r.Of()
	return v.keys(run, &a), v.untouched(r)
}

// keys is how statements have authors.
func (v *vouching) keys(run job.RunID, of *verify.Authors) []byte {
	b, err := statement.Keys(of)
	v.cannotSign(run, err)
	return b
}

// again vouches for an outcome of another run of the same problem, which this peer makes one of its own: made of what
// whoever has signed it there has computed.
func (v *vouching) again(run job.RunID, p *steal.Partial) {
	o := &verify.Opening{Node: driver.NodeOf(p.Path, p.Identity), Outcome: v.Digest(p.Outcome)}
	_, o.Of = v.Claim(o.Node, o.Outcome, p.Voucher)
	p.Voucher = v.Vouch(run, o)
}

// cannot is why an outcome is refused whose signature holds.
type cannot string

func (c cannot) Error() string { return string(c) }

// speaks says whether a message that came round was signed by whoever is said to have sent it. A relay knows handles,
// and may know the job: it must not bring an outcome of its own, or of a friend, in the thief's place.
func (v *vouching) speaks(m *steal.Message) bool {
	if m.Result == nil {
		return true
	}
	r, err := openVoucher(m.Run, partialOf(m.Result))
	return err == nil && (r.Author.String() == string(m.From.Peer) || r.Bearer.String() == string(m.From.Peer))
}

func (v *vouching) refused(m *steal.Message, from peer.ID, why error) {
	v.log.Warn("an outcome is refused", "run", m.Run, "from", from, "error", why)
}

// refuse puts the job in the place of its result.
func (v *vouching) refuse(m *steal.Message, from peer.ID, why error) {
	v.refused(m, from, why)
	m.Result, m.Return = nil, &steal.Return{Handles: []steal.Handle{m.Result.Handle}}
}

// receive looks at the outcomes in a message. A result that is not vouched for gives its job back, so that somebody
// else computes it; of what is handed over, the rest is left. It says whether anything is left of the message.
func (v *vouching) receive(m *steal.Message) bool {
	if m.Relayed == nil && m.Result == nil && m.HandOver == nil {
		return true
	}
	from, err := peer.Decode(string(m.From.Peer))
	if err != nil {
		return false
	}
	switch {
	case m.Relayed != nil && string(m.Relayed.To.Peer) == v.self.String():
		// the relay may have altered it, or made it up: it comes again, straight
		return v.speaks(m.Relayed) && v.receive(m.Relayed)
	case m.Result != nil:
		if _, err := v.check(m.Run, partialOf(m.Result), from); err != nil {
			v.refuse(m, from, err)
		}
	case m.HandOver != nil:
		var good []steal.Partial
		for _, p := range m.HandOver.Parts {
			if err := v.checkKept(m.Run, &p, from); err != nil {
				v.refused(m, from, err)
			} else {
				good = append(good, p)
			}
		}
		if len(good) == 0 {
			return false
		}
		m.HandOver = &steal.HandOver{ID: m.HandOver.ID, Copy: m.HandOver.Copy, Parts: good}
	}
	return true
}
