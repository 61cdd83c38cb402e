package runlife

import (
	"io"
	"slices"
	"testing"
)

// Many schedules break no invariant.
func TestSchedules(t *testing.T) {
	c, failures := Check(0, 150, Kind{})
	_, more := Check(404, 1, Kind{})   // the first in which an answer might be kept without its manifest
	_, deaths := Check(229, 1, Kind{}) // and an owner not hear of more deaths when it had left its run alone
	for _, f := range slices.Concat(failures, more, deaths) {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Crashes == 0 || c.Lost == 0 || c.Disputes == 0 || c.Answers == 0 || c.Deaths == 0 ||
		c.Doomed == 0 {
		t.Errorf("the schedules are too tame: %+v", c)
	}
}

// The same with the core of package steal, on the driver, in the place of the model.
func TestSchedulesWithStealing(t *testing.T) {
	c, failures := Check(0, 60, Kind{Stealing: true})
	for _, f := range failures {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Crashes == 0 || c.Lost == 0 || c.Answers == 0 || c.Restored == 0 || c.Found == 0 {
		t.Errorf("the schedules are too tame: %+v", c)
	}
}

// The same with members that end between a write and what follows from it, and collections that fail.
func TestSchedulesWithCuts(t *testing.T) {
	c, failures := Check(0, 50, Kind{Cuts: true})
	for _, f := range failures {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Cut < 20 {
		t.Errorf("the schedules are too tame: %+v", c)
	}
}

// The same with clocks that are wrong for a while, by seconds or by years.
func TestSchedulesWithClocks(t *testing.T) {
	c, failures := Check(0, 50, Kind{Clocks: true})
	_, more := Check(0, 15, Kind{Clocks: true, Stealing: true, Cuts: true})
	_, rosters := Check(0, 15, Kind{Clocks: true, Rosters: true})
	for _, f := range slices.Concat(failures, more, rosters) {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Misset < 80 {
		t.Errorf("the schedules are too tame: %+v", c)
	}
}

// The same with rosters: who takes part changes all the time.
func TestSchedulesWithRosters(t *testing.T) {
	n := uint64(24)
	for _, kind := range []Kind{{Rosters: true}, {Rosters: true, Stealing: true}} {
		c, failures := Check(140, n, kind) // in 154 an owner might leave its own run
		for _, f := range failures {
			t.Errorf("%+v, seed %d: %v", kind, f.Seed, f.Err)
		}
		if c.Rosters == 0 || c.Benched == 0 || c.Agreed == 0 && !kind.Stealing { // small trees are done early
			t.Errorf("%+v: the schedules are too tame: %+v", kind, c)
		}
		n /= 3
	}
}

// The same with runs that their owners verify, and members in one hand that lie: about answers, about who leads, about
// jobs that kill and, where jobs are moved by package steal, about what comes of them.
func TestSchedulesOfVerifiedRuns(t *testing.T) {
	c, failures := Check(0, 35, Kind{Verified: true})
	d, stolen := Check(0, 10, Kind{Verified: true, Stealing: true})
	_, more := Check(0, 10, Kind{Verified: true, Modules: true, Rosters: true, Cuts: true})
	for _, f := range slices.Concat(failures, stolen, more) {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Answers == 0 || c.Doomed == 0 || c.Helped == 0 || d.Compared == 0 || d.Caught == 0 {
		t.Errorf("the schedules are too tame: %+v, %+v", c, d)
	}
}

// The same with runs that need a module, which not everybody has.
func TestSchedulesWithModules(t *testing.T) {
	c, failures := Check(20, 35, Kind{Modules: true}) // in 48 an owner's module is damaged for a while
	_, stolen := Check(0, 10, Kind{Modules: true, Stealing: true})
	for _, f := range slices.Concat(failures, stolen) {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Answers == 0 || c.Fetched == 0 || c.Helped == 0 {
		t.Errorf("the schedules are too tame: %+v", c)
	}
}

// Schedules that have found a mistake: in the order of disk and tombstone (41, 143), of answers that were
// kept and never told of (329), or given away (30979, 36519), or never given up (10739 and those after it), of
// deaths that were forgotten (9638),
// of a command without an end (11837), and of an own answer that the disk had refused while another one was kept
// (301671).
func TestRegressions(t *testing.T) {
	for _, seed := range []uint64{41, 143, 329, 10739, 11475, 11681, 12351, 12687, 13644, 14046, 15801, 18211, 11837,
		30979, 36519, 9638, 301671} {
		if _, err := Run(seed, Kind{}, nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// The same, with rosters: an owner that was away kept its old one alive by what it answered (1009); whoever heard of a
// roster late believed it anew, also its author that had been away (3543, 6784, 6889); an owner that takes no part did
// not believe who had gone on without it and without deputies (8451, 5471). In the others one was blamed for what its
// core hears at the next tick: that its part gave the root up (80), that a roster lapsed (927), or that
// its process has died (640).
func TestRegressionsWithRosters(t *testing.T) {
	for seed, kind := range map[uint64]Kind{1009: {Rosters: true}, 3543: {Rosters: true}, 6784: {Rosters: true},
		6889: {Rosters: true}, 8451: {Rosters: true}, 5471: {Rosters: true, Stealing: true},
		640: {Rosters: true, Stealing: true}, 80: {Rosters: true, Stealing: true},
		927: {Rosters: true, Stealing: true}} {
		if _, err := Run(seed, kind, nil); err != nil {
			t.Errorf("%+v, seed %d: %v", kind, seed, err)
		}
	}
}

// The same, with clocks: tombstones were forgotten by a clock that was ahead, so that a run began that was over (488,
// 709, 3938), an own run was lost with what was kept of it (8499, 8756), an owner's rosters were numbered by its clock
// (986), and a run that its owner's clock made look old is computed by nobody else (2448).
func TestRegressionsWithClocks(t *testing.T) {
	for _, seed := range []uint64{488, 709, 3938, 8499, 8756, 2448} {
		if _, err := Run(seed, Kind{Clocks: true}, nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if _, err := Run(986, Kind{Clocks: true, Rosters: true}, nil); err != nil {
		t.Errorf("seed 986: %v", err)
	}
}

// The same, with modules: a run was forgotten between the coming of its module and the next word of it, and what was
// kept of it stayed; what one had claimed before it had the answer displaced that for ever (2448), and those who left a
// run alone kept it in each other's minds (2942). With rosters: who had taken a run up again did not keep to those of a
// deputy (700042).
func TestRegressionsWithModules(t *testing.T) {
	for _, seed := range []uint64{17247, 17396, 18562, 20390, 501706, 2448, 2942, 700042} {
		if _, err := Run(seed, Kind{Modules: true, Rosters: seed == 700042}, nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// The same seed gives the same run.
func TestReplay(t *testing.T) {
	for seed := range uint64(12) {
		kind := Kind{Stealing: seed%2 == 0, Rosters: seed%4 > 1, Clocks: seed%3 == 0,
			Verified: seed%3 == 1, Modules: seed%3 > 0}
		if err := Replay(seed, kind, io.Discard); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
