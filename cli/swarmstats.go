package cli

import (
	"fmt"
	"strings"

	"github.com/satin-peer/satin/internal/report"
)

// swarmText is Satin's layout for a run of several peers, as far as it was measured. Lines that would be all
// zero are left out.
func swarmText(s report.RunStats, end sample) string {
	var b strings.Builder
	line := func(show bool, name, format string, args ...any) {
		if show {
			fmt.Fprintf(&b, "SATIN: %-13s %s\n", name+":", fmt.Sprintf(format, args...))
		}
	}
	b.WriteString(heading("SATIN STATISTICS"))
	line(true, "SPAWN", "%s spawns, %s executed, %s syncs", grouped(s.Spawns), grouped(s.Executed), grouped(s.Syncs))
	line(s.Aborts+s.AbortedJobs > 0, "ABORT", "%s aborts, %s messages, %s aborted jobs", grouped(s.Aborts),
		grouped(s.AbortMessages), grouped(s.AbortedJobs))
	steals := func(attempts, successes uint64) string {
		return fmt.Sprintf("%s attempts, %s successes (%.3f %%)", grouped(attempts), grouped(successes),
			100*float64(successes)/float64(max(attempts, 1)))
	}
	line(s.LocalStealAttempts > 0, "LOCAL STEAL", "%s", steals(s.LocalStealAttempts, s.LocalStealSuccesses))
	line(s.WideStealAttempts > 0, "REMOTE STEAL", "%s", steals(s.WideStealAttempts, s.WideStealSuccesses))
	line(s.IntraMessages > 0, "INTRA COMM", "%s messages, %s bytes", grouped(s.IntraMessages), grouped(s.IntraBytes))
	line(s.InterMessages > 0, "INTER COMM", "%s messages, %s bytes", grouped(s.InterMessages), grouped(s.InterBytes))
	line(s.SharedFetched+s.SharedOffers > 0, "SHARED", "%s values fetched, %s bytes in clusters, %s between, %s offers",
		grouped(s.SharedFetched), grouped(s.SharedIntraBytes), grouped(s.SharedInterBytes), grouped(s.SharedOffers))
	line(s.RestartedJobs+s.OrphansReused > 0, "FAULT", "%s restarted jobs, %s orphans used again",
		grouped(s.RestartedJobs), grouped(s.OrphansReused))
	line(end.unheard > 0, "NOT COUNTED", "what %s did last", counted(uint64(end.unheard), "peer"))
	line(s.Copies > 0, "COPIES", "%s of jobs that took others long, %s done first", grouped(s.Copies),
		grouped(s.CopiesWon))
	b.WriteString(heading("SATIN RUN TIME BREAKDOWN"))
	fmt.Fprintf(&b, "SATIN: %-44s %s\n", "TOTAL_RUN_TIME:", seconds(end.at))
	total := s.Total().Seconds()
	added := func(name string, took report.Span) {
		if took > 0 {
			fmt.Fprintf(&b, "SATIN: %-27s of all workers %s (%6.3f %%)\n", name+":",
				seconds(floatSeconds(took.Seconds())), 100*took.Seconds()/total)
		}
	}
	added("STEAL_TIME", s.StealTime)
	added("WAIT_TIME", s.WaitTime)
	added("COMMUNICATION_TIME", s.CommTime)
	added("ENCODING_TIME", s.EncodeTime)
	added("RECOVERY_TIME", s.RecoverTime)
	added("IDLE_TIME", s.IdleTime)
	b.WriteByte('\n')
	added("TOTAL_PARALLEL_OVERHEAD", s.Overhead())
	added("USEFUL_APP_TIME", s.UsefulTime)
	if s.HeldTime > 0 {
		b.WriteString(processor(min(100*s.CPUTime.Seconds()/s.HeldTime.Seconds(), 100)))
	}
	return b.String()
}

// heading is a line of dashes with a title in it.
func heading(title string) string {
	const before, width = 31, 79
	return fmt.Sprintf("%s%s%s\n", strings.Repeat("-", before), title, strings.Repeat("-", width-before-len(title)))
}
