package peer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/sharedobj"
)

func init() {
	satin.RegisterObject("peertest.sum", summed)
	satin.RegisterLattice("peertest.most", most, honest)
	satin.Register("peertest.loan", loan)
	satin.Register("peertest.borrow", borrow)
	satin.Register("peertest.taste", taste)
	satin.Register("peertest.nothing", nothing)
}

func summed(old []int, n int) []int { return append(append([]int(nil), old...), n) }

func most(a, b int) int { return max(a, b) }

func honest(_ string, n int) error {
	if n > 1000 {
		return errors.New("there is no such number")
	}
	return nil
}

func nothing(_ *satin.Frame, n int) int { return n }

// Loan names what jobs share.
type Loan struct {
	Text satin.Constant[string]
	Sum  satin.Object[[]int, int]
	Most satin.Lattice[string, int]
}

// stealable spawns jobs of no use, which can be stolen, until the lattice has grown so far: somebody else has to see to
// that.
func stealable(f *satin.Frame, l satin.Lattice[string, int], least int) {
	for i := 0; l.Value(f) < least; i++ {
		satin.Spawn(f, nothing, i).Get()
	}
}

// loan has a job that others steal read all kinds of shared values, and reads what that has made.
func loan(f *satin.Frame, length int) string {
	l := Loan{satin.ShareConstant(f, strings.Repeat("x", length)), satin.Share(f, summed, []int{1}).Write(f, 2),
		satin.ShareLattice(f, most, "numbers", 10)}
	away := satin.Spawn(f, borrow, l)
	stealable(f, l.Most, 77)
	made := away.Get()
	return made.Read(f)
}

// borrow is stolen, and gives away in its turn what names a value that it has made.
func borrow(f *satin.Frame, l Loan) satin.Constant[string] {
	l.Most.Offer(f, 77+len(l.Sum.Read(f))-2)
	own := Loan{Text: satin.ShareConstant(f, l.Text.Read(f)+"y"), Most: l.Most}
	back := satin.Spawn(f, taste, own)
	stealable(f, l.Most, 100)
	return back.Get()
}

func taste(f *satin.Frame, l Loan) satin.Constant[string] {
	text := l.Text.Read(f)
	l.Most.Offer(f, 100)
	return satin.ShareConstant(f, text+"z")
}

// A tab reads what the run shares, what it shares in its turn is read by others, and what either offers both know.
func TestVisitorShares(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	const length = 200_000
	run := submit(t, a, "loan", length)
	v, _ := visit(t, link(t, a, run))
	if got, want := await[string](t, a, run), strings.Repeat("x", length)+"yz"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if s := v.Status(); s.Given == 0 {
		t.Errorf("nothing was stolen from the visitor: %+v", s)
	}
}

// A tab that speaks for another one of what is shared is cut off; and what it offers without a witness is not used.
func TestIntrudersShareNothing(t *testing.T) {
	t.Parallel()
	var log book
	a := open(t, browsers, logging(&log))
	run := submit(t, a, "loan", 10)
	x := intrude(t, link(t, a, run), nil)
	x.begin()
	lie := func(value int) *tab.Frame {
		b, err := wire.Shared().Encode(&value)
		if err != nil {
			t.Fatal(err)
		}
		seed, err := wire.Shared().Encode(&struct {
			About  string `cbor:"1,keyasint"`
			Bottom int    `cbor:"2,keyasint"`
		}{"numbers", 10})
		if err != nil {
			t.Fatal(err)
		}
		r := sharedobj.Recipe{Kind: sharedobj.Lattice, Name: "peertest.most", State: sharedobj.Build(seed).Blob}
		return &tab.Frame{Shared: &tab.Shared{Run: x.work.Run,
			News: &sharedobj.News{Offers: []sharedobj.Offer{{Digest: r.Digest(), Value: b}}}}}
	}
	until(t, "the lie is refused", func() bool {
		x.say(lie(1001)) // nothing is known of the lattice until a job that names it has left
		x.ask()
		return log.has("there is no such number")
	})
	_ = x.conn.Close() // it may have lied too often to be listened to, and has a job
	y := intrude(t, link(t, a, run), nil)
	y.begin()
	until(t, "what cannot be told from a true one is used", func() bool {
		y.say(lie(1000)) // it counts when the session knows the tab
		return runs(t, a)[run].State == control.RunDone
	})
	forged := &sharedobj.Message{From: "12D3", To: sharedobj.PeerID(y.member), Ask: &sharedobj.Ask{}}
	y.say(&tab.Frame{Shared: &tab.Shared{Run: y.work.Run, Message: forged}})
	if !y.ends() {
		t.Error("who speaks for another is heard")
	}
	if got := await[string](t, a, run); got != strings.Repeat("x", 10)+"yz" {
		t.Errorf("%q", got)
	}
}
