package cli

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/satin-peer/satin"
)

var endOfRun = sample{at: 12_345 * time.Millisecond, share: 1, Stats: satin.Stats{
	Workers: 4, Spawned: 1_234_567, Executed: 1_234_500, Aborts: 7, Aborted: 68, Syncs: 1_234_499,
	StealAttempts: 2_000, Steals: 91, Waits: 12, Parks: 3, Rests: 4, Idle: 4 * 1_200 * time.Millisecond,
}}

const satinLayout = `-------------------------------SATIN STATISTICS--------------------------------
SATIN: SPAWN:       1,234,567 spawns, 1,234,500 executed, 1,234,499 syncs
SATIN: ABORT:       7 aborts, 68 aborted jobs
SATIN: STEAL:       2,000 attempts, 91 successes (4.550 %)
SATIN: WAIT:        12 waits, 3 parks, 4 rests
-------------------------------SATIN RUN TIME BREAKDOWN------------------------
SATIN: TOTAL_RUN_TIME:                              12.345 s
SATIN: LOAD_BALANCING_TIME:        avg. per worker 1.200 s ( 9.721 %)

SATIN: TOTAL_PARALLEL_OVERHEAD:    avg. per worker 1.200 s ( 9.721 %)
SATIN: USEFUL_APP_TIME:            avg. per worker 11.145 s (90.279 %)
`

// A run on one worker has nothing to say of thefts, waits and aborts.
const singleLayout = `-------------------------------SATIN STATISTICS--------------------------------
SATIN: SPAWN:       7 spawns, 8 executed, 7 syncs
-------------------------------SATIN RUN TIME BREAKDOWN------------------------
SATIN: TOTAL_RUN_TIME:                              2.000 s

SATIN: TOTAL_PARALLEL_OVERHEAD:    avg. per worker 0.000 s ( 0.000 %)
SATIN: USEFUL_APP_TIME:            avg. per worker 2.000 s (100.000 %)
`

// The statistics of a run are printed as the documentation shows them.
func TestStatistics(t *testing.T) {
	if got := newStatistics(endOfRun).text(); got != satinLayout {
		t.Errorf("got\n%swant\n%s", got, satinLayout)
	}
	single := sample{at: 2 * time.Second, share: 1, Stats: satin.Stats{Workers: 1, Spawned: 7, Executed: 8, Syncs: 7}}
	if got := newStatistics(single).text(); got != singleLayout {
		t.Errorf("got\n%swant\n%s", got, singleLayout)
	}
}

// TestStatisticsOfNothing checks the figures of a run that was over before the clock moved, or whose workers
// idled for longer.
func TestStatisticsOfNothing(t *testing.T) {
	for _, s := range []sample{{}, {share: 1, Stats: satin.Stats{Workers: 2, Idle: time.Second}},
		{at: time.Second, share: 1, Stats: satin.Stats{Workers: 1, Idle: time.Hour}}} {
		got := newStatistics(s)
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
		if got.UsefulTime < 0 || got.Overhead > 100 {
			t.Errorf("%+v gives %+v", s, got)
		}
	}
}
