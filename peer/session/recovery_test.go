package session_test

import (
	"testing"

	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// A root that cannot be run is an answer too: it failed.
func TestRootThatCannotRun(t *testing.T) {
	w := newWorld(t, 1, "session_test.fib", 1)
	w.run.Root.Arg = []byte("no number")
	w.start(0, nil)
	_, err, panicked, bad := session.DecodeOutcome(w.run.ID, <-w.answers, w.fn)
	if err != nil || bad != nil || panicked == nil {
		t.Errorf("%v, %v, %v", err, bad, panicked)
	}
	if _, err := session.RootOf("session_test.nothing", nil); err == nil {
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
					return arg.ran() > (1+i)*arg.size()/8 && (st.Held > 0 || st.Given > 0 || st.Master) || len(w.answers) > 0
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

// A run that is cancelled stops everywhere, and nobody answers.
func TestCancel(t *testing.T) {
	arg := newTree(t, 8)
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
		w.until("the workers are idle", func() bool { return p.Pool().Idle() == p.Pool().Cores() })
		if st := p.Stats(); st.Held != 0 || st.Given != 0 || st.Master {
			t.Errorf("it still holds something: %+v", st)
		}
	}
	if len(w.answers) > 0 || arg.ran() == arg.size() {
		t.Errorf("%d answers, %d leaves", len(w.answers), arg.ran())
	}
}
