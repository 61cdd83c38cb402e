package hostile

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

func init() {
	satin.Register("hostile.spin", spin)
	satin.Register("hostile.nothing", nothing)
}

func nothing(*satin.Frame, int) int { return 0 }

// spinning counts the jobs of spin that run.
var spinning atomic.Int64

// spin has jobs for everybody that last until they are told to end.
func spin(f *satin.Frame, depth int) int {
	if depth > 0 {
		x := satin.Spawn(f, spin, depth-1)
		return spin(f, depth-1) + x.Get()
	}
	spinning.Add(1)
	defer spinning.Add(-1)
	for !f.Aborted() {
		satin.Spawn(f, nothing, 0).Get() // lets thieves have what waits
		time.Sleep(time.Millisecond)
	}
	return 0
}

// Whoever is put out computes here no more, not even through a run that began before.
func TestRunsOfTheRevokedEnd(t *testing.T) {
	v := computing(t)
	owner := computing(t)
	join(t, v, owner, control.Invitation{})
	submitSpin(t, owner)
	until(t, "both compute", func() bool { return spinning.Load() == 2 && stateAt(t, v) == control.RunRunning })
	if err := v.Revoke(t.Context(), idOf(t, owner)); err != nil {
		t.Fatal(err)
	}
	until(t, "the run has ended here", func() bool { return stateAt(t, v) == control.RunCancelled })
	owner.Close()
	until(t, "nobody computes", func() bool { return spinning.Load() == 0 })
}

// Whoever is put out by the founder is out everywhere, with all that it has let in: also where its word came first,
// and for those who come later. Runs of a member by it end on peers that nobody told but the swarm.
func TestChainsFallWithTheirRoot(t *testing.T) {
	v, inviter, other, owner := computing(t), computing(t), computing(t), computing(t)
	join(t, v, inviter, control.Invitation{MayInvite: true})
	join(t, v, other, control.Invitation{})
	join(t, inviter, owner, control.Invitation{})
	submitSpin(t, owner)
	until(t, "the other one computes", func() bool { return stateAt(t, other) == control.RunRunning })
	if err := v.Revoke(t.Context(), idOf(t, inviter)); err != nil {
		t.Fatal(err)
	}
	until(t, "the run has ended elsewhere", func() bool { return stateAt(t, other) == control.RunCancelled })
	until(t, "they are forgotten elsewhere", func() bool {
		ids := known(t, other)
		return !slices.Contains(ids, idOf(t, inviter)) && !slices.Contains(ids, idOf(t, owner))
	})
	late := computing(t)
	join(t, v, late, control.Invitation{})
	until(t, "a newcomer has heard", func() bool { return late.Revoked(idOf(t, inviter)) })
	inviter.Close()
	owner.Close()
	until(t, "nobody computes", func() bool { return spinning.Load() == 0 })
}

// One that may invite puts out nobody but those whom it let in, however often and to whomever it says so.
func TestRevocationInAnothersPlace(t *testing.T) {
	v, other := victim(t), victim(t)
	join(t, v, other, control.Invitation{})
	r := invitedAs(t, v, control.Invitation{MayInvite: true})
	if err := r.Revoke(mustDecode(t, idOf(t, other))); err != nil {
		t.Fatal(err)
	}
	if err := r.Revoke(r.victim); err == nil { // its own list now keeps it from the victim: what is said is said before
		t.Log("the founder is out for the rogue alone")
	}
	said := r.Roll().Own()
	if len(said) != 2 {
		t.Fatalf("the rogue has made %d statements", len(said))
	}
	w := invited(t, v) // passes them on
	if err := w.say(t, "/satin/meet/1", &meeting{Out: append(said, []byte("garbage"))}, &meeting{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*peer.Peer{v, other} {
		if p.Revoked(idOf(t, other)) || p.Revoked(idOf(t, v)) {
			t.Error("one that may invite put out another, whom it has not let in")
		}
	}
	if ids := known(t, v); !slices.Contains(ids, idOf(t, other)) {
		t.Errorf("the founder knows %v", ids)
	}
}

// computing is a peer with this package's jobs.
func computing(t *testing.T, changes ...func(*peer.Config)) *peer.Peer {
	t.Helper()
	cfg := peer.Config{Host: hostConfig(t), Workers: 1, Cluster: "here", Every: briefly}
	for _, change := range changes {
		change(&cfg)
	}
	p, err := peer.Open(t.Context(), cfg, []peer.Application{{Name: "hostile"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// join has one peer become a member by an invitation of another.
func join(t *testing.T, inviter, joiner *peer.Peer, i control.Invitation) {
	t.Helper()
	made, err := inviter.Invite(patience(t), i)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := joiner.Join(patience(t), made.Line); err != nil {
		t.Fatal(err)
	}
}

func idOf(t *testing.T, p *peer.Peer) string {
	t.Helper()
	st, err := p.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	return st.Peer
}

// submitSpin begins a run with jobs for everybody.
func submitSpin(t *testing.T, owner *peer.Peer) {
	t.Helper()
	arg, err := wire.Value().Encode(4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Submit(patience(t), control.Submission{App: "hostile", Function: "hostile.spin",
		Argument: arg}); err != nil {
		t.Fatal(err)
	}
}

// stateAt is how far the last run is at a peer.
func stateAt(t *testing.T, p *peer.Peer) (s control.RunState) {
	t.Helper()
	list, err := p.Runs(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		s = r.State
	}
	return s
}

// until asks again and again whether something has come true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for ctx := patience(t); !true(); time.Sleep(5 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("not in time: %s", what)
		}
	}
}
