package porttest

import (
	"bytes"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// judged asks what single outcomes are worth.
func judged(r *rig) {
	failed := r.finished(r.begin("porttest.nothing", 1, func(*port.Order) { r.start() })).Outcome
	for i, c := range []struct {
		outcome      []byte
		good, proven bool
		compare      []byte
	}{
		{r.outcome(49), true, true, r.outcome(49)},
		{r.outcome(48), true, false, r.outcome(40)},
		{r.outcome(13), false, false, nil},
		{r.outcome(0), false, true, nil}, // says nothing
		{r.outcome(-1), false, false, nil},
		{r.outcome("49"), false, false, nil},
		{[]byte{0xff}, false, false, nil},
		{nil, false, false, nil},
		{failed, true, false, failed}, // is compared as it is
	} {
		ticket := sharedobj.Ticket(70 + i)
		r.e.Do(&port.Order{Kind: port.Judge, Outcome: c.outcome, Shared: &port.Shared{Ticket: ticket},
			Job: &steal.Job{Function: "porttest.guess", Arg: r.encode(7)}})
		e := r.kind(port.Judged)
		if e.Shared.Ticket != ticket || e.Good != c.good || e.Shared.Changed != c.proven ||
			!bytes.Equal(e.Outcome, c.compare) {
			r.t.Errorf("%x is judged: right %v, proven %v, to be compared %x", c.outcome, e.Good, e.Shared.Changed,
				e.Outcome)
		}
	}
}
