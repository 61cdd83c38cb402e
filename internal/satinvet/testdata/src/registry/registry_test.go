package registry

import (
	"testing"

	"github.com/satin-peer/satin"
)

func TestLate(t *testing.T) {
	satin.Register("registry.test", testJob) // a test runs in one process: it may register when it likes
}

func testJob(f *satin.Frame, n int) int {
	x := satin.Spawn(f, testJob, n)
	return x.Get()
}
