package hostile

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// lives begins a life of the peer of a disk, which soon is master again.
func lives(t *testing.T, disk host.Config) *peer.Peer {
	return computing(t, func(c *peer.Config) {
		c.Host, c.Steal, c.Checkpoint = disk, steal.Local(), time.Millisecond
		c.Steal.MasterLease, c.Steal.BeaconEvery, c.Steal.RankStagger = 250*time.Millisecond, briefly, briefly
	})
}

// What is handed over as the root's outcome is the answer in no life of the owner's. (It was stored as such, and was
// the answer when the owner had restarted.)
func TestAnswerHandedOver(t *testing.T) {
	t.Parallel()
	disk := hostConfig(t)
	v := lives(t, disk)
	r := invited(t, v)
	r.volunteers(t)
	run, _ := pairs(t, v, 2, control.Submission{})
	x := r.steals(t, run)
	g, from := x.take(t)
	arg, n := argument(t, Part{t.Name(), 2}), part(t, &g.Job).N
	x.send(from, &steal.Message{HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{
		x.signed(t, nil, job.Identify("hostile.pair", arg), square(t, 100), x.key),
		x.signed(t, g.Job.Path, g.Job.Identity, square(t, n*n), x.key)}}}) // which is true
	x.wait(t, "it is taken", func(m *steal.Message) bool { return m.HandOverAck != nil && !m.HandOverAck.Leaving })
	v.Close()
	leavesOf(t).open.Store(true)
	out, err := lives(t, disk).Wait(patience(t), run.Hex(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, out); got != 5 {
		t.Errorf("the answer is %d", got)
	}
}

// Nor is it what a peer shows that is asked for what it has, because the run is to be suspended.
func TestAnswerCollected(t *testing.T) {
	v := computing(t, func(c *peer.Config) { c.Checkpoint = time.Millisecond })
	r := invited(t, v)
	r.volunteers(t)
	asked := make(chan struct{}, 1)
	run, end := pairs(t, v, 2, control.Submission{})
	arg := argument(t, Part{t.Name(), 2})
	x := r.steals(t, run)
	b, err := wire.Value().Encode(x.signed(t, nil, job.Identify("hostile.pair", arg), square(t, 100), x.key))
	if err != nil {
		t.Fatal(err)
	}
	r.Network().SetStreamHandler("/satin/collect/1", func(s network.Stream) {
		defer s.Close()
		if _, err := wire.ReadFrame(s, nil, 1<<10); err == nil && wire.WriteFrame(s, b, wire.MaxValue) == nil {
			_ = wire.WriteFrame(s, nil, 0)
		}
		asked <- struct{}{}
	})
	if err := v.Suspend(patience(t), run.Hex()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	default:
		t.Error("nobody has asked")
	}
	if _, err := v.ResumeRun(patience(t), control.Resumption{Run: run.Hex()}); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, end()); got != 5 {
		t.Errorf("the answer is %d", got)
	}
}

