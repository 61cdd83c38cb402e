package impure

import (
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
)

var ran atomic.Int64

func init() { satin.Register("impure.counted", counted) }

// counted is a job of a test, which may count what ran.
func counted(f *satin.Frame, n int) int {
	ran.Add(1)
	return n
}

func TestCounted(t *testing.T) {}
