package hostile

import (
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	lpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/verify"
)

// accusation is package peer's, as it travels.
type accusation struct {
	Run      job.RunID `cbor:"1,keyasint"`
	Path     job.Path  `cbor:"2,keyasint"`
	Function string    `cbor:"3,keyasint"`
	Argument []byte    `cbor:"4,keyasint"`
	Said     testimony `cbor:"5,keyasint"`
	Truth    testimony `cbor:"6,keyasint"`

	Children []driver.OpenedChild `cbor:"7,keyasint,omitempty"`
	Manifest []byte               `cbor:"8,keyasint,omitempty"`
}

type testimony struct {
	Digest  verify.Hash `cbor:"1,keyasint"`
	Outcome []byte      `cbor:"2,keyasint,omitempty"`
	Voucher []byte      `cbor:"3,keyasint,omitempty"`
}

// says is what the owner of a key signs that came of a leaf.
func (a *accusation) says(t *testing.T, key crypto.PrivKey, n int) testimony {
	t.Helper()
	w := testimony{Digest: compute.Digest(square(t, n))}
	c := (&verify.Opening{Node: driver.NodeOf(a.Path, job.Identify(a.Function, a.Argument)), Outcome: w.Digest}).Claim()
	var err error
	if w.Voucher, err = statement.Vouch(key, a.Run, &c); err != nil {
		t.Fatal(err)
	}
	return w
}

// leafOf is what is said of one leaf of a run.
func leafOf(t *testing.T, run job.RunID, n int) *accusation {
	t.Helper()
	return &accusation{Run: run, Path: job.Path{uint32(n)}, Function: "hostile.leaf", Argument: argument(t, Part{N: n})}
}

// speaks lets a rogue tell everybody something.
// It may be lost.
func (r *rogue) speaks(t *testing.T) func(k gossip.Kind, what any) {
	t.Helper()
	tells := r.gossips(t)
	return func(k gossip.Kind, what any) {
		t.Helper()
		b, err := wire.Value().Encode(what)
		if err != nil {
			t.Fatal(err)
		}
		tells(k, b)
	}
}

