package peer

import (
	"testing"
)

// Guards the line that says why nothing is computed: it is true of the peer as it is, also while the cores are left
// alone, and of several runs it is about the one that is nearest to having work.
func TestWhyIdle(t *testing.T) {
	refused := stance{name: "tsp", refused: "other sources"}
	begins, alone := stance{name: "fib", master: true}, stance{name: "fib", workers: 2}
	unheard, dry := alone, alone
	dry.others = 3
	given, held, ending := dry, dry, dry
	given.given, given.held, held.held, ending.master = 1, 1, 1, true
	for _, c := range []struct {
		rest, peers int
		runs        []stance
		want        string
	}{
		{0, 0, nil, "no other member is connected, and there is no run here"},
		{70, 1, nil, "there is no run in the swarm"},
		{70, 1, []stance{refused}, "this peer takes no part in tsp: other sources"},
		{70, 1, []stance{refused, dry}, "the cores are left alone for a moment, as cpu_share is 30"},
		{0, 1, []stance{refused, begins}, "the process that runs the jobs of fib has no core yet: it begins"},
		{0, 0, []stance{alone}, "no member is connected from which a job of fib could be stolen"},
		{0, 1, []stance{unheard}, "no peer that takes part in fib is heard"},
		{0, 1, []stance{dry}, "no peer that was asked had a job of fib to spare"},
		{0, 1, []stance{dry, given}, "what is left of fib is with other peers, and its results are waited for"},
		{0, 1, []stance{begins, held, dry},
			"the jobs of fib here wait for what they read, or for their results to be taken"},
		{0, 1, []stance{ending}, "fib has no job that could be begun: it is at its beginning, or at its end"},
	} {
		if got := whyIdle(c.rest, c.peers, c.runs); got != c.want {
			t.Errorf("%d %d %+v: %q, want %q", c.rest, c.peers, c.runs, got, c.want)
		}
	}
	busy := func(name string) stance { return stance{name: name, busy: 1} }
	for want, runs := range map[string][]stance{"": {dry}, "a": {busy("a"), dry}, "a and b": {busy("a"), busy("b")},
		"a and 2 other runs": {busy("a"), busy("b"), busy("c")}} {
		if got := workingFor(runs); got != want {
			t.Errorf("it works for %q, want %q", got, want)
		}
	}
}
