package visitor

import (
	"slices"
	"time"
)

// A route says at which gateway of a link a tab tries next, and after what pause. It is a pure machine: who goes it
// tells it what came of each visit, by one of the methods ended and refused.
//
// It begins with the page's own gateway, and stays at one as long as it may: whoever is lost there goes to the next one
// in turn, at once, until it has been everywhere in vain. Then it pauses before each, longer from round to round. A
// gateway that has refused it is not tried again: what it says of the ticket or of what was brought does not change,
// and does not bind the others.
type route struct {
	list  []string
	at    int
	vain  int // visits in a row that have brought no work
	pause time.Duration
}

// A round without success is followed by leastPause before each gateway, and each further one by twice as much; whoever
// has had work elsewhere waits for shortPause.
const (
	shortPause = 200 * time.Millisecond
	leastPause = time.Second
	mostPause  = time.Minute
)

// newRoute is by so many gateways, each once, own first.
func newRoute(own string, others []string) *route {
	r := &route{list: []string{own}}
	for _, o := range others {
		if !slices.Contains(r.list, o) {
			r.list = append(r.list, o)
		}
	}
	return r
}

// next says where to go, and how long to wait before; false: there is nowhere left.
func (r *route) next() (gateway string, after time.Duration, ok bool) {
	if len(r.list) == 0 {
		return "", 0, false
	}
	return r.list[r.at], r.pause, true
}

// ended says that a visit has ended by the loss of the connection, if it ever was one, and whether it has brought work.
func (r *route) ended(worked bool) {
	r.at = (r.at + 1) % len(r.list)
	if worked {
		r.vain, r.pause = 0, shortPause
	}
	r.missed()
}

// refused says that the gateway does not let it in.
func (r *route) refused() {
	r.list = slices.Delete(r.list, r.at, r.at+1)
	if r.at == len(r.list) {
		r.at = 0
	}
	r.missed()
}

// missed counts a visit that is over, and lengthens the pause after each round.
func (r *route) missed() {
	if r.vain++; r.vain >= len(r.list) {
		r.vain, r.pause = 0, min(max(2*r.pause, leastPause), mostPause)
	}
}
