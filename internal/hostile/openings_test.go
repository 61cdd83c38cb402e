package hostile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

func init() {
	satin.Register("hostile.grove", grove, satin.Exact())
	satin.Register("hostile.tree", tree, satin.Exact())
	satin.Register("hostile.twig", twig, satin.Exact())
	satin.Register("hostile.gate", gate, satin.Exact())
}

// grove adds up trees: one is computed here, and as long as the gate is shut others may steal the rest.
func grove(f *satin.Frame, p Part) int { return added(f, tree, p) }

func tree(f *satin.Frame, p Part) int {
	satin.Spawn(f, gate, Part{Test: p.Test}).Get()
	return satin.Spawn(f, twig, bough{2, p.N}).Get()
}

func gate(f *satin.Frame, p Part) int { return leaf(f, p) }

// A bough is a part of a tree.
type bough struct{ Depth, N int }

// twig adds up numbers that follow from n; each takes as long as an outcome must that is kept.
func twig(f *satin.Frame, b bough) int {
	if b.Depth == 0 {
		time.Sleep(compute.DefaultKeepAfter)
		return b.N
	}
	x := satin.Spawn(f, twig, bough{b.Depth - 1, 2 * b.N})
	y := satin.Spawn(f, twig, bough{b.Depth - 1, 2*b.N + 1})
	return y.Get() + x.Get()
}

// sumOf is what a twig comes to.
func (b bough) sumOf() int {
	if b.Depth == 0 {
		return b.N
	}
	return bough{b.Depth - 1, 2 * b.N}.sumOf() + bough{b.Depth - 1, 2*b.N + 1}.sumOf()
}

func groveOf(n int) (sum int) {
	for i := range n {
		sum += bough{2, i + 1}.sumOf()
	}
	return sum
}

// whichShown is package peer's, as it travels.
type whichShown struct {
	Run  job.RunID   `cbor:"1,keyasint"`
	Tree verify.Hash `cbor:"2,keyasint"`
}

// An exhibitor computes trees by hand, says what it likes of them, and shows how it came to that.
type exhibitor struct {
	*robber
	lie   func(b bough, is int) int                   // what it says of a twig
	alter func(s *driver.OpenedNode, c *verify.Claim) // what it shows
	made  map[verify.Hash]*driver.OpenedNode

	voucher []byte // of the last node
}

func (x *robber) exhibits(t *testing.T, lie func(b bough, is int) int) *exhibitor {
	t.Helper()
	e := &exhibitor{robber: x, lie: lie, made: map[verify.Hash]*driver.OpenedNode{}}
	x.Network().SetStreamHandler("/satin/opening/1", func(s network.Stream) {
		var q whichShown
		b, err := wire.ReadFrame(s, nil, wire.MaxValue)
		if err == nil {
			err = wire.Value().Decode(b, &q)
		}
		e.mu.Lock()
		a := e.made[q.Tree]
		e.mu.Unlock()
		if err == nil && a != nil {
			if b, err = wire.Value().Encode(a); err == nil {
				err = wire.WriteFrame(s, b, wire.MaxValue)
			}
		}
		if err != nil || a == nil {
			_ = s.Reset()
			return
		}
		_ = s.Close()
	})
	return e
}

// commits makes a node of a job and what is below it, and keeps what there is to show of it.
func (e *exhibitor) commits(t *testing.T, path job.Path, fn string, arg any, is int,
	below ...driver.OpenedChild) driver.OpenedChild {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	c := driver.OpenedChild{Path: slices.Clone(path), Identity: job.Identify(fn, b), Outcome: square(t, is)}
	c.Digest = compute.Digest(c.Outcome)
	o := &verify.Opening{Node: driver.NodeOf(path, c.Identity), Outcome: c.Digest, Time: 1000}
	for _, x := range driver.GivenOf(below) {
		o.Children, o.Time = append(o.Children, x.Claim), o.Time+x.Time
	}
	claim := o.Claim()
	c.Tree, c.Nodes, c.Time = claim.Tree, claim.Nodes, claim.Time
	s := &driver.OpenedNode{Function: fn, Argument: b, Children: below}
	if s.Voucher, err = statement.Vouch(e.key, e.run, &claim); err != nil {
		t.Fatal(err)
	}
	e.voucher = s.Voucher
	if e.alter != nil {
		e.alter(s, &claim)
	}
	e.mu.Lock()
	e.made[c.Tree] = s
	e.mu.Unlock()
	return c
}

