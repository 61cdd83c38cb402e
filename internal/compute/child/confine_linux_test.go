package child_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/wire"
)

func init() { satin.Register("child_test.limit", limit) }

// limit is how much memory its process may have.
func limit(*satin.Frame, int) int64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &l); err != nil {
		return 0
	}
	return int64(l.Cur)
}

// What is said to be the limit of memory is the one that jobs have.
func TestMemoryLimit(t *testing.T) {
	for _, asked := range []int64{0, 768 << 20} {
		e := start(t, asked)
		ev := run(t, e, "child_test.limit", 0)
		e.Close()
		var o compute.Outcome
		var got int64
		if err := wire.Value().Decode(ev.Outcome, &o); err != nil {
			t.Fatal(err)
		}
		if err := wire.Value().Decode(o.Value, &got); err != nil {
			t.Fatal(err)
		}
		if want, bySystem := child.MemoryLimit(asked); got != want || !bySystem || asked > 0 && want != asked {
			t.Errorf("asked for %d bytes: it has %d, and is said to have %d", asked, got, want)
		}
	}
}
