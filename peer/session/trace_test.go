package session

import (
	"testing"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// Guards that jobs with the longest paths, however many a peer gives away, fill no memory where they ran, and that
// those which are forgotten are counted.
func TestLongPathsAreForgotten(t *testing.T) {
	const most = 1000
	var tr trace
	for i := range steal.SegmentID(most) {
		tr.begin(i, &steal.Job{Path: make(job.Path, steal.MaxPath)})
		tr.end(i, port.Tally{Executed: 1})
	}
	bytes := 0
	for _, s := range tr.ended {
		bytes += s.size()
	}
	if bytes > maxTracedBytes || bytes != tr.bytes || len(tr.ended) < 50 {
		t.Errorf("%d segments of %d bytes are remembered, and counted as %d", len(tr.ended), bytes, tr.bytes)
	}
	if n := int(tr.left.Segments) + len(tr.ended); n != most {
		t.Errorf("of %d segments %d are known", most, n)
	}
}
