package main

import (
	"fmt"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/satin-peer/satin"
)

// A sample is what is known of a run at one moment. A sequential run has no workers, share and counts.
type sample struct {
	at          time.Duration // since the run began
	share       float64       // of the job tree that is done, 0 to 1
	satin.Stats               // of a pool that has done nothing else
}

// measure takes a sample, in at most some milliseconds. A nil pool is the sequential program.
func measure(pool *satin.Pool, at time.Duration) sample {
	if pool == nil {
		return sample{at: at}
	}
	return sample{at: at, share: pool.Progress(), Stats: pool.Stats()}
}

// A meter makes a run's progress of its samples.
type meter struct{ recent []sample }

// rateWindow is the time over which jobs per second are counted: long enough for a calm figure.
const rateWindow = 5 * time.Second

// progress is what the user is shown.
type progress struct {
	sample
	rate float64       // jobs executed per second lately
	left time.Duration // estimated until the end; 0 while nobody knows
}

// Bounds of an estimate of the time left that is worth showing.
const (
	minShare = 0.001
	maxLeft  = 1000 * time.Hour
)

// add takes the next sample of a run. The time left supposes that the tree's shares go on to take the time they took.
func (m *meter) add(s sample) progress {
	if len(m.recent) == 0 {
		m.recent = []sample{{}}
	}
	m.recent = append(m.recent, s)
	for len(m.recent) > 2 && s.at-m.recent[1].at >= rateWindow {
		m.recent = m.recent[1:]
	}
	p := progress{sample: s}
	if from := m.recent[0]; s.at > from.at && s.Executed > from.Executed {
		p.rate = float64(s.Executed-from.Executed) / (s.at - from.at).Seconds()
	}
	if s.share >= minShare {
		if left := s.at.Seconds() * (1 - s.share) / s.share; left < maxLeft.Seconds() {
			p.left = time.Duration(left * float64(time.Second))
		}
	}
	return p
}

// line is the progress on a terminal, to the right of the bar.
func (p progress) line() string {
	if p.Workers == 0 {
		return brief(p.at) + " in the sequential program"
	}
	return fmt.Sprintf("%6s  %s jobs/s  %d/%d workers busy  ETA %s", percent(p.share), scaled(p.rate), p.Busy, p.Workers, p.eta())
}

// plain is the progress as a line of a log.
func (p progress) plain() string {
	if p.Workers == 0 {
		return brief(p.at) + ": in the sequential program"
	}
	return fmt.Sprintf("%s: %s of the tree done, %s jobs/s, %d of %d workers busy, ETA %s",
		brief(p.at), percent(p.share), scaled(p.rate), p.Busy, p.Workers, p.eta())
}

func (p progress) eta() string {
	if p.left == 0 {
		return "unknown"
	}
	return brief(p.left)
}

// A display shows the progress on the console's error output: one line that stays where it is on a terminal, elsewhere
// a line now and then.
type display struct {
	console
	meter meter
	bar   *pb.ProgressBar // nil off a terminal
	drawn bool
}

// How often progress is told. Measuring it may keep a core for some milliseconds.
const (
	terminalEvery = 500 * time.Millisecond
	plainEvery    = 10 * time.Second
)

// barSteps is the bar's resolution.
const barSteps = 10_000

func newDisplay(c console) *display {
	d := &display{console: c}
	if c.width() > 0 {
		d.bar = pb.ProgressBarTemplate(`{{bar . "[" "=" ">" " " "]"}} {{string . "progress"}}`).New(barSteps)
		d.bar.SetWriter(c.err)
		d.bar.Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.Color, false).Set(pb.CleanOnFinish, true)
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
		fmt.Fprintln(d.err, p.plain())
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
