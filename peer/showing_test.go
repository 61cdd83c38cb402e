package peer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
)

// A reader that asks again and again is told each state once, in order, and all of it in the end; equal
// neighbours are one.
func TestStatesAreToldOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := &showing{Base: &base.Base{Every: time.Second}, states: map[job.RunID]*stateLog{{}: {}}}
	l := w.states[job.RunID{}]
	now := time.UnixMicro(1e15)
	var got []watchState
	after := uint64(0)
	read := func() {
		list, next := w.since(job.RunID{}, after, now)
		if len(list) > maxStatesTold || next < after {
			t.Fatalf("%d states, from %d to %d", len(list), after, next)
		}
		got, after = append(got, list...), next
	}
	const looks = 3000
	for range looks {
		begun := now
		now = now.Add(sampleEvery)
		l.add(watchState{Start: begun.UnixMicro(), For: sampleEvery.Microseconds(), Work: uint16(rng.IntN(4) / 3)},
			w.Every)
		l.seen = now.UnixMicro()
		if rng.IntN(10) == 0 {
			read()
		}
	}
	now = now.Add(2 * time.Second)
	for before := uint64(0); before != after || before == 0; read() {
		before = after
	}
	at, last := time.UnixMicro(1e15).UnixMicro(), watchState{}
	for i, s := range got {
		if s.Start != at {
			t.Fatalf("state %d begins at %d, the one before ends at %d", i, s.Start, at)
		}
		if i > 0 && s.Work == last.Work && last.For < time.Second.Microseconds() {
			t.Fatalf("states %d and %d are the same", i-1, i)
		}
		at, last = s.Start+s.For, s
	}
	if want := now.Add(-2 * time.Second).UnixMicro(); at != want {
		t.Errorf("the states end at %d, want %d", at, want)
	}
}

// A reader that is far behind, or of an earlier lease, is told what is remembered.
func TestStatesAreForgotten(t *testing.T) {
	w := &showing{Base: &base.Base{Every: time.Second}, states: map[job.RunID]*stateLog{{}: {}}}
	l := w.states[job.RunID{}]
	for i := range 3 * maxStatesKept {
		l.add(watchState{Start: int64(i), For: 1, Work: uint16(i % 2)}, w.Every)
	}
	if len(l.list) >= 2*maxStatesKept {
		t.Errorf("%d states are kept", len(l.list))
	}
	for _, after := range []uint64{0, 1e6} {
		list, next := w.since(job.RunID{}, after, time.Now())
		if len(list) != maxStatesTold || list[0].Start != l.list[0].Start ||
			next != uint64(l.list[0].Start)+maxStatesTold {
			t.Errorf("after %d: %d states to %d", after, len(list), next)
		}
	}
}

// Guards against a member that asks without end: nobody else was told anything, not even this peer's own page.
func TestNobodyAsksForAll(t *testing.T) {
	w, now := &showing{}, time.UnixMicro(1e15)
	count := func(from peer.ID) (n int) {
		for range 1000 {
			if w.admits(from, now) {
				n++
			}
		}
		return n
	}
	for range 3 {
		if a, b, c := count("a"), count("b"), count("c"); a == 0 || b == 0 || a+b+c != answersPerSecond {
			t.Errorf("of three %d, %d and %d questions are answered", a, b, c)
		}
		now = now.Add(time.Second)
	}
}
