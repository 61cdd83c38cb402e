package peer

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
)

// Room is made by whose receipts are most, the oldest of them first: one owner of many small runs displaces its own.
func TestReceiptsMakeRoom(t *testing.T) {
	x := &receipts{have: map[job.RunID]*statement.SignedReceipt{}}
	put := func(n int, by peer.ID, at int64) job.RunID {
		run := job.RunID{byte(n), byte(n >> 8), 1}
		x.have[run] = &statement.SignedReceipt{Receipt: statement.Receipt{Run: run, At: at}, Author: by}
		return run
	}
	rare := put(0, "rare", 1)
	var oldest job.RunID
	for n := 1; n < maxReceipts; n++ {
		if run := put(n, "often", int64(100+n%1000)); n == 1000 {
			oldest = run
		}
	}
	if gone := x.excess(); gone != (job.RunID{}) {
		t.Fatalf("%v makes way although there is room", gone)
	}
	put(maxReceipts, "other", 2)
	x.have[oldest].At = 99
	if gone := x.excess(); gone != oldest || gone == rare {
		t.Errorf("%v makes way, want %v", gone, oldest)
	}
}
