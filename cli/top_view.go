package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/satin-peer/satin/peer/control"
)

// Styles use the terminal's own palette, so that they fit its theme. Nothing is said by colour alone.

func strong() lipgloss.Style { return lipgloss.NewStyle().Bold(true) }
func faint() lipgloss.Style  { return lipgloss.NewStyle().Faint(true) }
func good() lipgloss.Style   { return lipgloss.NewStyle().Foreground(lipgloss.Color("2")) }
func bad() lipgloss.Style    { return lipgloss.NewStyle().Foreground(lipgloss.Color("1")).Bold(true) }

const (
	topLeast  = 24 // columns below which lines are cut at the right
	topBars   = 20 // columns of a bar
	topFooter = "tab list · ↑↓ scroll · s sort · p pause 1h · r resume · q quit"
)

// View draws the screen: all lines fit the terminal, and what came from other peers is escaped.
func (t *top) View() string {
	width := max(t.width, topLeast)
	var lines []string
	switch {
	case !t.seen && t.failed != nil:
		lines = []string{bad().Render(oneLine(t.failed.Error())),
			faint().Render("it is tried again every second; q ends")}
	case !t.seen:
		lines = []string{"asking the daemon…"}
	default:
		lines = t.head(width)
		room := max(2, t.height-len(lines)-3)
		runs := t.runRows()
		peers := t.peerRows()
		forRuns := min(len(runs), max(2, room/2, room-len(peers)))
		lines = append(lines, "")
		lines = append(lines, t.window(topRuns, runs, forRuns)...)
		lines = append(lines, "")
		lines = append(lines, t.window(topPeers, peers, max(2, room-forRuns-1))...)
		lines = append(lines, "", faint().Render(topFooter))
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, width, "…")
	}
	if len(lines) > t.height {
		lines = lines[:max(1, t.height)]
	}
	return strings.Join(lines, "\n")
}

// head says what the peer does, and how fast.
func (t *top) head(width int) []string {
	s := t.sight.status
	state := strong().Render(stateText(s, t.sight.at))
	if s.State == control.PeerWorking {
		state = good().Render("● ") + state
	}
	lines := []string{
		strong().Render("satin-peer top") + "  " + oneLine(s.Swarm) + faint().Render(fmt.Sprintf("  %s  %s  up %s",
			short(s.Peer), oneLine(s.Version), brief(t.sight.at.Sub(s.Started)))),
		state + "  " + bar(share(s.Busy, s.Workers), topBars),
		fmt.Sprintf("%s jobs/s  %s", scaled(s.Work.Rate), curve(t.rates, max(10, min(width-16, topHistory/2)))),
		fmt.Sprintf("%s executed · %s stolen by others · %s from others · %sB sent · %sB received · %s",
			counted(s.Work.Executed, "job"), grouped(s.Work.Given), grouped(s.Work.Taken),
			scaled(float64(s.Work.Sent)), scaled(float64(s.Work.Received)),
			counted(uint64(s.Peers), "other peer")),
	}
	switch {
	case t.failed != nil:
		lines = append(lines, bad().Render("the daemon does not answer; this is how it was at "+clock(t.sight.at)+
			": ")+oneLine(t.failed.Error()))
	case t.note != "":
		lines = append(lines, oneLine(t.note))
	}
	return lines
}

// runRows is the table of runs: its heading and a row for each.
func (t *top) runRows() []string {
	rows := []string{t.title(topRuns, fmt.Sprintf("%-9s %-10s %-*s %9s %6s  %s", "RUN", "STATE", topBars+8, "DONE",
		"TIME", "PEERS", "WHAT"))}
	for _, r := range t.sight.runs {
		what := r.Title
		if what == "" {
			what = r.App
		}
		if r.Why != "" {
			what += ": " + r.Why
		}
		done := strings.Repeat(" ", topBars+8)
		if r.Mine || r.Share > 0 {
			done = bar(r.Share, topBars) + fmt.Sprintf(" %6s ", percent(r.Share))
		}
		rows = append(rows, fmt.Sprintf("%-9s %-10s %s %9s %6d  %s", short(r.Run), oneLine(string(r.State)),
			pad(done, topBars+8), brief(floatSeconds(r.Elapsed)), r.Peers, oneLine(what)))
	}
	if len(rows) == 1 {
		rows = append(rows, faint().Render("none: satin-peer run starts one"))
	}
	return rows
}

