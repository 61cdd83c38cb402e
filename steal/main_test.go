package steal

import (
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	// The heap is small, and most of it garbage soon: to collect it less often is a sixth of the time.
	debug.SetGCPercent(400)
	m.Run()
}
