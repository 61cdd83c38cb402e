package peer_test

import (
	"bytes"
	"testing"
)

// Results that are larger than any message are compared like others, before they are used: with what another member
// has come to, or with what comes of the job when it runs again here.
func TestLargeResultsAreCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	for _, mode := range []string{"quorum=2", "spot=1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			list := swarm(t, 3) // not hasty: nothing is compared of a member that is taken for lost
			work := last(t)
			work.arg.Depth = 10
			run := verifiedAs(t, list[0], mode, "pile", work.arg)
			until(t, "the others have stolen", func() bool {
				return works(t, list[1], run) && works(t, list[2], run)
			})
			work.end(t)
			const ofHeap = 1 << 9 // leaves below the job with the large result
			want := heapOf(ofHeap)
			want[ofHeap]++
			if got := await[[]byte](t, list[0], run); !bytes.Equal(got, want) {
				t.Errorf("the answer has %d bytes, want these %d", len(got), len(want))
			}
			out, err := list[0].Wait(deadline(t), run, nil)
			if err != nil || out.Trust == nil || out.Trust.Proved == 0 || len(out.Trust.Caught) > 0 {
				t.Errorf("it rests on %+v, %v", out.Trust, err)
			}
		})
	}
}
