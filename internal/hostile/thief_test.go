package hostile

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

func init() {
	satin.Register("hostile.pair", pair, satin.Exact())
	satin.Register("hostile.leaf", leaf, satin.Exact())
}

// leaves are those of one test: so many have begun and wait, and they end when they are let go of.
type leaves struct {
	begun atomic.Int64
	open  atomic.Bool
}

// allLeaves are the leaves of tests, by the test's name.
var allLeaves sync.Map

func leavesOf(t *testing.T) *leaves {
	l, _ := allLeaves.LoadOrStore(t.Name(), &leaves{})
	return l.(*leaves)
}

// Part is what a job is about: a number, and the test whose leaves wait below it.
type Part struct {
	Test string
	N    int
}

// pair adds up leaves: one is computed here, and as long as that takes others may steal the rest.
func pair(f *satin.Frame, p Part) int { return added(f, leaf, p) }

// added has one job for each number from 1 on, and adds up what comes of them.
func added(f *satin.Frame, job func(*satin.Frame, Part) int, p Part) (sum int) {
	g := satin.Fork(f, job)
	for i := range p.N {
		g.Spawn(Part{p.Test, i + 1})
	}
	for r := range g.Results() {
		sum += r
	}
	return sum
}

// leaf waits, if it is a test's.
func leaf(f *satin.Frame, p Part) int {
	if l, ok := allLeaves.Load(p.Test); ok {
		l.(*leaves).wait(f)
	}
	return p.N * p.N
}

func (l *leaves) wait(f *satin.Frame) {
	l.begun.Add(1)
	defer l.begun.Add(-1)
	for !l.open.Load() && !f.Aborted() {
		lends(f)
	}
}

