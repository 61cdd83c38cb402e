package peer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

// A second answer that differs is kept beside the first, and the run is disputed, also for the owner's next
// life. An equal one is nothing special.
func TestDisputedAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, in(dir)), open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	until(t, "the owner knows the other", func() bool {
		list,
			_ := a.Peers(context.Background())
		return len(list) == 1
	})
	run := submit(t, a, "fib", 20)
	if got := await[int](t, a, run); got != 6765 {
		t.Fatalf("fib(20) = %d", got)
	}
	if err := b.Claim(a, run, peer.ResultOf(t, 6765)); err != nil {
		t.Fatal(err)
	}
	until(t, "the other has heard that the owner has it", func() bool { b.Repeat(run); return !b.Holds(run) })
	if runs(t, a)[run].Disputed {
		t.Error("an equal answer is disputed")
	}
	if err := b.Claim(a, run, peer.ResultOf(t, 6766)); err != nil {
		t.Fatal(err)
	}
	until(t, "the run is disputed", func() bool { b.Repeat(run); return runs(t, a)[run].Disputed })
	check := func(life string) {
		o, err := a.Wait(context.Background(), run, nil)
		if err != nil || !o.Disputed || o.State != control.RunDone || !strings.Contains(o.Warning, b.ID().String()) {
			t.Errorf("%s: %+v, %v", life, o, err)
		}
		if got := await[int](t, a, run); got != 6765 {
			t.Errorf("%s: fib(20) = %d", life, got)
		}
	}
	check("the first life")
	a.Close()
	a = open(t, in(dir))
	check("the second life")
}

// Whoever is no deputy ends nobody's run by saying that it has the answer, as long as the owner or a deputy is
// alive, nor later if another leads it; and a deputy's word is good for nothing if it cannot show the outcome.
func TestFalseClaims(t *testing.T) {
	t.Parallel()
	owner, deputy := open(t, hasty), open(t, hasty)
	if _, err := deputy.Join(deadline(t), address(t, owner)); err != nil {
		t.Fatal(err)
	}
	until(t, "the owner knows the other", func() bool {
		list,
			_ := owner.Peers(context.Background())
		return len(list) == 1
	})
	run := submit(t, owner, "count", last(t).arg)
	liar := open(t, hasty)
	if _, err := liar.Join(deadline(t), address(t, owner)); err != nil {
		t.Fatal(err)
	}
	until(t, "all take part", func() bool { return works(t, deputy, run) && works(t, liar, run) })
	if d := runs(t, liar)[run].Deputies; len(d) != 1 || d[0] != deputy.ID().String() {
		t.Fatalf("deputies %v", d)
	}
	false1 := liar.Statement(run, peer.ResultOf(t, 1))
	if err := owner.HearAnswered(false1, liar); err != nil || stateOf(t, owner, run) != control.RunRunning {
		t.Errorf("the owner's run is %s, %v", stateOf(t, owner, run), err)
	}
	if err := deputy.HearAnswered(false1, liar); err != nil || stateOf(t, deputy, run) != control.RunRunning {
		t.Errorf("the deputy's run is %s, %v", stateOf(t, deputy, run), err)
	}
	for n := range 10 { // more than are remembered
		_ = deputy.HearAnswered(liar.Statement(run, peer.ResultOf(t, n)), liar)
	}
	if err := owner.HearAnswered(deputy.Statement(run, peer.ResultOf(t, 2)), liar); err != nil {
		t.Errorf("a deputy's statement: %v", err)
	}
	bad := *false1
	bad.Bytes = append([]byte{}, false1.Bytes...)
	bad.Bytes[len(bad.Bytes)-1] ^= 1
	if err := deputy.HearAnswered(&bad, liar); err == nil {
		t.Error("a forged statement is taken in")
	}
	if stateOf(t, owner, run) != control.RunRunning || stateOf(t, deputy, run) != control.RunRunning {
		t.Errorf("the run is %s and %s", stateOf(t, owner, run), stateOf(t, deputy, run))
	}
	// With the owner and all deputies gone, it counts if its author is heard to lead the run; if the witness does, it
	// goes on.
	witness := open(t, hasty)
	if _, err := witness.Join(deadline(t), address(t, owner)); err != nil {
		t.Fatal(err)
	}
	until(t, "the witness takes part", func() bool {
		s := stateOf(t, witness, run)
		if s == control.RunDone {
			t.Fatal("a deputy's word ends the run, and its owner is there")
		}
		return s == control.RunRunning
	})
	if err := witness.HearAnswered(false1, liar); err != nil {
		t.Error(err)
	}
	for _, p := range []*peer.Peer{owner, deputy} {
		if err := p.Leave(deadline(t)); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	// The deputy may have led before it left, and the owner have passed on what it said.
	until(t, "the word of one that led counts, or the witness leads", func() bool {
		i := runs(t, witness)[run]
		return i.AnsweredBy == liar.ID().String() || i.AnsweredBy == deputy.ID().String() ||
			i.Master == witness.ID().String() && i.State == control.RunRunning
	})
}

// An outcome that is not what its statement promises is not kept, nor one of a run that this peer does not know.
func TestKeepsNoFalseAnswers(t *testing.T) {
	t.Parallel()
	owner, p := open(t), open(t)
	if _, err := p.Join(deadline(t), address(t, owner)); err != nil {
		t.Fatal(err)
	}
	run := submit(t, owner, "count", last(t).arg)
	until(t, "the other takes part", func() bool { return works(t, p, run) })
	h, id := rogue(t, p)
	say := func(statement, outcome []byte) (kept bool, err error) {
		s, err := h.Network().NewStream(network.WithNoDial(deadline(t), "connected"), id, protocol.ID("/satin/keep/1"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Reset() }()
		q, err := wire.Value().Encode(map[int]any{1: statement})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(wire.WriteFrame(s, q, 1<<20), wire.WriteFrame(s, outcome, 1<<24)); err != nil {
			return false, err
		}
		b, err := wire.ReadFrame(s, nil, 1<<10)
		if err != nil {
			return false, err
		}
		var a map[int]bool
		err = wire.Value().Decode(b, &a)
		return a[1], err
	}
	good := owner.Statement(run, peer.ResultOf(t, 5))
	if kept, err := say(good.Bytes, peer.ResultOf(t, 6)); kept || p.Holds(run) {
		t.Errorf("another outcome is kept: %t, %v", kept, err)
	}
	unknown := owner.Statement(strings.Repeat("ab", 16), peer.ResultOf(t, 5))
	if kept, _ := say(unknown.Bytes, peer.ResultOf(t, 5)); kept {
		t.Error("the answer of an unknown run is kept")
	}
	if kept, err := say(good.Bytes, peer.ResultOf(t, 5)); !kept || err != nil || !p.Holds(run) {
		t.Errorf("the right one is not kept: %v", err)
	}
	if kept, _ := say(good.Bytes, peer.ResultOf(t, 5)); kept {
		t.Error("it is kept twice")
	}
	if err := owner.Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
}