// peerRows is the table of the other members.
func (t *top) peerRows() []string {
	rows := []string{t.title(topPeers, fmt.Sprintf("%-14s %-14s %-10s %7s %9s %9s %9s  by %s", "CLUSTER", "PEER",
		"STATE", "WORKERS", "RTT", "GIVEN", "TAKEN", topOrderNames[t.order]))}
	peers, called := t.sorted(), map[string]int{"": 2}
	for _, p := range peers {
		called[p.Name]++
	}
	for _, p := range peers {
		state := string(p.State)
		switch {
		case !p.Connected:
			state = "away"
		case !p.Alive:
			state = "silent"
		}
		name := p.Name
		if called[name] > 1 { // machines made from one image are all called the same
			name = strings.TrimSpace(pad(oneLine(name), 4) + " " + short(p.Peer))
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %7d %9s %9s %9s", pad(oneLine(p.Cluster), 14),
			pad(oneLine(name), 14), pad(oneLine(state), 10), p.Workers, millis(p.RTT),
			grouped(uint64(max(p.Given, 0))), grouped(uint64(max(p.Taken, 0)))))
	}
	if len(rows) == 1 {
		rows = append(rows, faint().Render("none: satin-peer invite lets others in"))
	}
	return rows
}

// title is a table's heading; that of the list which the keys move is marked.
func (t *top) title(list topList, text string) string {
	if t.list == list {
		return strong().Render("▸ " + text)
	}
	return faint().Render("  " + text)
}

// window is the part of a table that there is room for: the heading, and the rows from where it is scrolled to.
func (t *top) window(list topList, rows []string, room int) []string {
	head, rest := rows[0], rows[1:]
	room = max(1, room-1)
	t.scroll[list] = max(0, min(t.scroll[list], len(rest)-room))
	from := t.scroll[list]
	shown := rest[from:min(len(rest), from+room)]
	if hidden := len(rest) - len(shown); hidden > 0 {
		head += faint().Render("  " + strconv.Itoa(hidden) + " more")
	}
	lines := []string{head}
	for _, row := range shown {
		lines = append(lines, "  "+row)
	}
	return lines
}

// bar shows a share of something.
func bar(share float64, columns int) string {
	full := int(min(max(share, 0), 1)*float64(columns) + 0.5)
	return good().Render(strings.Repeat("█", full)) + faint().Render(strings.Repeat("░", columns-full))
}

// curve draws the newest values, the highest as a full block.
func curve(values []float64, columns int) string {
	const blocks = "▁▂▃▄▅▆▇█"
	values = values[max(0, len(values)-columns):]
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	levels := []rune(blocks)
	var b strings.Builder
	for _, v := range values {
		level := 0
		if most > 0 {
			level = min(int(v/most*float64(len(levels))), len(levels)-1)
		}
		b.WriteRune(levels[max(level, 0)])
	}
	return b.String()
}

func share(part, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// pad makes text exactly so many columns wide.
func pad(text string, columns int) string {
	text = ansi.Truncate(text, columns, "…")
	return text + strings.Repeat(" ", max(0, columns-ansi.StringWidth(text)))
}

// short is enough of a long name to tell it from others: peer IDs differ at their ends, run IDs anywhere.
func short(name string) string {
	const digits = 8
	if len(name) <= digits {
		return name
	}
	if len(name) == runDigits {
		return name[:digits]
	}
	return "…" + name[len(name)-digits:]
}
