package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

func newStatusCommand(c console) *cobra.Command {
	return newShowCommand(c, cobra.Command{
		Use:   "status",
		Short: "Show what the daemon is doing, and with whom",
		Long: `status shows whether the peer of this machine computes, and why not; its swarm and cluster; whether others can reach it; the
runs in progress; and what it has done since it was started.`,
		Example: `  satin-peer status
  satin-peer status --json | jq .state`,
	}, "all of it", (*control.Client).Status, func(s control.Status) error { return writeStatus(c.out, s, time.Now()) })
}

func newPeersCommand(c console) *cobra.Command {
	return newShowCommand(c, cobra.Command{
		Use:   "peers",
		Short: "List the other members of the swarm",
		Long: `peers lists the other members that the daemon knows: their clusters, workers, round-trip times, how long ago they were heard
of, and the jobs that they stole (given) and that were stolen from them (taken). One that is yielding computes nothing now: it is
paused, or its owner's settings or other programs have its cores.`,
		Example: `  satin-peer peers
  satin-peer peers --json`,
	}, "the list", (*control.Client).Peers, func(peers []control.PeerInfo) error {
		if len(peers) == 0 {
			fmt.Fprintln(c.err,
				"No other peers are known. Join one with satin-peer join, or let others in with satin-peer invite.")
			return nil
		}
		return writePeers(c.out, peers, time.Now())
	})
}

func newRunsCommand(c console) *cobra.Command {
	return newShowCommand(c, cobra.Command{
		Use:   "runs",
		Short: "List the runs, in progress and ended",
		Long:  "runs lists the runs that the daemon knows, the newest first: its own, and those of others that it works on or refused.",
		Example: `  satin-peer runs
  satin-peer runs --json`,
	}, "the list", (*control.Client).Runs, func(runs []control.RunInfo) error {
		if len(runs) == 0 {
			fmt.Fprintln(c.err, "There are no runs. Start one with satin-peer run.")
			return nil
		}
		return writeRuns(c.out, runs)
	})
}

// A sheet is text in columns. What came from other peers is escaped.
type sheet struct{ w *tabwriter.Writer }

func newSheet(w io.Writer) sheet { return sheet{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (s sheet) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = oneLine(fmt.Sprint(cell))
	}
	fmt.Fprintln(s.w, strings.TrimRight(strings.Join(texts, "\t"), "\t "))
}

// item is a row of two columns.
func (s sheet) item(name, format string, args ...any) { s.row(name, fmt.Sprintf(format, args...)) }

func writeStatus(w io.Writer, s control.Status, now time.Time) error {
	t := newSheet(w)
	t.item("state", "%s", stateText(s, now))
	if n := len(s.Refused); n > 0 {
		t.item("refused", "%d, as satin-peer refuse lists", n)
	}
	if s.Trouble != "" {
		t.item("trouble", "%s", oneLine(s.Trouble))
	}
	if s.Name != "" {
		t.item("name", "%s", s.Name)
	}
	t.item("peer", "%s, %s", s.Peer, s.Version)
	t.item("process", "%d, up %s, start %d of this identity in %s", s.PID, brief(now.Sub(s.Started)), s.Incarnation,
		s.StateDir)
	trust := "by invitation"
	if s.Trust == "open" {
		trust = "open to all"
	}
	t.item("swarm", "%s, %s, %s connected", s.Swarm, trust, counted(uint64(s.Peers), "other peer"))
	t.item("modules", "%s", modulesText(s.Modules))
	if len(s.Executables) > 0 {
		t.item("executables", "%s", strings.Join(executableTexts(s.Executables), ", "))
	}
	t.item("reachable", "%s", reachText(s.Reachability))
	for i, a := range s.Addresses {
		name := ""
		if i == 0 {
			name = "addresses"
		}
		t.row(name, a)
	}
	t.item("work", "%s executed, %s jobs/s lately; %s stolen by others, %s from others; %s of computing",
		counted(s.Work.Executed, "job"), scaled(s.Work.Rate), grouped(s.Work.Given), grouped(s.Work.Taken),
		brief(floatSeconds(s.Work.Busy)))
	t.item("lent", "%s of processors to the runs of others, %s of theirs to own runs: over all starts",
		brief(floatSeconds(s.Work.CPUGiven)), brief(floatSeconds(s.Work.CPUUsed)))
	writeVerified(t, &s.Work.Verified)
	t.item("traffic", "%sB sent, %sB received: jobs, results and what else stealing takes; the rest is not counted",
		scaled(float64(s.Work.Sent)), scaled(float64(s.Work.Received)))
	if err := t.w.Flush(); err != nil {
		return err
	}
	if len(s.Clusters) > 0 {
		fmt.Fprintln(w)
		writeClusters(w, s.Clusters)
	}
	if len(s.Runs) > 0 {
		fmt.Fprintln(w)
		return writeRuns(w, s.Runs)
	}
	return nil
}