// twig computes one, and all below it, each a node.
func (e *exhibitor) twig(t *testing.T, path job.Path, b bough) (c driver.OpenedChild, is int) {
	t.Helper()
	if b.Depth == 0 {
		is = e.lie(b, b.N)
		return e.commits(t, path, "hostile.twig", b, is), is
	}
	left, x := e.twig(t, append(slices.Clone(path), 1), bough{b.Depth - 1, 2 * b.N})
	right, y := e.twig(t, append(slices.Clone(path), 2), bough{b.Depth - 1, 2*b.N + 1})
	is = e.lie(b, x+y)
	return e.commits(t, path, "hostile.twig", b, is, left, right), is
}

// tree is the result of a stolen tree.
func (e *exhibitor) tree(t *testing.T, g *steal.Grant) *steal.Message {
	t.Helper()
	p := part(t, &g.Job)
	if g.Job.Function != "hostile.tree" {
		t.Fatalf("it has stolen %+v", g.Job)
	}
	c, is := e.twig(t, append(slices.Clone(g.Job.Path), 2), bough{2, p.N})
	whole := e.commits(t, g.Job.Path, g.Job.Function, p, e.lie(bough{3, p.N}, is), c)
	return &steal.Message{Result: &steal.Result{Handle: g.Handle, Path: g.Job.Path, Identity: g.Job.Identity,
		Outcome: whole.Outcome, Voucher: e.voucher}}
}

func (e *exhibitor) brings(t *testing.T, g *steal.Grant, to steal.Address) {
	t.Helper()
	e.send(to, e.tree(t, g))
	e.wait(t, "it is taken", func(m *steal.Message) bool { return m.Ack != nil })
}

func honestly(_ bough, is int) int { return is }

// Of three real peers one makes its results up, and commits to a tree of them: one of its nodes is run again, and
// it is out. Nothing is said of the other one, whose nodes are run again as well. The answer says what it rests on.
func TestSpotOfStrangers(t *testing.T) {
	t.Parallel()
	v, honest := impatient(t), impatient(t)
	join(t, v, honest, control.Invitation{})
	r := invited(t, v)
	r.volunteers(t)
	run, end := waitingRun(t, v, "hostile.grove", 8, control.Submission{Verify: "spot=0.5"})
	liar := r.steals(t, run).exhibits(t, func(_ bough, is int) int { return is + 1 })
	g, from := liar.take(t)
	liar.brings(t, &g, from)
	out := end()
	if got := answer(t, out); got != groveOf(8) {
		t.Errorf("the answer is %d, not %d", got, groveOf(8))
	}
	x := out.Trust
	if x == nil || !slices.Equal(x.Caught, []string{r.ID().String()}) || x.Mode != "spot=0.5" || x.Reran == 0 ||
		x.Nodes < 8 || !strings.Contains(x.Bound, "one wrong node of a job, among many, it finds with probability 0.39 only") {
		t.Errorf("it rests on %+v", x)
	}
	until(t, "the liar is out", func() bool { return v.Revoked(r.ID().String()) })
}

