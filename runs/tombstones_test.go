package runs

import "testing"

// What is final stays so, whatever comes later; else the last word of the owner counts.
func TestTombstonesInOrder(t *testing.T) {
	stone := func(r Reason, seq uint64) *Tombstone {
		return &Tombstone{Reason: r, Seq: seq}
	}
	suspended, resumed, again := stone(Suspended, 1), stone(Resumed, 2),
		stone(Suspended, 3)
	finished, cancelled := stone(Finished, 0), stone(Cancelled, 0)
	for _, c := range []struct {
		a, b *Tombstone
		want bool
	}{
		{resumed, suspended, true}, {suspended, resumed, false}, {again, resumed, true}, {suspended, suspended, false},
		{finished, again, true}, {again, finished, false}, {cancelled, finished, false}, {finished, finished, false},
	} {
		if got := c.a.Supersedes(c.b); got != c.want {
			t.Errorf("%v %d after %v %d: %t", c.a.Reason, c.a.Seq, c.b.Reason, c.b.Seq, got)
		}
	}
}