// Nor is it what somebody has put on the owner's disk, or what an older peer has let get there: nobody has signed it.
func TestAnswerOnDisk(t *testing.T) {
	t.Parallel()
	disk := hostConfig(t)
	v := lives(t, disk)
	run, _ := pairs(t, v, 2, control.Submission{})
	dir := filepath.Join(disk.StateDir, "checkpoints", run.Hex())
	var header checkpoint.Header
	until(t, "the run is on the disk", func() bool {
		s, err := checkpoint.Read(dir, checkpoint.Header{}, nil)
		if err != nil {
			return false
		}
		defer s.Close()
		m, err := s.Manifest()
		header = checkpoint.HeaderOf(run, m)
		return err == nil
	})
	v.Close()
	l, err := checkpoint.Open(dir, header, checkpoint.Config{})
	if err != nil {
		t.Fatal(err)
	}
	arg := argument(t, Part{t.Name(), 2})
	if !l.AppendOutcome(nil, job.Identify("hostile.pair", arg), square(t, 100), nil) {
		t.Fatal("it is not taken")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	leavesOf(t).open.Store(true)
	out, err := lives(t, disk).Wait(patience(t), run.Hex(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, out); got != 5 {
		t.Errorf("the answer is %d", got)
	}
}

// says signs that a run is answered.
func says(t *testing.T, key crypto.PrivKey, run job.RunID, outcome []byte) []byte {
	t.Helper()
	now := time.Now()
	s, err := (&statement.Answered{Run: run, Hash: statement.HashOutcome(outcome), At: now.Unix(),
		Until: now.Add(time.Hour).Unix()}).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return s.Bytes
}

// has gives an outcome to whoever asks for an answer, and counts who does.
func (r *rogue) has(outcome []byte) (asked *atomic.Int64) {
	asked = &atomic.Int64{}
	r.Network().SetStreamHandler("/satin/answer/1", func(s network.Stream) {
		defer s.Close()
		asked.Add(1)
		if _, err := wire.ReadFrame(s, nil, 1<<10); err == nil {
			_ = wire.WriteFrame(s, outcome, wire.MaxValue)
		}
	})
	return asked
}

// at is the same rogue, before another victim.
func (r *rogue) at(t *testing.T, p *peer.Peer) *rogue {
	t.Helper()
	connect(t, r, p)
	return &rogue{r.Host, mustDecode(t, idOf(t, p))}
}

// meets tells its victim something, and returns when that was taken in.
func (r *rogue) meets(t *testing.T, what *meeting) {
	t.Helper()
	until(t, "it may meet its victim", func() bool { return r.say(t, "/satin/meet/1", what, &meeting{}) == nil })
}

func infoAt(t *testing.T, p *peer.Peer, run job.RunID) (i control.RunInfo) {
	t.Helper()
	list, err := p.Runs(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, i = range list {
		if i.Run == run.Hex() {
			return i
		}
	}
	return control.RunInfo{}
}

// deputy is a rogue that is the first deputy of a run of v, which w takes part in; end is that of pairs.
func deputy(t *testing.T, v, w *peer.Peer) (r *rogue, run job.RunID, end func() control.Outcome) {
	t.Helper()
	r = invited(t, v)
	r.volunteers(t)
	join(t, v, w, control.Invitation{})
	run, end = pairs(t, v, 4, control.Submission{})
	until(t, "the other takes part", func() bool { return infoAt(t, w, run).State == control.RunRunning })
	if d := infoAt(t, v, run).Deputies; len(d) == 0 || d[0] != r.ID().String() {
		t.Fatalf("the deputies are %v", d)
	}
	return r, run, end
}

// A deputy that says that it has the answer ends nothing while the owner computes: neither there nor where others take
// part, and though it calls itself master of the run, too, with the answer. (The owner gave its root up to that, and
// believed it then.) The others, when they have heard the owner, do not take it for the master either. (They took
// whoever spoke last.) Nor does it end anything when the owner has an answer: that stays, and the run is disputed.
func TestAnswerOfADeputy(t *testing.T) {
	t.Parallel()
	v, w := computing(t), computing(t)
	r, run, end := deputy(t, v, w)
	lie := square(t, 100)
	asked, claim := r.has(lie), &meeting{Answers: [][]byte{says(t, keyOf(r), run, lie)}}
	there, tells, beacon := r.at(t, w), r.speaks(t), steal.Beacon{Rank: 1, Answered: &[16]byte{1}}
	usurps := func() {
		beacon.Seq++
		tells(gossip.KindNews, &steal.News{Run: run, Master: &beacon,
			From: steal.Address{Peer: steal.PeerID(r.ID().String()), Inc: 1}})
		tells(gossip.KindLoad, map[int]any{1: run, 5: map[int]any{29: int(1e9)}}) // a million seconds of processors
		r.meets(t, claim)
		there.meets(t, claim)
	}
	until(t, "it is heard, and the owner", func() bool {
		usurps()
		i := infoAt(t, w, run)
		return i.CPU > 1e5 && i.Master == idOf(t, v)
	})
	for range 20 {
		usurps()
	}
	for _, p := range []*peer.Peer{v, w} {
		if m := infoAt(t, p, run).Master; m != idOf(t, v) {
			t.Errorf("%q has the root", m)
		}
	}
	if a, b := infoAt(t, v, run).State, infoAt(t, w, run).State; a != control.RunRunning || b != control.RunRunning {
		t.Errorf("the run is %s at its owner, %s where others take part", a, b)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d have asked for the outcome", n)
	}
	if got := answer(t, end()); got != 30 {
		t.Errorf("the answer is %d", got)
	}
	until(t, "the run is disputed", func() bool { r.meets(t, claim); return infoAt(t, v, run).Disputed })
	if got := answer(t, end()); got != 30 {
		t.Errorf("then it is %d", got)
	}
}

// A deputy that says that it has the answer when the owner is gone ends nothing unless it was heard as master: another
// one becomes master, and computes the answer.
func TestDeputyShowsThatItLed(t *testing.T) {
	t.Parallel()
	for _, led := range []bool{false, true} {
		soon := func(c *peer.Config) { // masters that are silent are not awaited as long as a user's would be
			c.Steal = beating(250 * time.Millisecond)
			c.Steal.MasterLease, c.Steal.BeaconEvery, c.Steal.RankStagger = time.Second, 250*time.Millisecond, briefly
		}
		v, w := computing(t, soon), computing(t, soon, func(c *peer.Config) {
			c.Runs = runs.DefaultConfig()
			c.Runs.Vacant = time.Hour
		})
		r, run, _ := deputy(t, v, w)
		lie := square(t, 100)
		there, claim := r.at(t, w), &meeting{Answers: [][]byte{says(t, keyOf(r), run, lie)}}
		r.has(lie)
		tells, beacon := r.speaks(t), steal.Beacon{Rank: 1}
		v.Close()
		until(t, "the other is master, or believes who comes before it", func() bool {
			if beacon.Seq++; led {
				tells(gossip.KindNews, &steal.News{Run: run, Master: &beacon,
					From: steal.Address{Peer: steal.PeerID(r.ID().String()), Inc: 1}})
			}
			there.meets(t, claim)
			i := infoAt(t, w, run)
			return !led && i.Master == idOf(t, w) || i.State != control.RunRunning
		})
		there.meets(t, claim)
		if i := infoAt(t, w, run); (i.State == control.RunDone) != led {
			t.Fatalf("%t: the run is %s: %s", led, i.State, i.Why)
		}
		leavesOf(t).open.Store(true)
		until(t, "it has ended", func() bool { return infoAt(t, w, run).State == control.RunDone })
		if why := infoAt(t, w, run).Why; strings.Contains(why, "this peer had the root job") == led {
			t.Errorf("%t: the run is done: %s", led, why)
		}
		w.Close()
	}
}

// A member that says that it has the answer when the owner has just come back, and calls itself master, decides
// nothing: others take part, who know nothing of that. (The owner believed it at once.)
func TestAnswerOfAMember(t *testing.T) {
	t.Parallel()
	disk := hostConfig(t)
	v, w := lives(t, disk), computing(t)
	r := invited(t, v)
	join(t, v, w, control.Invitation{})
	run, _ := pairs(t, v, 4, control.Submission{})
	until(t, "the other takes part", func() bool { return infoAt(t, w, run).State == control.RunRunning })
	lie := square(t, 100)
	asked, claim := r.has(lie), &meeting{Answers: [][]byte{says(t, keyOf(r), run, lie)}}
	v.Close()
	v = lives(t, disk)
	r = r.at(t, v)
	tells, beacon := r.speaks(t), steal.Beacon{Rank: 1 << 31}
	until(t, "the owner has the root", func() bool {
		beacon.Seq++
		tells(gossip.KindNews, &steal.News{Run: run, Master: &beacon,
			From: steal.Address{Peer: steal.PeerID(r.ID().String()), Inc: 1}})
		r.meets(t, claim)
		i := infoAt(t, v, run)
		return i.Master == idOf(t, v) || i.State != control.RunRunning
	})
	leavesOf(t).open.Store(true)
	out, err := v.Wait(patience(t), run.Hex(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, out); got != 30 {
		t.Errorf("the answer is %d", got)
	}
	if n := asked.Load(); n > 1 { // once afterwards, to compare
		t.Errorf("it was asked %d times", n)
	}
}

// keeps asks its victim to keep an answer, and gives what it says.
func (r *rogue) keeps(t *testing.T, claim, outcome []byte) bool {
	t.Helper()
	s, err := r.Network().NewStream(network.WithNoDial(patience(t), "connected"), r.victim, "/satin/keep/1")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	q, err := wire.Value().Encode(map[int]any{1: claim})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{q, outcome} { // whoever does not want it reads no outcome
		_, _ = s.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	}
	b, err := wire.ReadFrame(s, nil, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[int]bool
	if err := wire.Value().Decode(b, &kept); err != nil {
		t.Fatal(err)
	}
	return kept[1]
}

// Answers are kept for an owner that members have signed, two that differ and no third; none of them takes the place
// of what the owner has computed.
func TestAnswersBroughtToKeep(t *testing.T) {
	t.Parallel()
	v, w := computing(t), computing(t)
	join(t, v, w, control.Invitation{})
	r, friend := invited(t, v), invited(t, v)
	run, end := pairs(t, v, 4, control.Submission{})
	until(t, "the other takes part", func() bool { return infoAt(t, w, run).State == control.RunRunning })
	there := r.at(t, w)
	friend.at(t, w)
	for i, c := range []struct {
		by   crypto.PrivKey
		kept bool
	}{{newKey(t), false}, {keyOf(r), true}, {newKey(t), false}, {keyOf(friend), true}, {keyOf(r), false}} {
		lie := square(t, 100+i)
		if kept := there.keeps(t, says(t, c.by, run, lie), lie); kept != c.kept {
			t.Errorf("answer %d: kept is %t", i, kept)
		}
	}
	if got := answer(t, end()); got != 30 {
		t.Errorf("the answer is %d", got)
	}
}

// A newcomer takes part in a run although one that it met first has announced it and does not show what it is, and
// says besides that it is over.
func TestNewcomersFindTheRun(t *testing.T) {
	t.Parallel()
	v := computing(t)
	r := invitedAs(t, v, control.Invitation{MayInvite: true})
	run, end := pairs(t, v, 4, control.Submission{})
	asked, done := make(chan struct{}, 100), make(chan struct{})
	r.Network().SetStreamHandler("/satin/run/1", func(s network.Stream) {
		asked <- struct{}{}
		<-done
		_ = s.Reset()
	})
	t.Cleanup(func() { close(done) })
	r.Network().RemoveStreamHandler("/satin/peers/1") // the newcomer hears of nobody else by it
	w := computing(t, func(c *peer.Config) {
		c.Runs = runs.DefaultConfig()
		c.Runs.SecondAfter = briefly
	})
	line, err := r.Invite(patience(t), host.InviteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Join(patience(t), line); err != nil {
		t.Fatal(err)
	}
	grave, err := (&statement.Tombstone{Run: run, Reason: runs.Cancelled, At: time.Now().Unix(),
		Until: time.Now().Add(time.Hour).Unix()}).Sign(keyOf(r))
	if err != nil {
		t.Fatal(err)
	}
	there := r.at(t, w)
	there.meets(t, &meeting{Runs: [][16]byte{run}})
	there.meets(t, &meeting{Over: [][]byte{grave}})
	st, err := v.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Join(patience(t), st.Addresses[0]); err != nil {
		t.Fatal(err)
	}
	until(t, "the newcomer takes part", func() bool { return infoAt(t, w, run).State == control.RunRunning })
	select {
	case <-asked:
	default:
		t.Error("nobody has asked the first one")
	}
	if got := answer(t, end()); got != 30 {
		t.Errorf("the answer is %d", got)
	}
}
