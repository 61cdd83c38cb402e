package hostile

import (
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// An answer says on how many members' word it rests, at whatever remove; and when one of them is put out later, that it
// rests on that one.
func TestAnswersSayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	dir := ""
	v := computing(t, func(c *peer.Config) { dir = c.Host.StateDir })
	r, liar := invited(t, v), invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{})
	x := r.steals(t, run)
	made := func(path job.Path, id job.Identity, outcome []byte) steal.Partial {
		t.Helper()
		c := (&verify.Opening{Node: driver.NodeOf(path, id), Outcome: compute.Digest(outcome)}).Claim()
		var of verify.Authors
		of.Add(string(liar.ID()))
		voucher, err := statement.VouchMade(x.key, run, &c, &of)
		if err != nil {
			t.Fatal(err)
		}
		return steal.Partial{Path: path, Identity: id, Outcome: outcome, Voucher: voucher}
	}
	g, from := x.take(t)
	p := made(g.Job.Path, g.Job.Identity, square(t, 100))
	x.send(from, &steal.Message{Result: &steal.Result{Handle: g.Handle, Path: p.Path, Identity: p.Identity,
		Outcome: p.Outcome, Voucher: p.Voucher}})
	x.wait(t, "it is used", func(m *steal.Message) bool { return m.Ack != nil })
	o := end()
	if o.Trust == nil || o.Trust.Members != 2 || o.Trust.More || len(o.Trust.Revoked) > 0 || o.Warning != "" ||
		!strings.Contains(o.Trust.Bound, "it rests on the word of 2") {
		t.Errorf("the answer rests on %+v, and of it is said %q", o.Trust, o.Warning)
	}
	if err := v.Revoke(t.Context(), liar.ID().String()); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"then", "in its next life"} {
		o, err := v.Wait(patience(t), run.Hex(), nil)
		if err != nil || o.Trust == nil || !slices.Equal(o.Trust.Revoked, []string{liar.ID().String()}) ||
			!strings.Contains(o.Warning, liar.ID().String()) {
			t.Errorf("%s the answer rests on %+v, and of it is said %q, %v", when, o.Trust, o.Warning, err)
		}
		v.Close()
		v = computing(t, func(c *peer.Config) { c.Host.StateDir = dir })
	}
}
