package peer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// verified begins a run whose outcomes are compared.
func verified(t *testing.T, p *peer.Peer, mode string, arg Forest) (run string) {
	t.Helper()
	return verifiedAs(t, p, mode, "count", arg)
}

// verifiedAs is the same with another root.
func verifiedAs(t *testing.T, p *peer.Peer, mode, entry string, arg Forest) (run string) {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest." + entry, Argument: b,
		Verify: mode})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run
}

// What a tab computes for a verified run of its member's is compared like a stranger's: with two tabs of one member
// this machine has to compute again what they bring, and nobody is blamed.
func TestVisitorsAreCompared(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"quorum=2", "doubt=1e-3", "spot=1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a := open(t, browsers)
			work := lastWith(t, 10)
			run := verified(t, a, mode, work.arg)
			v, _ := visit(t, link(t, a, run))
			w, _ := visit(t, link(t, a, ""))
			until(t, "both have worked", func() bool { return v.Status().Executed > 20 && w.Status().Executed > 20 })
			work.end(t)
			out, err := a.Wait(deadline(t), run, nil)
			again := out.Trust != nil && out.Trust.Here > 0 // of jobs as a whole
			if mode == "spot=1" {
				again = out.Trust != nil && out.Trust.Reran > out.Trust.Here && out.Trust.Nodes > out.Trust.Proved
			}
			if err != nil || !again || len(out.Trust.Caught) > 0 {
				t.Errorf("it rests on %+v, %v", out.Trust, err)
			}
			if got := await[int](t, a, run); got != work.want {
				t.Errorf("the answer is %d", got)
			}
			if v.Status().Given+w.Status().Given > 0 {
				t.Error("a job was given on")
			}
		})
	}
}

// claim has a tab say that a job came to a number, with so many nodes behind that.
func (x *intruder) claim(j *steal.Grant, from steal.Address, n int, behind ...verify.Claim) {
	x.t.Helper()
	value, err := wire.Value().Encode(n)
	if err != nil {
		x.t.Fatal(err)
	}
	out, err := wire.Value().Encode(&compute.Outcome{Value: value})
	if err != nil {
		x.t.Fatal(err)
	}
	said := (&verify.Opening{Node: driver.NodeOf(j.Job.Path, j.Job.Identity), Outcome: compute.Digest(out),
		Children: behind}).Claim()
	m := x.message()
	m.To, m.Result = from, &steal.Result{Handle: j.Handle, Path: j.Job.Path, Identity: j.Job.Identity, Outcome: out}
	if m.Result.Voucher, err = statement.Vouch(x.key, x.work.Run, &said); err != nil {
		x.t.Fatal(err)
	}
	x.say(&tab.Frame{Steal: m})
}

// A tab that lies in a verified run is named and put out, and the answer is right.
func TestLyingTab(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"quorum=2", "spot=1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a := open(t, browsers)
			work := lastWith(t, 10)
			run := verified(t, a, mode, work.arg)
			x := intrude(t, link(t, a, run), nil)
			x.begin()
			j, from := x.take()
			x.claim(&j, from, 7)
			work.end(t)
			if got := await[int](t, a, run); got != work.want {
				t.Errorf("the answer is %d", got)
			}
			out, err := a.Wait(deadline(t), run, nil)
			if err != nil || out.Trust == nil || !slices.Equal(out.Trust.Caught, []string{string(x.id)}) {
				t.Errorf("it rests on %+v, %v", out.Trust, err)
			}
			for f := x.hear(); f == nil || f.Over == nil || f.Over.Run == x.work.Run; f = x.hear() {
				if f == nil {
					t.Fatal("it is not told why it is out")
				}
			}
			if !x.ends() {
				t.Error("it keeps its place")
			}
		})
	}
}

// A tab that claims a tree and shows something else of it, or garbage, costs its member the job, and is not blamed: its
// outcomes are right.
func TestTabThatShowsSomethingElse(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	work := lastWith(t, 10)
	run := verified(t, a, "spot=1", work.arg)
	x := intrude(t, link(t, a, run), nil)
	x.begin()
	for _, shown := range [][]byte{nil, []byte("garbage"), {0xa0}} {
		j, from := x.take()
		var job Forest
		if err := wire.Value().Decode(j.Job.Arg, &job); err != nil {
			t.Fatal(err)
		}
		below := driver.NodeOf(append(slices.Clone(j.Job.Path), 1), j.Job.Identity)
		x.claim(&j, from, 1<<job.Depth, verify.Claim{Node: below, Nodes: 1})
		f := x.hear()
		for ; f != nil && f.Ask == nil; f = x.hear() {
		}
		if f == nil {
			t.Fatal("it is not asked")
		}
		x.say(&tab.Frame{Show: &tab.Show{Tree: f.Ask.Tree, Node: shown}})
		x.say(&tab.Frame{Show: &tab.Show{Tree: f.Ask.Tree, Node: shown}}) // nobody waits for a second one
	}
	_ = x.conn.Close()
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d", got)
	}
	out, err := a.Wait(deadline(t), run, nil)
	if err != nil || out.Trust == nil || len(out.Trust.Caught) > 0 || out.Trust.Here == 0 {
		t.Errorf("it rests on %+v, %v", out.Trust, err)
	}
}

// A tab is in the hands of the member that has signed its ticket, also when it has gone: else that member and its tab
// would be two where outcomes are compared.
func TestHandsOfTabs(t *testing.T) {
	t.Parallel()
	closed := func(c *peer.Config) { c.Host.Trust, c.Host.Swarm = host.TrustInvite, "" }
	a := open(t, closed, browsers, func(c *peer.Config) { c.Host.Swarm = "lab" })
	b := open(t, closed, browsers)
	inv, err := a.Invite(t.Context(), control.Invitation{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Join(deadline(t), inv.Line); err != nil {
		t.Fatal(err)
	}
	of := link(t, b, "")
	for ticket, want := range map[string]*peer.Peer{of: b, link(t, a, ""): a} {
		x := intrude(t, of, func(v *statement.Visit) { _, v.Ticket = dial(t, ticket) })
		until(t, "it is here", func() bool { return b.Guests() == 1 })
		here := b.HandOf(x.id)
		_ = x.conn.Close()
		until(t, "it has gone", func() bool { return b.Guests() == 0 })
		if gone := b.HandOf(x.id); here != want.ID().String() || gone != here {
			t.Errorf("it is in the hands of %s, and of %s when it has gone, not of %s", here, gone, want.ID())
		}
	}
}

// Tabs help with a verified run by a link of its owner's only.
func TestVerifiedRunsOfOthers(t *testing.T) {
	t.Parallel()
	a, b := open(t, browsers), open(t, browsers)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	work := last(t)
	run := verified(t, a, "quorum=2", work.arg)
	until(t, "the other takes part", func() bool { return runs(t, b)[run].State == control.RunRunning })
	_, err := b.Share(t.Context(), control.Sharing{Run: run})
	if err == nil || !strings.Contains(err.Error(), "a link of its owner's only") {
		t.Errorf("%v", err)
	}
	work.end(t)
}
