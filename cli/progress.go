package cli

import (
	"fmt"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/satin-peer/satin"
)

// A sample is what is known of a run at one moment. A sequential run has no workers, share and counts; only
// one in a swarm has peers.
type sample struct {
	at          time.Duration // since the run began
	share       float64       // of the job tree that is done, 0 to 1
	satin.Stats               // of a pool that has done nothing else
	peers       int           // that work on it
}

// measure takes a sample, in at most some milliseconds. A nil pool is the sequential program.
func measure(pool *satin.Pool, at time.Duration) sample {
	if pool == nil {
		return sample{at: at}
	}
	return sample{at: at, share: pool.Progress(), Stats: pool.Stats()}
}

// A meter makes a run's progress of its samples.
type meter struct {
	recent []sample
	past   []sample // of all the run, evenly thinned out
}

const (
	rateWindow = 5 * time.Second // over which jobs per second are counted: long enough for a calm figure
	maxPast    = 256             // samples kept of the past
	maxLeft    = 1000 * time.Hour
)

// progress is what the user is shown.
type progress struct {
	sample
	rate float64       // jobs executed per second lately
	left time.Duration // estimated until the end; less than 0 while nobody knows
}

// add takes the next sample of a run.
func (m *meter) add(s sample) progress {
	if len(m.past) == 0 {
		m.recent, m.past = []sample{{}}, []sample{{}}
	}
	p := progress{sample: s, left: m.left(s)}
	m.recent = append(m.recent, s)
	for len(m.recent) > 2 && s.at-m.recent[1].at >= rateWindow {
		m.recent = m.recent[1:]
	}
	if from := m.recent[0]; s.at > from.at && s.Executed > from.Executed {
		p.rate = float64(s.Executed-from.Executed) / (s.at - from.at).Seconds()
	}
	if m.past = append(m.past, s); len(m.past) > maxPast {
		for i := range maxPast / 2 {
			m.past[i] = m.past[2*i]
		}
		m.past = m.past[:maxPast/2]
	}
	return p
}

// left estimates the time left: it supposes that the rest of the tree goes as the second half of the time so
// far. In an uneven tree the first shares are done in no time.
func (m *meter) left(s sample) time.Duration {
	half := m.past[0]
	for _, old := range m.past {
		if old.at <= s.at/2 {
			half = old
		}
	}
	left := (1 - s.share) * (s.at - half.at).Seconds() / (s.share - half.share)
	if s.share <= half.share || left >= maxLeft.Seconds() {
		return -1
	}
	return time.Duration(left * float64(time.Second))
}

// line is the progress on a terminal, to the right of the bar.
func (p progress) line() string {
	switch {
	case p.peers > 0 && p.Workers == 0:
		return fmt.Sprintf("%6s  nobody computes now: satin-peer status says why", percent(p.share))
	case p.peers > 0:
		return fmt.Sprintf("%6s  %s jobs/s  %s  %d/%d workers busy  ETA %s", percent(p.share), scaled(p.rate),
			counted(uint64(p.peers), "peer"), p.Busy, p.Workers, p.eta())
	case p.Workers == 0:
		return brief(p.at) + " in the sequential program"
	}
	return fmt.Sprintf("%6s  %s jobs/s  %d/%d workers busy  ETA %s", percent(p.share), scaled(p.rate), p.Busy,
		p.Workers, p.eta())
}

// plain is the progress as a line of a log.
func (p progress) plain() string {
	where := ""
	switch {
	case p.peers > 0 && p.Workers == 0:
		return fmt.Sprintf("%s: %s of the tree done; nobody computes now: satin-peer status says why", brief(p.at),
			percent(p.share))
	case p.peers > 0:
		where = " of " + counted(uint64(p.peers), "peer")
	case p.Workers == 0:
		return brief(p.at) + ": in the sequential program"
	}
	return fmt.Sprintf("%s: %s of the tree done, %s jobs/s, %d of %d workers%s busy, ETA %s",
		brief(p.at), percent(p.share), scaled(p.rate), p.Busy, p.Workers, where, p.eta())
}

func (p progress) eta() string {
	if p.left < 0 {
		return "unknown"
	}
	return brief(p.left)
}

// A display shows the progress on the console's error output: one line that stays where it is on a terminal,
// elsewhere a line every 10 seconds.
type display struct {
	console
	meter  meter
	bar    *pb.ProgressBar // nil off a terminal
	drawn  bool
	silent int // samples since the last line, off a terminal
}

// How often progress is measured, which may keep a core for some milliseconds, and told. Workers that were
// too busy to answer in time have answered when they are asked again; that is why it is measured more often
// than it is told.
const (
	terminalEvery = 500 * time.Millisecond
	plainEvery    = time.Second
	samplesALine  = 10
)

// barSteps is the bar's resolution.
const barSteps = 10_000

func newDisplay(c console) *display {
	d := &display{console: c}
	if c.width() > 0 {
		d.bar = pb.ProgressBarTemplate(`{{bar . "[" "=" ">" " " "]"}} {{string . "progress"}}`).New(barSteps)
		d.bar.SetWriter(c.err)
		d.bar.Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.Color,
			false).Set(pb.CleanOnFinish, true)
	}
	return d
}

func (d *display) interval() time.Duration {
	if d.bar != nil {
		return terminalEvery
	}
	return plainEvery
}

func (d *display) show(s sample) {
	p := d.meter.add(s)
	if d.bar == nil {
		if d.silent++; d.silent == samplesALine {
			fmt.Fprintln(d.err, p.plain())
			d.silent = 0
		}
		return
	}
	d.bar.SetWidth(max(d.width()-1, 1)) // a full last column makes some terminals begin a new line
	d.bar.Set("progress", p.line()).SetCurrent(int64(p.share * barSteps)).Write()
	d.drawn = true
}

// clear removes the line from the terminal.
func (d *display) clear() {
	if d.drawn {
		d.bar.Finish().Write()
		d.drawn = false
	}
}
