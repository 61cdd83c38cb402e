package driver

import (
	"slices"
	"testing"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// A job that was lost runs here again, beside one below it that is of use still. What an outcome below both names is
// pinned until the one has ended whose frame gets it; if that has, it is not.
func TestHandlesBelowSeveralSegments(t *testing.T) {
	core, err := sharedobj.NewCore(sharedobj.Default(), "me", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	below := identity{path: job.Path{3, 1, 1, 2}}
	d := &Driver{given: map[steal.Ref]outside{7: {identity: below, segment: 98}, 8: {identity: below, segment: 99}},
		segments: map[steal.SegmentID]identity{98: {path: job.Path{3, 1}}, 63: {path: job.Path{3, 1, 1}},
			5: {path: job.Path{4}}}}
	s := &shared{d: d, core: core, results: newResults()}
	made := sharedobj.Digest{1}
	outcome, err := port.NameIn([]byte("out"), []sharedobj.Digest{made})
	if err != nil {
		t.Fatal(err)
	}
	s.uses(&steal.Order{Ref: 7, Outcome: outcome})
	s.uses(&steal.Order{Ref: 8, Outcome: outcome})
	s.ended(63)
	if !slices.Contains(s.results.used[98], made) || len(s.results.used) != 1 {
		t.Errorf("when the lower one has ended, pinned are %v", s.results.used)
	}
}

// What comes of a job when its segment has ended is no part of anything, and nothing of it is remembered.
func TestEndedSegmentHasNoParts(t *testing.T) {
	v := &provenance{parts: map[steal.SegmentID][]part{}}
	v.begins(1, &steal.Job{})
	v.add(1, part{})
	if len(v.parts[1]) != 1 {
		t.Error("a segment that runs has no parts")
	}
	v.forget(1)
	if v.add(1, part{}); len(v.parts) != 0 {
		t.Errorf("of what has ended is remembered %+v", v.parts)
	}
}
