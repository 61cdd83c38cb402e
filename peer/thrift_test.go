package peer

import (
	"testing"
	"time"
)

// Guards when memory is given back: at the first look, once a minute while nothing is to be done, never beside a run,
// and as soon as it has ended.
func TestThrift(t *testing.T) {
	var rule thrift
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		after time.Duration
		busy  bool
		want  bool
	}{
		{},
		{after: thriftAfter - time.Second},
		{after: time.Second, want: true},
		{after: time.Second},
		{after: thriftEvery - 2*time.Second},
		{after: time.Second, want: true},
		{after: thriftEvery, want: true},
		{after: time.Second, busy: true},
		{after: time.Second},
		{after: thriftAfter, busy: true},
		{after: 2 * thriftEvery, busy: true},
		{after: time.Second},
		{after: thriftAfter, want: true},
		{after: time.Second},
	} {
		now = now.Add(step.after)
		if got := rule.due(step.busy, now); got != step.want {
			t.Errorf("step %d: due is %v", i, got)
		}
	}
}
