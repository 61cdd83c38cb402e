package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// A statistics is the end of a run in figures, under the names that Satin gave them. What only a swarm has,
// such as messages, is not among them.
type statistics struct {
	report.Jobs
	StealAttempts  uint64 `json:"steal_attempts"`
	StealSuccesses uint64 `json:"steal_successes"`
	Waits          uint64 `json:"waits"`
	Parks          uint64 `json:"parks"`
	Rests          uint64 `json:"rests"`

	TotalRunTime float64 `json:"total_run_time_seconds"`
	// Per worker, on average: looking for a job, or waiting for one that another worker has. It is all of the
	// parallel overhead that is measured; spawning is part of the useful time, as it was in Satin.
	LoadBalancing float64 `json:"load_balancing_time_seconds"`
	// The parts of it: looking for a job, waiting for one that another worker has, and neither, because there was none.
	StealTime  float64 `json:"steal_time_seconds"`
	WaitTime   float64 `json:"wait_time_seconds"`
	IdleTime   float64 `json:"idle_time_seconds"`
	Overhead   float64 `json:"parallel_overhead_percent"`
	UsefulTime float64 `json:"useful_app_time_seconds"`
	Useful     float64 `json:"useful_app_time_percent"`
	// CPU is the share of the time in which workers had a core that the system gave to their threads: the rest had
	// other programs on the machine. 0 where the system does not say.
	CPU float64 `json:"processor_percent"`
}

// newStatistics makes statistics of the last sample of a parallel run.
func newStatistics(end sample) statistics {
	total := end.at.Seconds()
	perWorker := func(d time.Duration) float64 { return min(d.Seconds()/float64(max(end.Workers, 1)), total) }
	idle, t := perWorker(end.Idle), &end.Times
	s := statistics{
		Jobs: end.jobs(), StealAttempts: end.StealAttempts, StealSuccesses: end.Steals,
		Waits: end.Waits, Parks: end.Parks, Rests: end.Rests,
		TotalRunTime: total, LoadBalancing: idle, UsefulTime: total - idle,
		StealTime: perWorker(t.Searching), WaitTime: perWorker(t.Waiting), IdleTime: perWorker(t.Free),
	}
	if held := t.Cores - t.Free; held > 0 && t.CPU > 0 {
		s.CPU = min(100*t.CPU.Seconds()/held.Seconds(), 100)
	}
	if total > 0 {
		s.Overhead, s.Useful = 100*idle/total, 100*(total-idle)/total
	}
	return s
}

// jobs is what any run has to count.
func (s *sample) jobs() report.Jobs {
	return report.Jobs{Spawns: s.Spawned, Executed: s.Executed, Syncs: s.Syncs, Aborts: s.Aborts,
		AbortedJobs: s.Aborted}
}

// text is Satin's layout (ibis.satin.impl.Statistics), with workers for machines.
func (s statistics) text() string {
	var b strings.Builder
	perWorker := func(name string, took, percent float64) {
		fmt.Fprintf(&b, "SATIN: %-27s avg. per worker %s (%6.3f %%)\n", name+":", s.duration(took), percent)
	}
	b.WriteString(heading("SATIN STATISTICS"))
	fmt.Fprintf(&b, "SATIN: SPAWN:       %s spawns, %s executed, %s syncs\n", grouped(s.Spawns),
		grouped(s.Executed), grouped(s.Syncs))
	if s.Aborts+s.AbortedJobs > 0 {
		fmt.Fprintf(&b, "SATIN: ABORT:       %s aborts, %s aborted jobs\n", grouped(s.Aborts), grouped(s.AbortedJobs))
	}
	if s.StealAttempts > 0 {
		share := 100 * float64(s.StealSuccesses) / float64(s.StealAttempts)
		fmt.Fprintf(&b, "SATIN: STEAL:       %s attempts, %s successes (%.3f %%)\n", grouped(s.StealAttempts),
			grouped(s.StealSuccesses), share)
	}
	if s.Waits+s.Parks+s.Rests > 0 {
		fmt.Fprintf(&b, "SATIN: WAIT:        %s waits, %s parks, %s rests\n", grouped(s.Waits), grouped(s.Parks),
			grouped(s.Rests))
	}
	b.WriteString(heading("SATIN RUN TIME BREAKDOWN"))
	fmt.Fprintf(&b, "SATIN: %-44s %s\n", "TOTAL_RUN_TIME:", s.duration(s.TotalRunTime))
	if s.StealAttempts > 0 {
		perWorker("LOAD_BALANCING_TIME", s.LoadBalancing, s.Overhead)
		for _, part := range []struct {
			name string
			took float64
		}{{"  STEAL_TIME", s.StealTime}, {"  WAIT_TIME", s.WaitTime}, {"  IDLE_TIME", s.IdleTime}} {
			if part.took > 0 {
				perWorker(part.name, part.took, 100*part.took/s.TotalRunTime)
			}
		}
	}
	b.WriteByte('\n')
	perWorker("TOTAL_PARALLEL_OVERHEAD", s.LoadBalancing, s.Overhead)
	perWorker("USEFUL_APP_TIME", s.UsefulTime, s.Useful)
	b.WriteString(processor(s.CPU))
	return b.String()
}

// processor says how much of the machine the workers got; nothing if that is not known.
func processor(percent float64) string {
	if percent <= 0 {
		return ""
	}
	return fmt.Sprintf("SATIN: %-44s %.1f %% of the time that workers ran\n", "PROCESSOR:", percent)
}

func (statistics) duration(s float64) string { return seconds(time.Duration(s * float64(time.Second))) }