// mostThanks is how many owners a status names.
const mostThanks = 5

// writeVerified says what was verified of what this peer has lent, and by whom.
func writeVerified(t sheet, v *report.Verified) {
	if v.All.Runs == 0 {
		return
	}
	t.item("verified", "%s, %s in %s: %s", brief(floatSeconds(v.All.Seconds)), counted(v.All.Results, "result"),
		counted(v.All.Runs, "run"), "what their owners have compared, and signed for")
	for _, b := range v.By[:min(len(v.By), mostThanks)] {
		t.item("", "%s, %s in %s: signed by %s", brief(floatSeconds(b.Seconds)), counted(b.Results, "result"),
			counted(b.Runs, "run"), strings.TrimSpace(b.OwnerName+" "+b.Owner))
	}
	if n := v.Owners - min(len(v.By), mostThanks); n > 0 {
		t.item("", "and by %s", counted(uint64(n), "other owner"))
	}
}

func writeClusters(w io.Writer, clusters []report.Cluster) {
	t := newSheet(w)
	t.row("CLUSTER", "PEERS", "WORKERS", "RTT", "WHY")
	for _, c := range clusters {
		name := c.Name
		if c.Mine {
			name += " (this one)"
		}
		t.row(name, c.Peers, c.Workers, millis(c.RTT), c.Reason)
	}
	t.w.Flush() // the sheet writes to an output that keeps its first error
}

// named is a peer's name with the end of its ID, as names are not unique; the whole ID if it has none.
func named(name, id string) string {
	if name == "" {
		return id
	}
	return name + " (" + short(id) + ")"
}

func writePeers(w io.Writer, peers []control.PeerInfo, now time.Time) error {
	t := newSheet(w)
	t.row("CLUSTER", "NAME", "PEER", "STATE", "WORKERS", "RTT", "HEARD", "GIVEN", "TAKEN", "VERSION")
	for _, p := range peers {
		state := string(p.State)
		switch {
		case !p.Connected:
			state = "away"
		case !p.Alive:
			state = "silent"
		case p.Relayed:
			state += ", relayed"
		}
		heard := "-"
		if !p.Heard.IsZero() {
			heard = brief(max(now.Sub(p.Heard), 0)) + " ago"
		}
		t.row(p.Cluster, cmp.Or(p.Name, "-"), p.Peer, state, p.Workers, millis(p.RTT), heard, p.Given, p.Taken,
			briefVersion(p.Version))
	}
	return t.w.Flush()
}

