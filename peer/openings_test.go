package peer

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

func init() {
	satin.Register("peertest.exact", exactly, satin.Exact())
	satin.Register("peertest.answers", answers, satin.Exact(), satin.Certificate(isAnswer))
	satin.Register("peertest.endless", endless, satin.Exact())
	satin.Register("peertest.reads", reads, satin.Exact())
}

func endless(f *satin.Frame, n int) int {
	for !f.Aborted() {
		runtime.Gosched()
	}
	return n
}

func reads(f *satin.Frame, c satin.Constant[int]) int { return c.Read(f) }

// answers is a job whose result may be that there is none.
func answers(f *satin.Frame, n int) int { return exactly(f, n) }

func isAnswer(_, result int) (bool, error) {
	if result < 0 {
		return false, satin.ErrNothing
	}
	return false, nil
}

// exactly is fib with both children spawned.
func exactly(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, exactly, n-1)
	y := satin.Spawn(f, exactly, n-2)
	return y.Get() + x.Get()
}

// What was committed to is shown to the owner of its run and nobody else, until the run is over or there is too
// much of it.
func TestCommitments(t *testing.T) {
	_, ownerID := newKey(t)
	_, strangerID := newKey(t)
	own, _ := newKey(t)
	x := &commitments{key: own}
	remember := func(run byte, arg []byte) verify.Hash {
		m := &driver.Made{Job: steal.Job{Path: job.Path{1}, Function: "f", Arg: arg, Identity: job.Identify("f", arg)}}
		c := (&verify.Opening{Node: driver.NodeOf(m.Job.Path, m.Job.Identity)}).Claim()
		x.of(&statement.SignedManifest{Run: job.RunID{run}, Owner: ownerID})(&c, m)
		return c.Tree
	}
	ask := func(from peer.ID, run byte, tree verify.Hash) bool {
		q, err := wire.Value().Encode(&whichOpening{job.RunID{run}, tree})
		if err != nil {
			t.Fatal(err)
		}
		a, err := x.show(from, q)
		return err == nil && a.(*driver.OpenedNode).Function == "f"
	}
	first := remember(1, []byte{1})
	if !ask(ownerID, 1, first) || ask(strangerID, 1, first) || ask(ownerID, 2, first) ||
		ask(ownerID, 1, verify.Hash{}) {
		t.Error("it is shown to others than the run's owner, or not to that one")
	}
	second := remember(2, []byte{2})
	x.forget(job.RunID{1})
	if ask(ownerID, 1, first) || !ask(ownerID, 2, second) {
		t.Error("another run is forgotten than the one that is over")
	}
	const piece = 4 << 20
	var last []verify.Hash
	for i := range maxCommitted / piece {
		last = append(last, remember(3, bytes.Repeat([]byte{byte(i)}, piece)))
	}
	if ask(ownerID, 2, second) || ask(ownerID, 3, last[0]) || !ask(ownerID, 3, last[1]) {
		t.Error("more is remembered than there is room for, or less, or the oldest")
	}
}

// FuzzOpening reads what a peer may show of a node: nothing of it is outside of the node, or in it twice.
func FuzzOpening(f *testing.F) {
	children := []driver.OpenedChild{{Path: job.Path{1, 1}, Nodes: 2, Outcome: []byte{3}},
		{Path: job.Path{1, 2, 300}, Nodes: 1}}
	for _, a := range []driver.OpenedNode{{}, {Function: "f", Argument: []byte{1}, Voucher: []byte{2},
		Children: children}} {
		b, err := wire.Value().Encode(&a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var a driver.OpenedNode
		if wire.Value().Decode(b, &a) != nil {
			return
		}
		path := job.Path{1}
		o := &verify.Opening{Node: driver.NodeOf(path, job.Identify(a.Function, a.Argument))}
		for _, g := range driver.GivenOf(a.Children) {
			o.Children = append(o.Children, g.Claim)
		}
		c := o.Claim()
		if !o.Opens(&c) {
			return
		}
		sum := uint64(1)
		for i, child := range a.Children {
			if sum += child.Nodes; !path.Above(child.Path) || child.Nodes == 0 || i > 0 &&
				(a.Children[i-1].Path.Compare(child.Path) >= 0 || a.Children[i-1].Path.Above(child.Path)) {
				t.Fatalf("%v opens", a.Children)
			}
		}
		if sum != c.Nodes {
			t.Fatalf("%d nodes are %d", sum, c.Nodes)
		}
	})
}

// newCourt is one that has nothing of a job's run.
func newCourt() *court {
	return &court{engine: func(of *runs.Manifest) (port.Live, error) {
		return compute.New(compute.Config{Run: of.Run, Self: "x", Workers: 1, KeepAfter: -1})
	}, live: func(job.RunID) *session.Session { return nil }}
}

