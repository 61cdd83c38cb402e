package compute

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/steal"
)

// While the loop does not come, workers drop what does not fit, count it, and go on.
func TestKeptOutcomesAreBounded(t *testing.T) {
	for name, size := range map[string]int{"many": 1, "large": maxKeptBytes / 2} {
		var q keptQueue
		taken := 0
		for range 2 * maxKeptWaiting {
			if q.room(0, 1) {
				q.add(0, steal.Partial{Outcome: make([]byte, size)})
				taken++
			}
		}
		if want := min(maxKeptWaiting, maxKeptBytes/size); taken != want || q.lost() != uint64(2*maxKeptWaiting-taken) {
			t.Errorf("%s: %d taken and %d dropped, want %d taken", name, taken, q.lost(), want)
		}
		if n := len(q.take()); n != taken || !q.room(0, 1) || len(q.take()) != 0 {
			t.Errorf("%s: the loop gets %d of %d, or there is no room afterwards", name, n, taken)
		}
	}
}

// Encoding takes a hundredth of the workers' time, no more, whatever the outcomes are.
func TestKeepingIsCheap(t *testing.T) {
	var q keptQueue
	q.none(keepFree + 30*time.Millisecond)
	if q.room(time.Second, 2) {
		t.Error("30 ms of the two seconds that two workers have worked are allowed")
	}
	if !q.room(time.Second, 3) || !q.room(2*time.Second, 2) {
		t.Error("30 ms of three seconds are not allowed")
	}
}
