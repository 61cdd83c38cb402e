package session_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/steal"
)

// A root that cannot be run is an answer too: it failed.
func TestRootThatCannotRun(t *testing.T) {
	w := newWorld(t, 1, "session_test.fib", 1)
	w.run.Root.Arg = []byte("no number")
	w.start(0, nil)
	_, err, panicked, bad := compute.DecodeOutcome(w.run.ID, <-w.answers, w.fn)
	if err != nil || bad != nil || panicked == nil {
		t.Errorf("%v, %v, %v", err, bad, panicked)
	}
	if _, err := compute.RootOf("session_test.nothing", nil); err == nil {
		t.Error("a root without a function")
	}
}

// Whoever is killed in the middle, the master and a deputy too: the answer is the sequential one.
func TestAnyPeerMayDie(t *testing.T) {
	for name, c := range map[string]struct {
		victims  []int
		recovery steal.Recovery
		lossy    bool
	}{
		"thief":                     {victims: []int{3}},
		"master":                    {victims: []int{0}},
		"master and deputy":         {victims: []int{0, 1}},
		"all but one":               {victims: []int{0, 1, 3}},
		"master, bad network":       {victims: []int{0}, lossy: true},
		"thief, naive":              {victims: []int{3}, recovery: steal.Naive},
		"master and thief, naive":   {victims: []int{0, 3}, recovery: steal.Naive},
		"thieves, on a bad network": {victims: []int{2, 3}, lossy: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arg := newTree(t, 6)
			w := newWorld(t, 4, "session_test.tree", arg)
			w.run.Recovery, w.lossy = c.recovery, c.lossy
			var peers []*worldPeer
			for i := range 4 {
				peers = append(peers, w.start(i, nil))
			}
			for i, v := range c.victims {
				w.until("the run is in the middle", func() bool {
					st := peers[v].Stats()
					return arg.ran() > (1+i)*arg.size()/8 && (st.Held > 0 || st.Given > 0 || st.Master) ||
						len(w.answers) > 0
				})
				w.kill(peers[v])
			}
			if got := w.answer(); got != arg.want() {
				t.Errorf("got %v, want %d", got, arg.want())
			}
			t.Logf("%d of %d leaves were run", arg.ran(), arg.size())
		})
	}
}

// A master that is killed leaves orphans, which are not computed again.
func TestOrphansAreUsed(t *testing.T) {
	t.Parallel()
	arg := newTree(t, 6)
	arg.halt(arg.size() / 3)
	w := newWorld(t, 4, "session_test.tree", arg)
	w.cfg = unhurried()
	var peers []*worldPeer
	for i := range 4 {
		peers = append(peers, w.start(i, nil))
	}
	w.until("all work for the master", func() bool {
		for _, p := range peers[1:] {
			if p.Stats().Held == 0 {
				return false
			}
		}
		return arg.halted()
	})
	w.kill(peers[0])
	arg.halt(0)
	if got := w.answer(); got != arg.want() {
		t.Errorf("got %v, want %d", got, arg.want())
	}
	if n := w.sum(func(st *steal.Stats) uint64 { return st.OrphansReused }); n == 0 {
		t.Errorf("no orphan was used%s", w)
	}
	t.Logf("%d of %d leaves were run", arg.ran(), arg.size())
}