// A node that is wrong shows that by itself: it is run again with the outcomes of its children that its author has
// signed, be they right or wrong, and with nothing that the accuser says.
func TestNodesAreTried(t *testing.T) {
	fib := func(n, is int) *accusation {
		arg, err := wire.Value().Encode(n)
		if err != nil {
			t.Fatal(err)
		}
		return &accusation{Run: job.RunID{1}, Path: job.Path{7}, Function: "peertest.exact", Argument: arg,
			Said: testimony{Digest: compute.Digest(ResultOf(t, is))}}
	}
	child := func(path job.Path, n, is int) driver.Given {
		a := fib(n, is)
		return driver.Given{Bytes: ResultOf(t, is), Claim: verify.Claim{Node: driver.NodeOf(path,
			job.Identify(a.Function, a.Argument)), Outcome: a.Said.Digest, Nodes: 1}}
	}
	for name, c := range map[string]struct {
		n, is int
		given []driver.Given
		lies  bool
	}{
		"right":                     {10, 55, nil, false},
		"wrong":                     {10, 56, nil, true},
		"right for its child":       {10, 56, []driver.Given{child(job.Path{7, 1}, 9, 35)}, false},
		"wrong for its child":       {10, 55, []driver.Given{child(job.Path{7, 1}, 9, 35)}, true},
		"a child that it has not":   {10, 55, []driver.Given{child(job.Path{7, 1}, 3, 99)}, false},
		"deeper":                    {10, 56, []driver.Given{child(job.Path{7, 1, 1}, 8, 22)}, false},
		"only hashes of its child":  {10, 55, []driver.Given{{Claim: child(job.Path{7, 1}, 9, 35).Claim}}, false},
		"wrong, whatever the child": {10, 57, []driver.Given{child(job.Path{7, 1}, 9, 35)}, true},
	} {
		a := fib(c.n, c.is)
		a.Children = driver.ChildrenOf(c.given)
		liar := newCourt().try(t.Context(), &charge{accusation: *a, said: "accused",
			of: &runs.Manifest{Rounding: compute.Rounding()}})
		if (liar != "") != c.lies || liar != "" && liar != "accused" {
			t.Errorf("%s: the liar is %q", name, liar)
		}
	}
}

// Guards that a result that says nothing convicts nobody, judged alone or held against an answer; one that is wrong
// does.
func TestNothingIsNoLie(t *testing.T) {
	arg, err := wire.Value().Encode(10)
	if err != nil {
		t.Fatal(err)
	}
	word := func(n int) testimony {
		return testimony{Outcome: ResultOf(t, n), Digest: compute.Digest(ResultOf(t, n))}
	}
	for _, c := range []struct {
		said, truth int
		against     peer.ID
		liar        peer.ID
	}{{-1, 55, "", ""}, {-1, 55, "accuser", ""}, {55, -1, "accuser", ""}, {-1, 55, "accused", ""},
		{56, 55, "accuser", "accused"}, {55, 56, "accuser", "accuser"}} {
		a := accusation{Run: job.RunID{1}, Path: job.Path{7}, Function: "peertest.answers", Argument: arg,
			Said: word(c.said), Truth: word(c.truth)}
		if liar := newCourt().try(t.Context(), &charge{accusation: a, said: "accused", against: c.against,
			of: &runs.Manifest{Rounding: compute.Rounding()}}); liar != c.liar {
			t.Errorf("%d against %d of %q: the liar is %q", c.said, c.truth, c.against, liar)
		}
	}
}

// Guards that two words of one author about one job convict it where the job comes to its end, and nowhere else: it may
// share a lattice of its own after that.
func TestTrialsWithoutAnEnd(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	broken := newCourt()
	broken.engine = func(*runs.Manifest) (port.Live, error) { return nil, errTooOften }
	talking := newCourt()
	talking.engine = func(*runs.Manifest) (port.Live, error) { return new(talker), nil }
	for name, c := range map[string]struct {
		ctx   context.Context
		court *court
		fn    string
		arg   any
		liar  peer.ID
	}{
		"it ends":                  {t.Context(), newCourt(), "peertest.exact", 10, "twice"},
		"it takes too long":        {over, newCourt(), "peertest.endless", 0, ""},
		"it reads what is nowhere": {t.Context(), newCourt(), "peertest.reads", satin.NewConstant(7), ""},
		"it talks without end":     {over, talking, "peertest.exact", 10, ""},
		"nothing can be run":       {t.Context(), broken, "peertest.exact", 10, ""},
	} {
		arg, _, err := compute.HandOver(c.arg)
		if err != nil {
			t.Fatal(err)
		}
		a := accusation{Run: job.RunID{1}, Path: job.Path{7}, Function: c.fn, Argument: arg,
			Said: testimony{Digest: verify.Hash{1}}, Truth: testimony{Digest: verify.Hash{2}}}
		if liar := c.court.try(c.ctx, &charge{accusation: a, said: "twice", against: "twice",
			of: &runs.Manifest{Rounding: compute.Rounding()}}); liar != c.liar {
			t.Errorf("%s: the liar is %q", name, liar)
		}
	}
}

// A talker is an engine that has always something to tell, and the end of its job when nobody waits for it any more.
type talker struct {
	port.Live
	polls int
}

func (*talker) Do(*port.Order) {}
func (*talker) Close()         {}

func (x *talker) Poll() ([]port.Event, time.Duration) {
	if x.polls++; x.polls > 1000 {
		return []port.Event{{Kind: port.Finished}}, 0
	}
	return []port.Event{{Kind: port.LoadChanged}}, 0
}

// ResultOf is what comes of a job that returns a number.
func ResultOf(t *testing.T, n int) []byte {
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

// Guards that what is to be tried of a run that was forgotten meanwhile is an error, and not the daemon's end.
func TestForgottenRunsAreNotTried(t *testing.T) {
	if e, err := (&crew{}).trialEngine(nil); err == nil {
		t.Errorf("it is tried by %v", e)
	}
}
