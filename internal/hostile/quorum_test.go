package hostile

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// impatient is a peer that soon helps itself.
func impatient(t *testing.T, trusted ...string) *peer.Peer {
	t.Helper()
	return impatientWith(t, func(c *peer.Config) { c.Trusted = trusted })
}

// beating has peers heard of so often, and lost after three times that.
func beating(every time.Duration) steal.Config {
	c := steal.LAN()
	c.HeartbeatEvery, c.WideHeartbeatEvery = every, every
	return c
}

func impatientWith(t *testing.T, change func(*peer.Config)) *peer.Peer {
	t.Helper()
	cfg := peer.Config{Host: hostConfig(t), Workers: 1, Cluster: "here", Steal: beating(100 * time.Millisecond),
		FullPriority: true} // or its jobs would get nothing for minutes on a machine that has other work
	change(&cfg)
	p, err := peer.Open(t.Context(), cfg, []peer.Application{{Name: "hostile"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// lies brings a wrong result for a job, signed, and waits until it is taken.
func (x *robber) lies(t *testing.T) {
	t.Helper()
	g, from := x.take(t)
	x.send(from, x.result(t, &g, square(t, 100), x.key))
	x.wait(t, "it is taken", func(m *steal.Message) bool { return m.Ack != nil })
}

// A member that lies about a job decides nothing where two have to come to the same: the answer is right, and the liar
// is named and out. Alone with the owner, it is the owner that computes the job again.
func TestQuorumAlone(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	r.steals(t, run).lies(t)
	out := end()
	if got := answer(t, out); got != 5 {
		t.Errorf("the answer is %d", got)
	}
	liar := r.ID().String()
	if out.Trust == nil || !slices.Equal(out.Trust.Caught, []string{liar}) || out.Trust.Mode != "quorum=2" ||
		out.Trust.Here != 1 {
		t.Errorf("it rests on %+v", out.Trust)
	}
	until(t, "the liar is out", func() bool { return v.Revoked(liar) && !slices.Contains(known(t, v), liar) })
}

// A member that stands for the word of a key which it has made up, as a gateway does for a tab, is one member: what
// others have signed is none of its, and its own word beside it does not make two.
func TestQuorumOfMadeUpKeys(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	x := r.steals(t, run)
	g, from := x.take(t)
	lie := x.result(t, &g, square(t, 100), newKey(t))
	made, err := statement.OpenVoucher(lie.Result.Voucher, run, driver.NodeOf(g.Job.Path, g.Job.Identity),
		compute.Digest(lie.Result.Outcome))
	if err != nil {
		t.Fatal(err)
	}
	if lie.Result.Voucher, err = made.StandFor(x.key, run); err != nil {
		t.Fatal(err)
	}
	x.send(from, lie)
	x.wait(t, "it is taken", func(m *steal.Message) bool { return m.Ack != nil })
	x.last++
	x.send(from, &steal.Message{Request: &steal.StealRequest{ID: x.last, Max: 1, Patience: time.Millisecond}})
	x.wait(t, "what was to be asked of it was", func(m *steal.Message) bool {
		return m.Reply != nil && m.Reply.ID == x.last
	})
	x.mu.Lock()
	got := slices.Clone(x.got)
	x.mu.Unlock()
	for _, m := range got {
		if m.Reply != nil && m.Reply.ID == 0 {
			x.send(from, x.result(t, &m.Reply.Jobs[0], square(t, 100), x.key))
			x.wait(t, "that is taken, too", func(a *steal.Message) bool {
				return a.Ack != nil && a.Ack.Handle == m.Reply.Jobs[0].Handle
			})
		}
	}
	out := end()
	if got := answer(t, out); got != 5 {
		t.Errorf("the answer is %d, and rests on %+v", got, out.Trust)
	}
}

// An outcome is compared with one of another member that the founder has let in, and what both have come to is used; a
// liar is out although the owner has a copy of an honest member.
func TestQuorumOfStrangers(t *testing.T) {
	t.Parallel()
	v, honest := impatient(t), impatient(t)
	join(t, v, honest, control.Invitation{})
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 12, control.Submission{Verify: "quorum=2"})
	r.steals(t, run).lies(t)
	out := end()
	if got := answer(t, out); got != 650 {
		t.Errorf("the answer is %d", got)
	}
	if out.Trust == nil || !slices.Equal(out.Trust.Caught, []string{r.ID().String()}) || out.Trust.Proved == 0 {
		t.Errorf("it rests on %+v", out.Trust)
	}
}

// Where peers are believed by their records a stranger has none: what it brings is computed again until that is enough.
// A liar is out, and the answer says with which probability it is wrong, and what that rests on.
func TestDoubtOfStrangers(t *testing.T) {
	t.Parallel()
	v, honest := impatient(t), impatient(t)
	join(t, v, honest, control.Invitation{})
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 12, control.Submission{Verify: "doubt=1e-4"})
	r.steals(t, run).lies(t)
	out := end()
	if got := answer(t, out); got != 650 {
		t.Errorf("the answer is %d", got)
	}
	x := out.Trust
	if x == nil || x.Mode != "doubt=1e-4" || !slices.Equal(x.Caught, []string{r.ID().String()}) || x.Here == 0 ||
		x.WrongAtMost > 1e-4*float64(x.Proved) || x.OnLiars != 0 ||
		!strings.Contains(x.Bound, "if at most one stranger in 5 lies, in a share of its results that does not change") {
		t.Errorf("it rests on %+v", x)
	}
}

// Where the owner's machine is not to make copies a run waits until there are members enough, says for how many, and
// goes on when one has come.
func TestOthersMakeAllCopies(t *testing.T) {
	t.Parallel()
	v, one := impatient(t), impatient(t)
	join(t, v, one, control.Invitation{})
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2,others"})
	until(t, "both compute", func() bool { return leavesOf(t).begun.Load() == 2 })
	leavesOf(t).open.Store(true)
	until(t, "it says what it waits for", func() bool {
		list, err := v.Runs(patience(t))
		return err == nil && slices.ContainsFunc(list, func(r control.RunInfo) bool {
			return r.Run == run.Hex() && strings.HasPrefix(r.Waits,
				"jobs whose results wait to be compared: 1, until 1 more members by others take part")
		})
	})
	join(t, v, impatient(t), control.Invitation{})
	out := end()
	if got := answer(t, out); got != 5 {
		t.Errorf("the answer is %d", got)
	}
	if x := out.Trust; x == nil || x.Proved != 1 || x.Copies == 0 || x.Here > 0 {
		t.Errorf("it rests on %+v", x)
	}
}

// A verified run has its root at its owner's machine and nowhere else: one that is paused says that the run waits for
// that, and the run goes on when the pause is over.
func TestPausedOwnerIsWaitedFor(t *testing.T) {
	t.Parallel()
	v, one := impatient(t), impatient(t)
	join(t, v, one, control.Invitation{})
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	until(t, "both compute", func() bool { return leavesOf(t).begun.Load() == 2 })
	if err := v.Pause(patience(t), 0); err != nil {
		t.Fatal(err)
	}
	waits := func(p *peer.Peer) string {
		list, err := p.Runs(patience(t))
		i := slices.IndexFunc(list, func(r control.RunInfo) bool { return r.Run == run.Hex() })
		if err != nil || i < 0 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[i].Waits
	}
	if got := waits(v); !strings.Contains(got, "satin-peer resume") {
		t.Errorf("it waits for %q", got)
	}
	if err := one.Pause(patience(t), 0); err != nil {
		t.Fatal(err)
	}
	if got := waits(one); got != "" {
		t.Errorf("the other waits for %q", got)
	}
	for _, p := range []*peer.Peer{v, one} {
		if err := p.Resume(patience(t)); err != nil {
			t.Fatal(err)
		}
	}
	if got := waits(v); got != "" {
		t.Errorf("it still waits for %q", got)
	}
	if got := answer(t, end()); got != 5 {
		t.Errorf("the answer is %d", got)
	}
}

func init() {
	satin.Register("hostile.braids", braids, satin.Exact())
	satin.Register("hostile.plait", plait, satin.Exact())
	satin.Register("hostile.braid", braid, satin.Exact())
	satin.Register("hostile.ropes", ropes, satin.Exact())
	satin.Register("hostile.rope", rope, satin.Exact())
	satin.Register("hostile.knot", knot, satin.Exact())
}

// braided counts, so that no two runs of a job come to the same.
var braided atomic.Int64

func braids(f *satin.Frame, p Part) int { return added(f, plait, p) }

// plait is made of a job that shares a lattice, and long enough to be a node by itself.
func plait(f *satin.Frame, p Part) int {
	leaf(f, p)
	return satin.Spawn(f, braid, p.N).Get()
}

func braid(f *satin.Frame, n int) int {
	for begun := time.Now(); time.Since(begun) < 30*time.Millisecond; { // which is long enough, too
		lends(f)
	}
	l := satin.ShareLattice(f, most, n, 0)
	l.Offer(f, int(braided.Add(1)))
	return l.Value(f)
}

// Two honest members come to different results of jobs that share a lattice, of functions that say of none that its
// results may differ: nobody is put out, the owner's own result counts, and the answer says so.
func TestHonestMembersDiffer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"quorum=2", "spot=1"} {
		differ(t, "hostile.braids", mode)
	}
}

