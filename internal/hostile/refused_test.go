package hostile

import (
	"testing"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

// A volunteer that does not want a run, or anything of an owner, computes nothing of it, after a restart neither, and
// the owner cannot bring it back by announcing it again.
func TestVolunteersRefuse(t *testing.T) {
	owner := computing(t)
	submitSpin(t, owner)
	cfg := peer.Config{Host: hostConfig(t), Workers: 1, Cluster: "here", Every: briefly, FullPriority: true}
	open := func() *peer.Peer {
		v, err := peer.Open(t.Context(), cfg, []peer.Application{{Name: "hostile"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		return v
	}
	v := open()
	join(t, owner, v, control.Invitation{})
	running := func() bool { return stateAt(t, v) == control.RunRunning && spinning.Load() == 2 }
	until(t, "both compute", running)
	list, err := v.Runs(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []control.Refused{{Run: list[0].Run}, {Owner: idOf(t, owner)}} {
		if err := v.Refuse(patience(t), r); err != nil {
			t.Fatal(err)
		}
		until(t, "the owner computes alone", func() bool {
			return stateAt(t, v) == control.RunRefused && spinning.Load() == 1
		})
		v.Close()
		v = open()
		until(t, "it is heard of and refused after a restart", func() bool {
			return stateAt(t, v) == control.RunRefused
		})
		st, err := v.Status(patience(t))
		if err != nil || len(st.Refused) != 1 || st.Refused[0] != r {
			t.Errorf("refused are %v, %v", st.Refused, err)
		}
		r.Lift = true
		if err := v.Refuse(patience(t), r); err != nil {
			t.Fatal(err)
		}
		until(t, "both compute again", running)
	}
}
