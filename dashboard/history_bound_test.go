package dashboard

import (
	"testing"
	"time"
)

// Guards that a history is bounded, keeps what is newest, and says nothing of workers while there is no run.
func TestHistoryIsBounded(t *testing.T) {
	h := &history{}
	for i := range 2 * momentsKept {
		h.add(momentOf(&Status{State: "idle", Workers: 2}, time.Unix(int64(i), 0)))
	}
	if n := len(h.moments); n != momentsKept || h.moments[n-1].At.Unix() != 2*momentsKept-1 ||
		h.moments[0].At.Unix() != momentsKept || h.moments[0].Busy != nil {
		t.Errorf("%d moments from %+v", n, h.moments[0])
	}
}