// differ has two honest members and an owner compute jobs of which some share lattices and come to different results.
func differ(t *testing.T, fn, mode string) {
	t.Helper()
	v, one, two := impatient(t), impatient(t), impatient(t)
	join(t, v, one, control.Invitation{})
	join(t, v, two, control.Invitation{})
	_, end := waitingRun(t, v, fn, 3, control.Submission{Verify: mode})
	until(t, "all compute", func() bool { return leavesOf(t).begun.Load() == 3 })
	x := end().Trust
	if x == nil || len(x.Caught) > 0 || x.Here == 0 || !strings.Contains(x.Bound, "share a lattice of their own") {
		t.Errorf("%s: it rests on %+v", mode, x)
	}
	for _, p := range []*peer.Peer{one, two} {
		if v.Revoked(idOf(t, p)) {
			t.Errorf("%s: an honest member is out", mode)
		}
		p.Close()
	}
	v.Close()
}

// roped counts how often the rope with a number, and its knot, have begun.
var roped [8]struct{ ropes, knots atomic.Int64 }

func ropes(f *satin.Frame, p Part) int { return added(f, rope, p) }

// rope is made of a job that shares a lattice. From the third time on it gives others time to steal that.
func rope(f *satin.Frame, p Part) int {
	leaf(f, p)
	n := p.N
	times, knots := roped[n].ropes.Add(1), roped[n].knots.Load()
	x := satin.Spawn(f, knot, n)
	for begun := time.Now(); times > 2 && time.Since(begun) < time.Second && roped[n].knots.Load() == knots; {
		lends(f)
	}
	return x.Get()
}