// argument is what a job is given.
func argument(t *testing.T, what any) []byte {
	t.Helper()
	b, err := wire.Value().Encode(what)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// part is what a job was given.
func part(t *testing.T, j *steal.Job) (p Part) {
	t.Helper()
	if err := wire.Value().Decode(j.Arg, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// pairs has a peer compute a sum of squares, and returns when one leaf runs; end lets go of it and gives the answer.
func pairs(t *testing.T, v *peer.Peer, n int, sub control.Submission) (run job.RunID, end func() control.Outcome) {
	t.Helper()
	return waitingRun(t, v, "hostile.pair", n, sub)
}

// waitingRun is the same of any function whose jobs wait for the leaves.
func waitingRun(t *testing.T, v *peer.Peer, fn string, n int, sub control.Submission) (run job.RunID,
	end func() control.Outcome) {
	t.Helper()
	l := leavesOf(t)
	l.open.Store(false)
	t.Cleanup(func() { l.open.Store(true) })
	sub.App, sub.Function, sub.Argument = "hostile", fn, argument(t, Part{t.Name(), n})
	info, err := v.Submit(patience(t), sub)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a leaf runs", func() bool { return l.begun.Load() > 0 })
	run, _ = job.ParseRunID(info.Run)
	return run, func() control.Outcome {
		t.Helper()
		l.open.Store(true)
		out, err := v.Wait(patience(t), info.Run, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// volunteers says that it takes part in runs, like any other member.
func (r *rogue) volunteers(t *testing.T) {
	t.Helper()
	r.volunteersFor(t, statement.App{Name: "hostile"})
}

func (r *rogue) volunteersFor(t *testing.T, apps ...statement.App) {
	t.Helper()
	c := cardWith(t, r.Network().Peerstore().PrivKey(r.ID()), &statement.Card{Cluster: "here", Proof: r.Proof(),
		Apps: apps})
	if err := r.say(t, "/satin/meet/1", &meeting{Cards: [][]byte{c}}, &meeting{}); err != nil {
		t.Fatal(err)
	}
}

// A robber steals jobs by hand, and does with them as it likes.
type robber struct {
	*rogue
	key  crypto.PrivKey
	run  job.RunID
	self steal.Address
	to   *stream.Transport
	last steal.RequestID

	mu  sync.Mutex
	got []*steal.Message
}

func (r *rogue) steals(t *testing.T, run job.RunID) *robber {
	t.Helper()
	x := &robber{rogue: r, key: r.Network().Peerstore().PrivKey(r.ID()), run: run,
		self: steal.Address{Peer: steal.PeerID(r.ID().String()), Inc: 1}}
	x.to = stream.New(r.Network(), stream.Config{}, stream.Handler{
		Received: func(m *steal.Message) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.got = append(x.got, m)
		},
		Failed: func(*steal.Message, error) {}})
	t.Cleanup(func() { _ = x.to.Close() })
	return x
}

// wait waits for a message.
func (x *robber) wait(t *testing.T, what string, is func(m *steal.Message) bool) (found *steal.Message) {
	t.Helper()
	until(t, what, func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, m := range x.got {
			if is(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// take steals one job.
func (x *robber) take(t *testing.T) (steal.Grant, steal.Address) {
	t.Helper()
	var m *steal.Message
	until(t, "a job is stolen", func() bool {
		x.last++
		id := x.last
		x.send(steal.Address{Peer: steal.PeerID(x.victim.String())}, &steal.Message{Request: &steal.StealRequest{ID: id,
			Max: 1, Patience: 100 * time.Millisecond}})
		m = x.wait(t, "an answer", func(m *steal.Message) bool { return m.Reply != nil && m.Reply.ID == id })
		return len(m.Reply.Jobs) > 0
	})
	return m.Reply.Jobs[0], m.From
}

func (x *robber) send(to steal.Address, m *steal.Message) {
	m.Run, m.From, m.To = x.run, x.self, to
	x.to.Send(m)
}

// square is what a leaf comes to, or to which it is said to have come.
func square(t *testing.T, n int) []byte {
	t.Helper()
	v, err := wire.Value().Encode(n)
	if err != nil {
		t.Fatal(err)
	}
	b, err := wire.Value().Encode(&compute.Outcome{Value: v})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// signed is an outcome of a job with the signature of somebody.
func (x *robber) signed(t *testing.T, path job.Path, id job.Identity, outcome []byte,
	key crypto.PrivKey) steal.Partial {
	t.Helper()
	c := (&verify.Opening{Node: driver.NodeOf(path, id), Outcome: compute.Digest(outcome)}).Claim()
	voucher, err := statement.Vouch(key, x.run, &c)
	if err != nil {
		t.Fatal(err)
	}
	return steal.Partial{Path: path, Identity: id, Outcome: outcome, Voucher: voucher}
}

// result is an outcome for a stolen job, signed by somebody.
func (x *robber) result(t *testing.T, g *steal.Grant, outcome []byte, key crypto.PrivKey) *steal.Message {
	t.Helper()
	p := x.signed(t, g.Job.Path, g.Job.Identity, outcome, key)
	return &steal.Message{Result: &steal.Result{Handle: g.Handle, Path: p.Path, Identity: p.Identity, Outcome: outcome,
		Voucher: p.Voucher}}
}

// What a thief brings without the signature of a member is not used: the job comes back, and is computed where it was
// spawned. What it has signed itself is used, so that what is tried here is not that nothing is.
func TestForgedAuthors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forge func(t *testing.T, x *robber, g *steal.Grant) *steal.Message
		sum   int
	}{
		"nobody": {func(t *testing.T, x *robber, g *steal.Grant) *steal.Message {
			m := x.result(t, g, square(t, 100), x.key)
			m.Result.Voucher = nil
			return m
		}, 5},
		"a key that was made for it": {func(t *testing.T, x *robber, g *steal.Grant) *steal.Message {
			return x.result(t, g, square(t, 100), newKey(t))
		}, 5},
		"another member": {func(t *testing.T, x *robber, g *steal.Grant) *steal.Message {
			m := x.result(t, g, square(t, 100), x.key)
			m.Result.Voucher = bytes.Replace(m.Result.Voucher, []byte(x.ID()), []byte(x.victim), 1)
			return m
		}, 5},
		"itself, for another outcome": {func(t *testing.T, x *robber, g *steal.Grant) *steal.Message {
			m := x.result(t, g, square(t, 1), x.key)
			m.Result.Outcome = square(t, 100)
			return m
		}, 5},
		"itself": {func(t *testing.T, x *robber, g *steal.Grant) *steal.Message {
			return x.result(t, g, square(t, 100), x.key)
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := computing(t)
			r := invited(t, v)
			r.volunteers(t)
			run, end := pairs(t, v, 2, control.Submission{})
			x := r.steals(t, run)
			g, from := x.take(t)
			m := c.forge(t, x, &g)
			x.send(from, m)
			if c.sum < 0 {
				x.wait(t, "it is used", func(m *steal.Message) bool { return m.Ack != nil })
			} else {
				x.send(from, &steal.Message{Heartbeat: &steal.Heartbeat{Seq: 1, Held: []steal.Handle{g.Handle}}})
				x.wait(t, "the thief hears that the job is not its own any more", func(m *steal.Message) bool {
					return m.Abort != nil && m.Abort.Handles[0] == g.Handle
				})
			}
			if got := answer(t, end()); (got == 5) != (c.sum == 5) {
				t.Errorf("the answer is %d", got)
			}
		})
	}
}

func answer(t *testing.T, out control.Outcome) (n int) {
	t.Helper()
	if err := wire.Value().Decode(out.Result, &n); err != nil {
		t.Fatalf("%v: %+v", err, out)
	}
	return n
}