// gossips is the same of what is encoded.
func (r *rogue) gossips(t *testing.T) func(k gossip.Kind, b []byte) {
	t.Helper()
	g, err := gossip.Open(t.Context(), r.Network(), gossip.Config{Swarm: r.SwarmName(), Incarnation: 1,
		Admitted: func(lpeer.ID) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return func(k gossip.Kind, b []byte) { _ = g.Publish(k, b) } // or it is said again
}

func keyOf(r *rogue) crypto.PrivKey { return r.Network().Peerstore().PrivKey(r.ID()) }

// thiefOf is a member whom one peer has let in, and that takes part in the runs of another.
func thiefOf(t *testing.T, founder, owner *peer.Peer) *rogue {
	t.Helper()
	r := invited(t, founder)
	r.volunteers(t)
	connect(t, r, owner)
	r.victim = mustDecode(t, idOf(t, owner))
	r.volunteers(t)
	return r
}

// The proof of a lie convinces members that trust neither who has lied nor who has found out: they run the job. Here
// the owner has no say in who is a member, and the founder puts the liar out all the same.
func TestProofsConvince(t *testing.T) {
	t.Parallel()
	founder, owner := impatient(t), impatient(t)
	join(t, founder, owner, control.Invitation{})
	r := thiefOf(t, founder, owner)
	run, end := pairs(t, owner, 12, control.Submission{Verify: "quorum=2"})
	until(t, "the founder computes", func() bool { return leavesOf(t).begun.Load() == 2 })
	r.steals(t, run).lies(t)
	if got := answer(t, end()); got != 650 {
		t.Errorf("the answer is %d", got)
	}
	liar := r.ID().String()
	until(t, "the liar is out at the owner's", func() bool { return owner.Revoked(liar) })
	until(t, "the liar is out at the founder's", func() bool { return founder.Revoked(liar) })
	if founder.Revoked(idOf(t, owner)) {
		t.Error("who has found out is out")
	}
}

// Gossip may lose a proof, and the word of whoever may say who is out: both reach all who are connected all the same.
// Here nobody hears either by gossip.
func TestProofsGoStraight(t *testing.T) {
	t.Parallel()
	deaf := func() *peer.Peer {
		return impatientWith(t, func(c *peer.Config) {
			c.Gossip.KindRates = map[gossip.Kind]gossip.Rate{gossip.KindAccusation: {}, gossip.KindRevocation: {}}
		})
	}
	founder, owner, third := deaf(), deaf(), deaf()
	join(t, founder, owner, control.Invitation{})
	join(t, founder, third, control.Invitation{})
	r := thiefOf(t, founder, owner)
	run, end := pairs(t, owner, 12, control.Submission{Verify: "quorum=2"})
	until(t, "others compute", func() bool { return leavesOf(t).begun.Load() >= 2 })
	r.steals(t, run).lies(t)
	if got := answer(t, end()); got != 650 {
		t.Errorf("the answer is %d", got)
	}
	for name, p := range map[string]*peer.Peer{"the owner": owner, "the founder": founder, "a third": third} {
		until(t, "the liar is out for "+name, func() bool { return p.Revoked(r.ID().String()) })
	}
	other := invited(t, founder).ID().String()
	if err := founder.Revoke(patience(t), other); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*peer.Peer{"the owner": owner, "a third": third} {
		until(t, "who is revoked is out for "+name, func() bool { return p.Revoked(other) })
	}
}

func init() {
	satin.Register("hostile.sky", sky, satin.Exact())
	satin.Register("hostile.star", star, satin.Exact())
}

// Star is a job that reads what is shared.
type Star struct {
	Sky satin.Constant[[]int]
	Of  Part
}

// night is over when the root of sky may end: what is tried of its jobs is tried while it goes on.
var night struct{ over atomic.Bool }

func sky(f *satin.Frame, p Part) (sum int) {
	c := satin.ShareConstant(f, []int{1, 2, 3})
	g := satin.Fork(f, star)
	for i := range p.N {
		g.Spawn(Star{c, Part{p.Test, i + 1}})
	}
	for r := range g.Results() {
		sum += r
	}
	for !night.over.Load() && !f.Aborted() {
		lends(f)
	}
	return sum
}

func star(f *satin.Frame, s Star) int { return leaf(f, s.Of) * s.Sky.Read(f)[0] }

// A proof about a job that reads what jobs share convinces who takes part in the run, and has it.
func TestProofsAboutSharedValues(t *testing.T) {
	t.Parallel()
	founder, owner := impatient(t), impatient(t)
	join(t, founder, owner, control.Invitation{})
	r := thiefOf(t, founder, owner)
	night.over.Store(false)
	t.Cleanup(func() { night.over.Store(true) })
	run, end := waitingRun(t, owner, "hostile.sky", 12, control.Submission{Verify: "quorum=2"})
	until(t, "the founder computes", func() bool { return leavesOf(t).begun.Load() == 2 })
	r.steals(t, run).lies(t)
	leavesOf(t).open.Store(true)
	liar := r.ID().String()
	until(t, "the liar is out at the founder's", func() bool { return founder.Revoked(liar) })
	night.over.Store(true)
	if got := answer(t, end()); got != 650 {
		t.Errorf("the answer is %d", got)
	}
	if founder.Revoked(idOf(t, owner)) {
		t.Error("who has found out is out")
	}
}

// An accuser that lies is out itself, and whoever was accused stays; so is whoever has signed two things of one job.
func TestFalseAccusations(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	honest, liar, other, twice := invited(t, v), invited(t, v), invited(t, v), invited(t, v)
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	end()
	out := func(r *rogue) bool { return v.Revoked(r.ID().String()) }
	by := func(first, second *rogue) *accusation {
		a := leafOf(t, run, 3)
		a.Said, a.Truth = a.says(t, keyOf(first), 9), a.says(t, keyOf(second), 8)
		return a
	}
	lies := liar.speaks(t)
	until(t, "the accuser is out", func() bool { lies(gossip.KindAccusation, by(honest, liar)); return out(liar) })
	tells := other.speaks(t)
	until(t, "who has signed both is out", func() bool {
		tells(gossip.KindAccusation, by(twice, twice))
		return out(twice)
	})
	if out(honest) || out(other) {
		t.Errorf("who is honest is out: %v, %v", out(honest), out(other))
	}
}

// Whoever joins when all is over hears of a lie, and sees for itself: nobody's word counts in an open swarm, and its
// own machine runs the job.
func TestNewcomersHearOfLies(t *testing.T) {
	t.Parallel()
	openly := func() *peer.Peer {
		return impatientWith(t, func(c *peer.Config) { c.Host.Trust = host.TrustOpen })
	}
	v := openly()
	st, err := v.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg := hostConfig(t)
	cfg.Trust = host.TrustOpen
	h, err := host.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Join(patience(t), st.Addresses[0]); err != nil {
		t.Fatal(err)
	}
	r := &rogue{h, mustDecode(t, st.Peer)}
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	r.steals(t, run).lies(t)
	if got := answer(t, end()); got != 5 {
		t.Errorf("the answer is %d", got)
	}
	liar := r.ID().String()
	until(t, "the liar is out", func() bool { return v.Revoked(liar) })
	// What its finder says again soon is not what is meant here: this one hears no gossip of lies.
	late := impatientWith(t, func(c *peer.Config) {
		c.Host.Trust = host.TrustOpen
		c.Gossip.KindRates = map[gossip.Kind]gossip.Rate{gossip.KindAccusation: {}}
	})
	if _, err := late.Join(patience(t), st.Addresses[0]); err != nil {
		t.Fatal(err)
	}
	until(t, "the liar is out at a newcomer's", func() bool { return late.Revoked(liar) })
	if late.Revoked(st.Peer) {
		t.Error("who has told of it is out")
	}
}

func init() {
	satin.Register("hostile.talk", talk, satin.Exact(), satin.Unlike(func(t Talk) string {
		if t.Heard {
			return "it repeats what others tell"
		}
		return ""
	}))
}

// Talk is a job that believes what others tell, if Heard.
type Talk struct {
	N     int
	Heard bool
}

func talk(*satin.Frame, Talk) int { return 0 }

func init() {
	satin.Register("hostile.weave", weave, satin.Exact())
	satin.RegisterLattice[int]("hostile.most", most, nil)
}

func most(a, b int) int { return max(a, b) }

// weave shares a lattice, and comes to what others have offered to it by then, though it is said to come to the same
// wherever it runs; for 0, to 0 alone.
func weave(f *satin.Frame, t Talk) int {
	if t.N == 0 {
		return 0
	}
	l := satin.ShareLattice(f, most, t.N, 0)
	l.Offer(f, 7)
	return l.Value(f)
}

// Whoever owns a run may have others compute any job of its application, such as one whose results may honestly
// differ, and lie to them about what it reads: what they sign of that puts nobody out, though the run's own jobs
// can be compared.
func TestHonestDifferences(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	misled, twice := invited(t, v), invited(t, v)
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	end()
	weaver, both, idle, accuser := invited(t, v), invited(t, v), invited(t, v), invited(t, v)
	tried := func(r *rogue, function string, said Talk, against crypto.PrivKey) {
		arg, err := wire.Value().Encode(said)
		if err != nil {
			t.Fatal(err)
		}
		a := &accusation{Run: run, Path: job.Path{3}, Function: function, Argument: arg}
		a.Said, a.Truth = a.says(t, keyOf(r), 9), a.says(t, against, 7)
		b, err := wire.Value().Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		by, told := invited(t, v), false // who warns may do so once a second
		warning := struct {
			Cards [][]byte `cbor:"1,keyasint"`
			Lies  [][]byte `cbor:"7,keyasint"`
		}{Lies: [][]byte{b}}
		if err := by.say(t, "/satin/warn/1", warning, &told); err != nil || !told {
			t.Fatalf("%v, %v", told, err)
		}
	}
	tried(misled, "hostile.talk", Talk{3, true}, keyOf(misled))
	tried(weaver, "hostile.weave", Talk{N: 3}, keyOf(accuser))
	tried(both, "hostile.weave", Talk{N: 4}, keyOf(both))
	tried(twice, "hostile.talk", Talk{N: 3}, keyOf(twice)) // after the others, in the order in which they came
	tried(idle, "hostile.weave", Talk{}, keyOf(idle))
	for _, r := range []*rogue{twice, idle} {
		until(t, "who has signed two things is out", func() bool { return v.Revoked(r.ID().String()) })
	}
	for name, r := range map[string]*rogue{"has believed what it was told": misled, "reads what its job shares": weaver,
		"has read that twice": both} {
		if v.Revoked(r.ID().String()) {
			t.Error("who " + name + " is out")
		}
	}
}