// knot comes to something else the first two times, and then to the same.
func knot(f *satin.Frame, n int) int {
	times := roped[n].knots.Add(1)
	l := satin.ShareLattice(f, most, n, 0)
	l.Offer(f, int(min(times, 3)))
	return l.Value(f)
}

// What an owner computes to compare it is computed by its own machine alone. If others had a part of it, on whose word
// that is used, it would not see that a lattice is shared there, and put honest members out by what these have said.
func TestOwnCopiesAreOwn(t *testing.T) {
	t.Parallel()
	for i := range roped {
		roped[i].ropes.Store(0)
		roped[i].knots.Store(0)
	}
	differ(t, "hostile.ropes", "quorum=2")
}

// What the user has vouched for is not computed again.
func TestTrustedPeers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"doubt=1e-4", "quorum=2"} {
		own := impatient(t)
		v := impatient(t, idOf(t, own))
		join(t, v, own, control.Invitation{})
		_, end := pairs(t, v, 12, control.Submission{Verify: mode})
		until(t, "both compute", func() bool { return leavesOf(t).begun.Load() == 2 })
		out := end()
		if got := answer(t, out); got != 650 {
			t.Errorf("%s: the answer is %d", mode, got)
		}
		if x := out.Trust; x == nil || x.Proved == 0 || x.Copies+x.Here > 0 || x.WrongAtMost > 0 {
			t.Errorf("%s: it rests on %+v", mode, x)
		}
		own.Close()
		v.Close()
	}
}

// Members give nothing on of a run that is compared, or two of them might have an outcome from the same third.
func TestComparedPeersHoard(t *testing.T) {
	t.Parallel()
	v, honest := impatient(t), impatient(t)
	join(t, v, honest, control.Invitation{})
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 12, control.Submission{Verify: "quorum=2"})
	until(t, "both compute", func() bool { return leavesOf(t).begun.Load() == 2 })
	x := r.steals(t, run)
	id := mustDecode(t, idOf(t, honest))
	connect(t, r, honest)
	x.send(steal.Address{Peer: steal.PeerID(id.String())},
		&steal.Message{Request: &steal.StealRequest{ID: 1, Max: 4}})
	m := x.wait(t, "an answer", func(m *steal.Message) bool { return m.Reply != nil })
	if len(m.Reply.Jobs) > 0 {
		t.Errorf("it gives %d jobs on", len(m.Reply.Jobs))
	}
	if got := answer(t, end()); got != 650 {
		t.Errorf("the answer is %d", got)
	}
}

// What cannot be compared is refused in a line, and so is what is not known.
func TestVerifyRefused(t *testing.T) {
	v := computing(t)
	for mode, want := range map[string]string{
		"quorum=2": "hostile.small is registered without a way to compare them", "quorum=1": "K from 2 to 5",
		"spot=1%": "want members, spot=R with a share R of the nodes from 0.0001 to 1, quorum=K", "spot=0": "spot=R", "doubt=2": "a probability P from 1e-09 to 0.1", "doubt=NaN": "from 1e-09 to 0.1",
	} {
		_, err := v.Submit(patience(t), control.Submission{App: "hostile", Function: "hostile.small",
			Argument: []byte{1}, Verify: mode})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// connect has a member connect to another one than the victim.
func connect(t *testing.T, r *rogue, p *peer.Peer) {
	t.Helper()
	st, err := p.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range st.Addresses {
		if err = r.Connect(patience(t), a); err == nil {
			return
		}
	}
	t.Fatal(err)
}
