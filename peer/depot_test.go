package peer

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin/peer/deposits"
)

// Guards that what is kept for others as deposits takes room of run_disk, a quarter of it for each giver, beside runs,
// and that what is over gives it back.
func TestRoomForDeposits(t *testing.T) {
	const mib = 1 << 20
	room := &depositRoom{quota: &quota{most: 64 * mib}, of: map[deposits.PeerID]*atomic.Int64{}}
	fill := func(giver deposits.PeerID) (n int64, why string) {
		for why = room.Take(giver, mib); why == ""; why = room.Take(giver, mib) {
			n++
		}
		return n, why
	}
	for _, giver := range []deposits.PeerID{"a", "b", "c"} {
		if n, why := fill(giver); n != 16 || !strings.Contains(why, "run_disk") {
			t.Errorf("%s has %d MiB, %q", giver, n, why)
		}
	}
	room.Back("a", 3*mib)
	if n, _ := fill("a"); n != 3 {
		t.Errorf("after 3 MiB were given back there is room for %d", n)
	}
	room.Back("b", 16*mib)
	if len(room.of) != 2 {
		t.Errorf("%d givers are known", len(room.of))
	}
	if n, _ := fill("b"); n != 16 {
		t.Errorf("who has nothing any more may have %d MiB", n)
	}
}
