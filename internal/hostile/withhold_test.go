package hostile

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

func init() { satin.Register("hostile.robbed", robbedTree) }

// robbed says that the withholder has a job.
var robbed atomic.Bool

// robbedTree counts the leaves of a binary tree, each of which lasts until somebody has stolen something.
func robbedTree(f *satin.Frame, depth int) int {
	if depth > 0 {
		x := satin.Spawn(f, robbedTree, depth-1)
		return robbedTree(f, depth-1) + x.Get()
	}
	for !robbed.Load() && !f.Aborted() {
		lends(f)
	}
	return 1
}

// A withholder takes all jobs that it can get of a run, lists them in its heartbeats, and brings nothing home.
type withholder struct {
	*rogue
	run    job.RunID
	stream *stream.Transport

	mu     sync.Mutex
	victim steal.Address
	held   []steal.Handle
	sent   uint64
}

func (w *withholder) sends(m steal.Message) {
	m.Run, m.From, m.To = w.run, steal.Address{Peer: steal.PeerID(w.ID().String()), Inc: 1}, w.victim
	w.stream.Send(&m)
}

func (w *withholder) hears(m *steal.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.victim = m.From
	if m.Reply == nil {
		return
	}
	for i := range m.Reply.Jobs {
		w.held = append(w.held, m.Reply.Jobs[i].Handle)
	}
	slices.Sort(w.held)
	w.held = slices.Compact(w.held)
	robbed.Store(len(w.held) > 0)
}

// introduces itself as one that takes part: with the application, in the victim's cluster.
func (r *rogue) introduces(t *testing.T) {
	var answer meeting
	if err := r.say(t, "/satin/meet/1", &meeting{}, &answer); err != nil {
		t.Fatal(err)
	}
	mine := &statement.Card{Swarm: swarmName, Incarnation: 1, Seq: 1, At: time.Now().Unix(), Label: "here",
		Cluster: "here", Cores: 1, Addrs: []string{"/ip4/127.0.0.1/tcp/9"}, Proof: r.Proof()}
	for _, b := range answer.Cards {
		if c, err := statement.OpenCard(b); err == nil && len(c.Apps) > 0 {
			mine.Apps = c.Apps
		}
	}
	signed, err := mine.Sign(r.Network().Peerstore().PrivKey(r.ID()))
	if err != nil || len(mine.Apps) == 0 {
		t.Fatal(err, mine.Apps)
	}
	if err := r.say(t, "/satin/meet/1", &meeting{Cards: [][]byte{signed.Bytes}}, &answer); err != nil {
		t.Fatal(err)
	}
}

// asks is what it says again and again.
func (w *withholder) asks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	w.sends(steal.Message{Request: &steal.StealRequest{ID: steal.RequestID(w.sent), Max: 16}})
	if w.victim.Inc != 0 {
		w.sends(steal.Message{Heartbeat: &steal.Heartbeat{Seq: w.sent, Held: slices.Clone(w.held), Leases: 1,
			Every: 50 * time.Millisecond}})
	}
}

// A member that takes jobs, says that it has them and never returns one does not keep a run from ending.
func TestWithheldJobs(t *testing.T) {
	t.Parallel()
	robbed.Store(false) // the test may be run again
	cfg := peer.Config{Host: hostConfig(t), Workers: 1, Cluster: "here", Steal: steal.Local(), FullPriority: true}
	cfg.Steal.LeaseEnd, cfg.Steal.HeartbeatEvery = 100*time.Millisecond, 50*time.Millisecond
	v, err := peer.Open(t.Context(), cfg, []peer.Application{{Name: "hostile"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	w := &withholder{rogue: invited(t, v)}
	w.stream = stream.New(w.Network(), stream.Config{}, stream.Handler{Received: w.hears,
		Failed: func(*steal.Message, error) {}})
	t.Cleanup(func() { _ = w.stream.Close() })
	w.introduces(t)
	arg, err := wire.Value().Encode(6)
	if err != nil {
		t.Fatal(err)
	}
	r, err := v.Submit(patience(t), control.Submission{App: "hostile", Function: "hostile.robbed", Argument: arg})
	if err != nil {
		t.Fatal(err)
	}
	id, ok := job.ParseRunID(r.Run)
	if !ok {
		t.Fatalf("%q is no run", r.Run)
	}
	w.run, w.victim.Peer = id, steal.PeerID(idOf(t, v))
	ended := make(chan struct{})
	var out control.Outcome
	ctx := patience(t)
	go func() {
		defer close(ended)
		out, err = v.Wait(ctx, r.Run, nil)
	}()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(5 * time.Millisecond):
			w.asks()
		}
	}
	var n int
	if err != nil || out.State != control.RunDone || wire.Value().Decode(out.Result, &n) != nil || n != 64 {
		t.Errorf("the run ends with %+v, %v: %d", out, err, n)
	}
	if !robbed.Load() {
		t.Error("the withholder got nothing")
	}
}
