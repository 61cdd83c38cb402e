// Package vouching is the border at which outcomes get an author, and lose it. What is computed here is signed by this
// peer's key when it leaves: in a message, or to the disk, which others may read one day. Most of what is kept does
// neither, and a signature takes as long as all else that is done for it. What comes from others has to carry the
// signature of a member, for this very job, run and outcome. So whoever has lied can be named however far the lie has
// travelled, and nobody can lie in another's name: nothing unsigned comes in, so what is unsigned was computed here.
//
// Everything may be called from any goroutine, and takes the processor's time for what it signs or checks, counted in
// Spent; nothing blocks.
package vouching

import (
	"errors"
	"log/slog"
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

// A Border is one peer's. Its fields but Spent are set before it is used.
type Border struct {
	Log  *slog.Logger
	Key  crypto.PrivKey
	Self peer.ID
	// Member says whether a peer is or was a member, as far as this one knows, and Outcast whether it was put out.
	Member, Outcast func(id peer.ID) bool
	Spent           atomic.Int64 // nanoseconds of processor time, of all that is done here
}

// since counts what was begun then, by the processor time of this thread: whatever is done here defers it. What seems
// to be less than nothing was begun on another one.
func (v *Border) since(began time.Duration) { v.Spent.Add(int64(max(0, cputime.Thread()-began))) }

// Vouch writes what is to be signed for an outcome: see driver.Notary.
func (v *Border) Vouch(run job.RunID, o *verify.Opening) []byte {
	defer v.since(cputime.Thread())
	c := o.Claim()
	b, err := statement.Unsigned(v.Self, &c, &o.Of)
	v.cannotSign(run, err)
	return b
}

func (v *Border) cannotSign(run job.RunID, err error) {
	if err != nil {
		v.Log.Error("an outcome cannot be signed, and others will not take it", "run", run, "error", err)
	}
}

// Sign signs for an outcome that leaves this peer, if that was not done yet.
func (v *Border) Sign(run job.RunID, p *steal.Partial) {
	if !statement.IsUnsigned(p.Voucher) {
		return
	}
	defer v.since(cputime.Thread())
	r, err := statement.ReadVoucher(p.Voucher, driver.NodeOf(p.Path, p.Identity), compute.Digest(p.Outcome))
	if err == nil && r.Author == v.Self {
		p.Voucher, err = r.Sign(v.Key, run)
	}
	v.cannotSign(run, err)
}

// Send signs for the outcomes in a message. In one that is only relayed nothing is this peer's.
func (v *Border) Send(m *steal.Message) {
	if m.Relayed != nil && m.Relayed.From == m.From {
		m = m.Relayed
	}
	switch {
	case m.Result != nil:
		p := partialOf(m.Result)
		v.Sign(m.Run, p)
		m.Result.Voucher = p.Voucher
	case m.HandOver != nil:
		over := *m.HandOver
		over.Parts = slices.Clone(over.Parts)
		for i := range over.Parts {
			v.Sign(m.Run, &over.Parts[i])
		}
		m.HandOver = &over
	}
}

// Digest is the same for all outcomes that are equal.
func (v *Border) Digest(outcome []byte) verify.Hash {
	defer v.since(cputime.Thread())
	return compute.Digest(outcome)
}

// Claim reads a voucher that was checked.
func (v *Border) Claim(n verify.Node, outcome verify.Hash, voucher []byte) (c verify.Claim, of verify.Authors) {
	defer v.since(cputime.Thread())
	r, err := statement.ReadVoucher(voucher, n, outcome)
	if err != nil {
		return verify.Claim{Node: n, Outcome: outcome}, of
	}
	of = r.Of()
	if by := v.answers(r); by != v.Self {
		of.Add(string(by))
	}
	of.Drop(string(v.Self))
	return r.Claim, of
}

// answers is on whose word an outcome is taken: its author's or, if that is nobody whom this peer knows, as a tab, that
// of whoever stands for it.
func (v *Border) answers(r *statement.Vouched) peer.ID {
	if r.Bearer == "" || r.Author == v.Self || v.Member(r.Author) {
		return r.Author
	}
	return r.Bearer
}

// Out says whether one of these was put out: see driver.Notary.
func (v *Border) Out(of *verify.Authors) bool {
	defer v.since(cputime.Thread())
	return slices.ContainsFunc(of.Names, func(name string) bool { return v.Outcast(peer.ID(name)) })
}

// rests says on whom of those who were put out an outcome rests; "" if on nobody.
func (v *Border) rests(r *statement.Vouched) peer.ID {
	switch {
	case v.Outcast(r.Author):
		return r.Author
	case r.Bearer != "" && v.Outcast(r.Bearer):
		return r.Bearer
	}
	for _, name := range r.Of().Names {
		if v.Outcast(peer.ID(name)) {
			return peer.ID(name)
		}
	}
	return ""
}

// Outcasts are those who are out, for a run.
func (v *Border) Outcasts() steal.Outcasts {
	return steal.Outcasts{Out: func(id steal.PeerID) bool {
		other, err := peer.Decode(string(id))
		return err == nil && v.Outcast(other)
	}, Theirs: v.theirs}
}

// theirs says whether a voucher that was checked is by one of the outcasts, or names one.
func (v *Border) theirs(voucher []byte) bool {
	if statement.IsOwn(voucher) { // as most of what is kept is
		return false
	}
	defer v.since(cputime.Thread())
	r, err := statement.ReadVoucher(voucher, verify.Node{}, verify.Hash{})
	return err == nil && v.rests(r) != ""
}

// AuthorOf is who has signed a voucher that was checked; "" for what is none.
func AuthorOf(voucher []byte) peer.ID {
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
func (v *Border) check(run job.RunID, p *steal.Partial, from peer.ID) (*statement.Vouched, error) {
	defer v.since(cputime.Thread())
	r, err := openVoucher(run, p)
	if err != nil {
		return nil, err
	}
	if len(p.Path) == 0 {
		return nil, errors.New("the answer of a run is stated by whoever has it, and comes in no other way")
	}
	by := v.answers(r)
	for _, id := range []peer.ID{r.Author, by} {
		if v.Outcast(id) {
			return nil, errors.New("it was computed by a peer that is out of the swarm, or that stands for it: " + id.String())
		}
	}
	if by == from || by == v.Self || v.Member(by) {
		return r, nil
	}
	return nil, errors.New("no member whom this peer knows has computed it, or stands for who has: " + r.Author.String())
}

// CheckKept is check for what comes to be kept, where nobody waits for it: it must not be made of what somebody has
// computed who is out of the swarm, either. With a result that somebody waits for its author has seen to that, as far
// as it had heard: two that do not know of the same members as outcasts would have jobs go back and forth for ever.
func (v *Border) CheckKept(run job.RunID, p *steal.Partial, from peer.ID) error {
	r, err := v.check(run, p, from)
	if err == nil {
		err = v.untouched(r)
	}
	return err
}

// untouched says whose of the outcasts an outcome is, or was made of.
func (v *Border) untouched(r *statement.Vouched) error {
	if id := v.rests(r); id != "" {
		return errors.New("it was computed by a peer that is out of the swarm, or made of what that has computed: " + id.String())
	}
	return nil
}

// Restored looks at what a disk has: it was checked when it was written, but it may have been written by anybody.
// What others have computed gets this peer's name beside theirs, for those who do not know them.
func (v *Border) Restored(run job.RunID, p *steal.Partial) error {
	defer v.since(cputime.Thread())
	r, err := openVoucher(run, p)
	if err == nil {
		err = v.untouched(r)
	}
	if err == nil && r.Author != v.Self {
		p.Voucher, err = r.StandFor(v.Key, run)
	}
	return err
}

// Answered looks at an answer that a disk has: it is that of whoever signed it, and only this peer, which had the root
// then, and the owner may say what the answer is. Of are the others on whose word it rests.
func (v *Border) Answered(run job.RunID, p *steal.Partial, owner peer.ID) (of []byte, err error) {
	r, err := openVoucher(run, p)
	switch {
	case err != nil:
		return nil, err
	case r.Author != v.Self && r.Author != owner:
		return nil, errors.New("neither this peer nor the owner has signed it, but " + r.Author.String())
	}
	a := r.Of()
	return v.Keys(run, &a), v.untouched(r)
}

// Keys is how statements have authors.
func (v *Border) Keys(run job.RunID, of *verify.Authors) []byte {
	b, err := statement.Keys(of)
	v.cannotSign(run, err)
	return b
}

// Again vouches for an outcome of another run of the same problem, which this peer makes one of its own: made of what
// whoever has signed it there has computed.
func (v *Border) Again(run job.RunID, p *steal.Partial) {
	o := &verify.Opening{Node: driver.NodeOf(p.Path, p.Identity), Outcome: v.Digest(p.Outcome)}
	_, o.Of = v.Claim(o.Node, o.Outcome, p.Voucher)
	p.Voucher = v.Vouch(run, o)
}

// speaks says whether a message that came round was signed by whoever is said to have sent it. A relay knows handles,
// and may know the job: it must not bring an outcome of its own, or of a friend, in the thief's place.
func (v *Border) speaks(m *steal.Message) bool {
	if m.Result == nil {
		return true
	}
	r, err := openVoucher(m.Run, partialOf(m.Result))
	return err == nil && (r.Author.String() == string(m.From.Peer) || r.Bearer.String() == string(m.From.Peer))
}

func (v *Border) refused(m *steal.Message, from peer.ID, why error) {
	v.Log.Warn("an outcome is refused", "run", m.Run, "from", from, "error", why)
}

// refuse puts the job in the place of its result.
func (v *Border) refuse(m *steal.Message, from peer.ID, why error) {
	v.refused(m, from, why)
	m.Result, m.Return = nil, &steal.Return{Handles: []steal.Handle{m.Result.Handle}}
}

// Receive looks at the outcomes in a message. A result that is not vouched for gives its job back, so that somebody
// else computes it; of what is handed over, the rest is left. It says whether anything is left of the message.
func (v *Border) Receive(m *steal.Message) bool {
	if m.Relayed == nil && m.Result == nil && m.HandOver == nil {
		return true
	}
	from, err := peer.Decode(string(m.From.Peer))
	if err != nil {
		return false
	}
	switch {
	case m.Relayed != nil && string(m.Relayed.To.Peer) == v.Self.String():
		// the relay may have altered it, or made it up: it comes again, straight
		return v.speaks(m.Relayed) && v.Receive(m.Relayed)
	case m.Result != nil:
		if _, err := v.check(m.Run, partialOf(m.Result), from); err != nil {
			v.refuse(m, from, err)
		}
	case m.HandOver != nil:
		var good []steal.Partial
		for _, p := range m.HandOver.Parts {
			if err := v.CheckKept(m.Run, &p, from); err != nil {
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

// ForGuest checks the outcome that a tab has computed, or passed on, and puts this peer's name beside the tab's. One
// that is not signed by whoever says so gives its job back.
func (v *Border) ForGuest(m *steal.Message, id peer.ID) {
	o, err := v.check(m.Run, partialOf(m.Result), id)
	if err == nil && o.Author == id {
		m.Result.Voucher, err = o.StandFor(v.Key, m.Run)
	}
	if err != nil {
		v.refuse(m, id, err)
	}
}