// Whoever leaves politely, the master too, hands over what has finished: hardly anything is run twice.
func TestLeaving(t *testing.T) {
	for _, leaver := range []int{0, 2} {
		t.Run(fmt.Sprint("p", leaver), func(t *testing.T) {
			t.Parallel()
			arg := newTree(t, 6)
			arg.halt(arg.size() * 2 / 3)
			w := newWorld(t, 4, "session_test.tree", arg)
			w.cfg = unhurried()
			var peers []*worldPeer
			var stores []*memStore
			for i := range 4 {
				stores = append(stores, &memStore{outcomes: map[string]string{}})
				peers = append(peers, w.start(i, stores[i]))
			}
			w.until("it has something to hand over", func() bool {
				st := peers[leaver].Stats()
				return st.Steal.PartialsKept > 0 && arg.halted()
			})
			others := slices.Delete(slices.Clone(stores), leaver, leaver+1)
			alone := only(stores[leaver], others)
			w.leave(peers[leaver], patience)
			arg.halt(0)
			w.until("the others store what the leaver alone had, or need it no more", func() bool {
				left := only(stores[leaver], others)
				gained := slices.ContainsFunc(alone, func(job string) bool { return !slices.Contains(left, job) })
				return gained || len(alone) == 0 || len(w.answers) > 0
			})
			if got := w.answer(); got != arg.want() {
				t.Errorf("got %v, want %d", got, arg.want())
			}
			if n := w.sum(func(st *steal.Stats) uint64 { return st.PartialsHandedOver }); n == 0 {
				t.Errorf("nothing was handed over%s", w)
			}
			for _, s := range others {
				s.agrees(t, stores[leaver])
			}
			t.Logf("%d of %d leaves were run", arg.ran(), arg.size())
		})
	}
}

// With everybody lost, the run goes on from what the disks have, and nothing of that is computed again: by
// one peer that has got all the disks, and by several of which each has its own.
func TestResume(t *testing.T) {
	t.Parallel()
	const peers = 3
	arg := newTree(t, 6)
	w := newWorld(t, peers, "session_test.tree", arg)
	var dirs []string
	var logs []*checkpoint.Log
	for i := range peers {
		dirs = append(dirs, filepath.Join(t.TempDir(), "log"))
		logs = append(logs, w.openLog(dirs[i], checkpoint.Config{Interval: -1}))
		w.start(i, logs[i])
	}
	w.until("the run is in the middle", func() bool { return arg.ran() > arg.size()/2 })
	w.end()
	for _, l := range logs {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before, parts := arg.ran(), w.storedIn(dirs...)
	covered := arg.covered(parts)
	if covered < before/2 {
		t.Errorf("of %d leaves that were run, %d are under %d stored jobs", before, covered, len(parts))
	}

	w = w.again()
	w.start(0, nil, parts...)
	if got := w.answer(); got != arg.want() {
		t.Errorf("one peer: got %v, want %d", got, arg.want())
	}
	stats := w.String()
	w.end()
	if ran := arg.ran() - before; ran != arg.size()-covered {
		t.Errorf("one peer: %d leaves were run, but %d of %d were stored%s", ran, covered, arg.size(), stats)
	}

	before = arg.ran()
	w = w.again()
	for i := range peers {
		w.start(peers-1-i, nil, w.storedIn(dirs[peers-1-i])...)
	}
	if got := w.answer(); got != arg.want() {
		t.Errorf("several: got %v, want %d", got, arg.want())
	}
	w.end()
	if ran := arg.ran() - before; ran > arg.size()-covered/2 {
		t.Errorf("several: %d leaves were run, though %d of %d were stored", ran, covered, arg.size())
	}
	t.Logf("%d outcomes were stored", len(parts))
}

// A run that is cancelled stops everywhere, and nobody answers.
func TestCancel(t *testing.T) {
	arg := newTree(t, 6)
	arg.halt(arg.size() / 2)
	w := newWorld(t, 3, "session_test.tree", arg)
	var peers []*worldPeer
	for i := range 3 {
		peers = append(peers, w.start(i, nil))
	}
	w.until("all have work", func() bool { return peers[1].Stats().Held > 0 && peers[2].Stats().Held > 0 })
	for _, p := range peers {
		p.Cancel()
	}
	for _, p := range peers {
		w.until("the workers are idle, and nothing is held", func() bool {
			st := p.Stats()
			return st.Load.Idle == st.Load.Workers && st.Held == 0 && st.Given == 0 && !st.Master
		})
	}
	if len(w.answers) > 0 || arg.ran() == arg.size() {
		t.Errorf("%d answers, %d leaves", len(w.answers), arg.ran())
	}
}
