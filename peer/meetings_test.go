package peer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A meeting that failed is tried again, later each time, and not for ever.
func TestMeetingsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		untilMet(t.Context(), func() bool { tries++; return tries == 3 })
		if took := time.Since(began); tries != 3 || took != 3*meetAgain {
			t.Errorf("%d tries in %v", tries, took)
		}
		tries = 0
		untilMet(t.Context(), func() bool { tries++; return false })
		if tries != maxMeetings {
			t.Errorf("who never meets is asked %d times", tries)
		}
		ctx, cancel := context.WithCancel(t.Context())
		tries = 0
		untilMet(ctx, func() bool { tries++; cancel(); return false })
		if tries != 1 {
			t.Errorf("after the end of a peer %d tries", tries)
		}
	})
}
