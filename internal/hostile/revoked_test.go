package hostile

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

func init() {
	satin.Register("hostile.spin", spin)
	satin.Register("hostile.nothing", nothing)
}

func nothing(*satin.Frame, int) int { return 0 }

// lends waits for a moment, and lets thieves have what waits here.
func lends(f *satin.Frame) {
	satin.Spawn(f, nothing, 0).Get()
	time.Sleep(time.Millisecond)
}

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
		lends(f)
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
	var said meeting
	r := invited(t, v).at(t, other)
	until(t, "a member meets the other one", func() bool { return r.say(t, "/satin/meet/1", &meeting{}, &said) == nil })
	if len(said.Out) == 0 {
		t.Error("a meeting tells nothing of whoever is out")
	}
	late := computing(t)
	join(t, v, late, control.Invitation{})
	until(t, "a newcomer has heard", func() bool { return late.Revoked(idOf(t, inviter)) })
	inviter.Close()
	owner.Close()
	until(t, "nobody computes", func() bool { return spinning.Load() == 0 })
}

// runAnswer is what somebody says of a run, as package peer encodes it.
type runAnswer struct {
	Manifest  []byte `cbor:"1,keyasint,omitempty"`
	Tombstone []byte `cbor:"2,keyasint,omitempty"`
	Known     bool   `cbor:"3,keyasint,omitempty"`
	Answered  []byte `cbor:"4,keyasint,omitempty"`
	Over      bool   `cbor:"5,keyasint,omitempty"`
	Roster    []byte `cbor:"6,keyasint,omitempty"`
	RosterAge uint16 `cbor:"7,keyasint,omitempty"`
}

// answering answers each question after a run with the same.
func answering(t *testing.T, a *runAnswer) network.StreamHandler {
	b, err := wire.Value().Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	return func(s network.Stream) {
		defer s.Close()
		if _, err := wire.ReadFrame(s, nil, 1<<10); err == nil {
			_ = wire.WriteFrame(s, b, wire.MaxValue)
		}
	}
}

// tellsOf has its victim be told of a run, and shows it the manifest; asked counts how often.
func (r *rogue) tellsOf(t *testing.T, run job.RunID, manifest []byte) (tell func(), asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	answer := answering(t, &runAnswer{Manifest: manifest})
	r.Network().SetStreamHandler("/satin/run/2", func(s network.Stream) {
		asked.Add(1)
		answer(s)
	})
	return func() { r.meets(t, &meeting{Runs: [][16]byte{run}}) }, asked
}

// A run falls with whoever has let its owner in also where nobody has met the owner, in this life at least: another
// one has passed it on. (It went on there: nobody could tell by whom the owner was a member.) One whose owner is no
// member, or is none any more, is not taken up.
func TestOwnersNobodyHasMet(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		disk := hostConfig(t)
		open := func() *peer.Peer {
			return computing(t, func(c *peer.Config) {
				c.Host, c.Checkpoint, c.Runs = disk, time.Millisecond, runs.DefaultConfig()
				c.Runs.DormantFor = briefly
			})
		}
		v, owner := open(), computing(t)
		r, friend := invitedAs(t, v, control.Invitation{MayInvite: true}), invited(t, v)
		r.Network().RemoveStreamHandler("/satin/peers/1") // neither hears of the other by it
		line, err := r.Invite(patience(t), host.InviteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := owner.Join(patience(t), line); err != nil {
			t.Fatal(err)
		}
		run, _ := pairs(t, owner, 2, control.Submission{})
		var known runAnswer
		if err := r.at(t, owner).say(t, "/satin/run/2", map[int]any{1: run, 2: true}, &known); err != nil {
			t.Fatal(err)
		}
		tell, _ := r.tellsOf(t, run, known.Manifest)
		tell()
		until(t, "it is taken up", func() bool { return infoAt(t, v, run).State == control.RunRunning })
		if again {
			until(t, "it is on the disk", func() bool {
				dir := filepath.Join(disk.StateDir, "checkpoints", run.Hex())
				s, err := checkpoint.Read(dir, checkpoint.Header{}, nil)
				if err != nil {
					return false
				}
				defer s.Close()
				_, err = s.Manifest()
				return err == nil
			})
			owner.Close()
			v.Close()
			v = open()
			until(t, "it goes on", func() bool { return infoAt(t, v, run).State == control.RunRunning })
			friend = friend.at(t, v)
		}
		if err := v.Revoke(t.Context(), r.ID().String()); err != nil {
			t.Fatal(err)
		}
		until(t, "it has ended", func() bool { return infoAt(t, v, run).State == control.RunCancelled })
		m, err := (&statement.Manifest{Swarm: swarmName, App: "hostile", Entry: "hostile.pair",
			Created: time.Now().Unix(), Expires: time.Now().Add(time.Hour).Unix()}).Sign(newKey(t))
		if err != nil {
			t.Fatal(err)
		}
		tell, asked := friend.tellsOf(t, m.Run, m.Bytes)
		until(t, "a run of nobody's is asked for once more", func() bool { tell(); return asked.Load() > 1 })
		if again {
			continue
		}
		v.Close()
		v = open() // it has forgotten the run, and not who is out
		tell, asked = friend.at(t, v).tellsOf(t, run, known.Manifest)
		until(t, "a run of one who is out is asked for once more", func() bool { tell(); return asked.Load() > 1 })
	}
}

// Daemons of before the proof work on: they get manifests of the three fields that they know, signed, and one that
// they pass on is taken up where its owner has been met, and gets the proof again.
func TestManifestsForDaemonsOfBefore(t *testing.T) {
	v, owner := computing(t), computing(t)
	join(t, v, owner, control.Invitation{})
	r := invited(t, v)
	run, _ := pairs(t, owner, 2, control.Submission{})
	ask := func(p *peer.Peer, version protocol.ID) []byte {
		t.Helper()
		var known runAnswer
		if err := r.at(t, p).say(t, version, map[int]any{1: run, 2: true}, &known); err != nil {
			t.Fatal(err)
		}
		return known.Manifest
	}
	before, now := ask(owner, "/satin/run/1"), ask(owner, "/satin/run/2")
	type sealed struct {
		Author    string `cbor:"1,keyasint"`
		Statement []byte `cbor:"2,keyasint"`
		Signature []byte `cbor:"3,keyasint"`
	}
	var s sealed
	if err := wire.Value().Decode(before, &s); err != nil {
		t.Fatal(err)
	}
	if err := wire.Value().Decode(now, &sealed{}); err == nil {
		t.Error("nothing is beside what is signed now")
	}
	if m, err := statement.OpenManifest(before); err != nil || m.Run != run || m.Proof != nil {
		t.Errorf("of before: %+v, %v", m, err)
	}
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
	cfg := peer.Config{Host: hostConfig(t), Workers: 1, Cluster: "here", Every: briefly, FullPriority: true}
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
