package thrift

import (
	"testing"
	"time"
)

// Guards when memory is given back: at the first look, once a minute while nothing is to be done, never beside a run,
// and as soon as it has ended.
func TestThrift(t *testing.T) {
	var rule Thrift
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		later time.Duration
		busy  bool
		want  bool
	}{
		{},
		{later: after - time.Second},
		{later: time.Second, want: true},
		{later: time.Second},
		{later: every - 2*time.Second},
		{later: time.Second, want: true},
		{later: every, want: true},
		{later: time.Second, busy: true},
		{later: time.Second},
		{later: after, busy: true},
		{later: 2 * every, busy: true},
		{later: time.Second},
		{later: after, want: true},
		{later: time.Second},
	} {
		now = now.Add(step.later)
		if got := rule.Due(step.busy, now); got != step.want {
			t.Errorf("step %d: due is %v", i, got)
		}
	}
}