// Two that differ are taken down to the one node that is wrong: its author is named by that node alone.
func TestDescentOfStrangers(t *testing.T) {
	t.Parallel()
	cfg := hostConfig(t)
	v, err := peer.Open(t.Context(), peer.Config{Host: cfg, Workers: 1, Cluster: "here", FullPriority: true},
		[]peer.Application{{Name: "hostile"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	first, second := invited(t, v), invited(t, v)
	first.volunteers(t)
	second.volunteers(t)
	run, end := waitingRun(t, v, "hostile.grove", 2, control.Submission{Verify: "quorum=2"})
	a := first.steals(t, run).exhibits(t, honestly)
	b := second.steals(t, run).exhibits(t, func(b bough, is int) int {
		if b.Depth == 1 && b.N%2 == 1 { // the second of two
			is++
		}
		return is
	})
	g, from := a.take(t)
	a.brings(t, &g, from)
	pushed := b.wait(t, "a copy is asked for", func(m *steal.Message) bool {
		return m.Reply != nil && m.Reply.ID == 0 && len(m.Reply.Jobs) > 0
	})
	b.brings(t, &pushed.Reply.Jobs[0], from)
	liar := second.ID().String()
	until(t, "the liar is out", func() bool { return v.Revoked(liar) })
	out := end()
	if got := answer(t, out); got != groveOf(2) {
		t.Errorf("the answer is %d, not %d", got, groveOf(2))
	}
	if x := out.Trust; x == nil || !slices.Equal(x.Caught, []string{liar}) || x.Disputes != 1 || x.Reran != 1 ||
		x.Nodes != 16 {
		t.Errorf("it rests on %+v", x)
	}
	file, err := os.Open(filepath.Join(cfg.StateDir, "lies", liar+".lie"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	proof, err := wire.ReadFrame(file, nil, wire.MaxValue)
	if err != nil {
		t.Fatal(err)
	}
	var x accusation
	if err := wire.Value().Decode(proof, &x); err != nil {
		t.Fatal(err)
	}
	if wrong := append(slices.Clone(g.Job.Path), 2, 2); !slices.Equal(x.Path, wrong) || len(x.Truth.Voucher) > 0 ||
		len(x.Children) != 2 || len(x.Children[0].Outcome) == 0 || len(x.Children[1].Outcome) == 0 {
		t.Errorf("the proof is about %v, not %v, with %d children", x.Path, wrong, len(x.Children))
	}
}

// A node that its author has signed, with the outcomes of its children, convinces members by itself that it is wrong,
// whoever shows it to them.
func TestNodesConvince(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	liar, other := invited(t, v), invited(t, v)
	run, end := waitingRun(t, v, "hostile.grove", 1, control.Submission{Verify: "spot=1"})
	end()
	e := liar.steals(t, run).exhibits(t, func(b bough, is int) int { return is + b.Depth })
	c, _ := e.twig(t, job.Path{1, 2}, bough{1, 3})
	s := e.made[c.Tree]
	tells := other.speaks(t)
	until(t, "who has signed a node that is wrong is out", func() bool {
		tells(gossip.KindAccusation, &accusation{Run: run, Path: c.Path, Function: s.Function, Argument: s.Argument,
			Said: testimony{Digest: c.Digest, Voucher: s.Voucher}, Children: s.Children})
		return v.Revoked(liar.ID().String())
	})
	if v.Revoked(other.ID().String()) {
		t.Error("who has shown it is out")
	}
}

// Whoever shows something else than what it has committed to is not believed, and not out either: the owner computes
// these jobs. Here all that it says is true.
func TestHostileOpenings(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	r := invited(t, v)
	r.volunteers(t)
	stranger := newKey(t)
	var run job.RunID
	var end func() control.Outcome
	cases := map[string]func(s *driver.OpenedNode, c *verify.Claim){
		"another job":      func(s *driver.OpenedNode, _ *verify.Claim) { s.Argument = append(s.Argument, 0) },
		"no such function": func(s *driver.OpenedNode, _ *verify.Claim) { s.Function = "hostile.none" },
		"a child that says more": func(s *driver.OpenedNode, _ *verify.Claim) {
			s.Children = alter(s.Children, func(c *driver.OpenedChild) { c.Outcome = square(t, 9) })
		},
		"and has signed it": func(s *driver.OpenedNode, _ *verify.Claim) {
			s.Children = alter(s.Children, func(c *driver.OpenedChild) {
				c.Outcome = square(t, 9)
				c.Digest = compute.Digest(c.Outcome)
			})
		},
		"other times": func(s *driver.OpenedNode, _ *verify.Claim) {
			s.Children = alter(s.Children, func(c *driver.OpenedChild) { c.Time = 1 })
		},
		"a child less":   func(s *driver.OpenedNode, _ *verify.Claim) { s.Children = s.Children[:len(s.Children)/2] },
		"nothing signed": func(s *driver.OpenedNode, _ *verify.Claim) { s.Voucher = nil },
		"another's word": func(s *driver.OpenedNode, c *verify.Claim) {
			s.Voucher, _ = statement.Vouch(stranger, run, c)
		},
		"too much": func(s *driver.OpenedNode, _ *verify.Claim) { s.Argument = make([]byte, 2<<20) },
	}
	run, end = waitingRun(t, v, "hostile.grove", len(cases)+2, control.Submission{Verify: "spot=1"})
	x := r.steals(t, run).exhibits(t, honestly)
	for _, x.alter = range cases {
		g, from := x.take(t)
		x.send(from, x.tree(t, &g))
	}
	until(t, "all are refused", func() bool { return acks(x.robber) == len(cases) })
	out := end()
	if got := answer(t, out); got != groveOf(len(cases)+2) {
		t.Errorf("the answer is %d, not %d", got, groveOf(len(cases)+2))
	}
	if y := out.Trust; y == nil || len(y.Caught) > 0 || y.Here != uint64(len(cases)) || y.Reran > 0 {
		t.Errorf("it rests on %+v", y)
	}
}

// alter changes the first child.
func alter(list []driver.OpenedChild, f func(c *driver.OpenedChild)) []driver.OpenedChild {
	list = slices.Clone(list)
	if len(list) > 0 {
		f(&list[0])
	}
	return list
}

func acks(x *robber) (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range x.got {
		if m.Ack != nil {
			n++
		}
	}
	return n
}