func writeRuns(w io.Writer, runs []control.RunInfo) error {
	t := newSheet(w)
	why, recovery := "", ""
	if slices.ContainsFunc(runs, func(r control.RunInfo) bool { return r.Recovery != "" && r.Recovery != "salvage" }) {
		recovery = "RECOVERY"
	}
	if slices.ContainsFunc(runs, func(r control.RunInfo) bool { return reason(&r) != "" }) {
		why = "WHY"
	}
	uplinks := slices.ContainsFunc(runs, func(r control.RunInfo) bool { return r.Uplink != nil })
	heads := []any{"RUN", "STATE", "DONE", "TIME", "PEERS", "OWNER"}
	if uplinks {
		heads = append(heads, "UPLINK")
	}
	if recovery != "" {
		heads = append(heads, recovery)
	}
	t.row(append(heads, "WHAT", why)...)
	for _, r := range runs {
		owner := named(r.OwnerName, r.Owner)
		if r.Mine {
			owner = "this peer"
		}
		what := cmp.Or(r.Title, strings.TrimSpace(r.App+" "+strings.Join(r.Args, " ")))
		peers := strconv.Itoa(r.Peers)
		if r.Peers == 0 && r.State.Ended() {
			peers = "-" // not known any more
		}
		done := percent(r.Share)
		if r.Share == 0 && !r.Mine {
			done = "-" // it was not told yet
		}
		state := string(r.State)
		if r.Disputed {
			state += ", disputed"
		}
		if r.Efficiency > 0 && !r.State.Ended() {
			state += ", " + percent(r.Efficiency) + " efficient"
		}
		cells := []any{r.Run, state, done, brief(floatSeconds(r.Elapsed)), peers, owner}
		if uplinks {
			cells = append(cells, uplink(&r))
		}
		if recovery != "" {
			cells = append(cells, r.Recovery)
		}
		t.row(append(cells, what, reason(&r))...)
	}
	return t.w.Flush()
}

// uplink is what a run needs to send from here to other clusters, and whether it can.
func uplink(r *control.RunInfo) string {
	if r.Uplink == nil {
		return "-"
	}
	return r.Uplink.String()
}

// reason is what is to be said of a run in a line; "" if all is well.
func reason(r *control.RunInfo) string {
	list := limits(r)
	switch {
	case r.Why != "":
		return r.Why
	case len(list) > 0 && (r.Waits != "" || r.NotStoring != ""):
		return list[0]
	case r.Roster != nil && len(r.Roster.Log) > 0 && !r.State.Ended():
		return r.Roster.Log[len(r.Roster.Log)-1].Text
	case len(list) > 0:
		return list[0]
	}
	return ""
}

// limits are what of a run this peer does not take, or waits for, and why; the worst first.
func limits(r *control.RunInfo) (list []string) {
	if r.Waits != "" {
		list = append(list, r.Waits)
	}
	if r.NotStoring != "" {
		list = append(list, "nothing is kept on the disk: "+r.NotStoring)
	}
	if r.NoRoom != "" {
		list = append(list, "not all that others give is taken: "+r.NoRoom)
	}
	return list
}

func stateText(s control.Status, now time.Time) string {
	switch s.State {
	case control.PeerWorking:
		text := fmt.Sprintf("working, %d of %s busy", s.Busy, counted(uint64(s.Workers), "worker"))
		if s.Works != "" {
			text += " with jobs of " + s.Works
		}
		if s.Limit != "" {
			text += ": " + s.Limit
		}
		return text
	case control.PeerFinishing:
		return fmt.Sprintf("finishing: %s to be done here, then paused", counted(uint64(s.Left), "job"))
	case control.PeerPaused:
		return pauseText(s, now)
	case control.PeerIdle:
		if s.WhyIdle != "" {
			return "idle: " + s.WhyIdle
		}
	}
	return string(s.State)
}

func pauseText(s control.Status, now time.Time) string {
	if s.Limit != "" {
		return "not computing: " + s.Limit
	}
	if s.PausedUntil != nil {
		return fmt.Sprintf("paused for another %s", brief(max(s.PausedUntil.Sub(now), 0)))
	}
	return "paused until satin-peer resume"
}

func reachText(r control.Reachability) string {
	text := map[control.ReachState]string{
		control.ReachPublic:  "yes",
		control.ReachPrivate: "not directly",
		control.ReachUnknown: "not known yet",
	}[r.State]
	text = cmp.Or(text, string(r.State))
	if r.Why != "" {
		text += ": " + r.Why
	}
	if r.Relay != "" {
		text += "; through " + r.Relay
	}
	return text
}

// counted writes a number of things.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return grouped(n) + " " + thing
}

// millis writes a round-trip time in seconds as milliseconds.
func millis(seconds float64) string {
	if seconds <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", 1000*seconds)
}

// floatSeconds makes a duration of seconds, as JSON has them.
func floatSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
