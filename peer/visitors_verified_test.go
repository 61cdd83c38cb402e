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
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// verified begins a run whose outcomes are compared.
func verified(t *testing.T, p *peer.Peer, mode string, arg Forest) (run string) {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest.count", Argument: b,
		Verify: mode})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run
}

// What a tab computes for a verified run of its member's is compared like a stranger's: with two tabs of one member
// this machine has to compute again what they bring, and nobody is blamed.
func TestVisitorsAreCompared(t *testing.T) {
	for _, mode := range []string{"quorum=2", "doubt=1e-3"} {
		t.Run(mode, func(t *testing.T) {
			a := open(t, browsers)
			arg := last(t).arg
			arg.Depth = 6
			run := verified(t, a, mode, arg)
			v, _ := visit(t, link(t, a, run))
			w, _ := visit(t, link(t, a, ""))
			until(t, "both have stolen", func() bool { return v.Status().Taken > 0 && w.Status().Taken > 0 })
			out, err := a.Wait(deadline(t), run, nil)
			if err != nil || out.Trust == nil || len(out.Trust.Caught) > 0 || out.Trust.Here == 0 {
				t.Errorf("it rests on %+v, %v", out.Trust, err)
			}
			if got := await[int](t, a, run); got != 64 {
				t.Errorf("the answer is %d", got)
			}
			if v.Status().Given+w.Status().Given > 0 {
				t.Error("a job was given on")
			}
		})
	}
}

// A tab that lies in a verified run is named and put out, and the answer is right.
func TestLyingTab(t *testing.T) {
	a := open(t, browsers)
	arg := last(t).arg
	arg.Depth = 6
	run := verified(t, a, "quorum=2", arg)
	x := intrude(t, link(t, a, run), nil)
	x.begin()
	j, from := x.take()
	value, err := wire.Value().Encode(7)
	if err != nil {
		t.Fatal(err)
	}
	lie, err := wire.Value().Encode(&compute.Outcome{Value: value})
	if err != nil {
		t.Fatal(err)
	}
	said := &verify.Claim{Node: driver.NodeOf(j.Job.Path, j.Job.Identity), Outcome: compute.Digest(lie)}
	m := x.message()
	m.To, m.Result = from, &steal.Result{Handle: j.Handle, Path: j.Job.Path, Identity: j.Job.Identity, Outcome: lie}
	if m.Result.Voucher, err = statement.Vouch(x.key, x.work.Run, said); err != nil {
		t.Fatal(err)
	}
	x.say(&tab.Frame{Steal: m})
	if got := await[int](t, a, run); got != 64 {
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
	x.say(&tab.Frame{Rest: &tab.Rest{}})
	if !x.ends() {
		t.Error("it is listened to")
	}
}

// Tabs help with a verified run by a link of its owner's only, and not where they would have to open what they claim.
func TestVerifiedRunsOfOthers(t *testing.T) {
	a, b := open(t, browsers), open(t, browsers)
	spot := last(t)
	checked := verified(t, a, "spot=1", spot.arg)
	_, bad := a.Share(t.Context(), control.Sharing{Run: checked})
	if bad == nil || !strings.Contains(bad.Error(), "spot checks") {
		t.Errorf("%v", bad)
	}
	spot.end(t)
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
