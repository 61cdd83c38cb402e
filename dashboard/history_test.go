package dashboard_test

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
)

// Guards that the last hour is there when a page is opened, though nobody watched it, and that it has an end.
func TestHistory(t *testing.T) {
	source := newFake()
	source.status.State, source.status.Busy = "working", 3 // of 2: it said so while one was ending
	s := open(t, source)
	var past []dashboard.Moment
	for limit := time.Now().Add(8 * time.Minute); len(past) < 3; past = fetch[[]dashboard.Moment](t, s, "/history") {
		if time.Now().After(limit) {
			t.Fatal("nothing is kept")
		}
	}
	for i, m := range past {
		if m.Here != 2.5 || m.Busy == nil || *m.Busy != 1 || i > 0 && !m.At.After(past[i-1].At) {
			t.Errorf("moment %d of %d is %+v", i, len(past), m)
		}
	}
}
