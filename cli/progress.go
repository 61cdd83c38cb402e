package cli

import (
	"fmt"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/pace"
	"github.com/satin-peer/satin/internal/report"
)

// A sample is what is known of a run at one moment. A sequential run has no workers, share and counts; only
// one in a swarm has peers.
type sample struct {
	at          time.Duration // since the run began
	share       float64       // of the job tree that is done, 0 to 1
	satin.Stats               // of a pool that has done nothing else
	peers       int           // that work on it
	unheard     int           // of these, in the end, those that did not tell what they did last
	left        *report.Left  // as the daemon estimates it, which has seen all of the run; nil if there is none
	waits       string        // what its jobs wait for until they can be compared; "" if none does
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
	pace   pace.Meter
	most   float64 // the largest share so far
}

// rateWindow is over which jobs per second are counted: long enough for a calm figure.
const rateWindow = 5 * time.Second

// progress is what the user is shown.
type progress struct {
	sample
	rate float64 // jobs executed per second lately
}

// add takes the next sample of a run. The share of the tree is an estimate that falls when a job has more children than
// was expected; what is shown does not.
func (m *meter) add(s sample) progress {
	if len(m.recent) == 0 {
		m.recent = []sample{{}}
	}
	m.most = max(m.most, s.share)
	s.share = m.most
	m.pace.Add(s.at, s.share)
	if left, known := m.pace.Left(s.at); known && s.left == nil {
		s.left = &report.Left{Least: left.Least.Seconds(), Most: left.Most.Seconds()}
	}
	p := progress{sample: s}
	m.recent = append(m.recent, s)
	for len(m.recent) > 2 && s.at-m.recent[1].at >= rateWindow {
		m.recent = m.recent[1:]
	}
	if from := m.recent[0]; s.at > from.at && s.Executed > from.Executed {
		p.rate = float64(s.Executed-from.Executed) / (s.at - from.at).Seconds()
	}
	return p
}

// eta is when it ends: a range.
func (p progress) eta() string {
	if p.left == nil {
		return "unknown"
	}
	from, to := brief(floatSeconds(p.left.Least)), brief(floatSeconds(p.left.Most))
	switch {
	case p.left.Most >= pace.MaxLeft.Seconds():
		return from + " or more"
	case from == to:
		return from
	}
	return from + "-" + to
}

// line is the progress on a terminal, to the right of the bar.
func (p progress) line() string {
	switch {
	case p.waits != "":
		return fmt.Sprintf("%6s  %s", percent(p.share), p.waits)
	case p.peers > 0 && p.Workers == 0:
		return fmt.Sprintf("%6s  nobody computes now: see satin-peer status, or take run --local", percent(p.share))
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
	case p.waits != "":
		return fmt.Sprintf("%s: %s of the tree done; %s", brief(p.at), percent(p.share), p.waits)
	case p.peers > 0 && p.Workers == 0:
		return fmt.Sprintf("%s: %s of the tree done; nobody computes now: satin-peer status says why; %s", brief(p.at),
			percent(p.share), insteadHere)
	case p.peers > 0:
		where = " of " + counted(uint64(p.peers), "peer")
	case p.Workers == 0:
		return brief(p.at) + ": in the sequential program"
	}
	return fmt.Sprintf("%s: %s of the tree done, %s jobs/s, %d of %d workers%s busy, ETA %s",
		brief(p.at), percent(p.share), scaled(p.rate), p.Busy, p.Workers, where, p.eta())
}

// A display shows the progress on the console's error output: one line that stays where it is on a terminal,
// elsewhere a line every 10 seconds.
type display struct {
	console console
	meter   meter
	bar     *pb.ProgressBar // nil off a terminal
	drawn   bool
	silent  int // samples since the last line, off a terminal
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
		d.bar.SetWriter(c.screen)
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
			fmt.Fprintln(d.console.err, p.plain())
			d.silent = 0
		}
		return
	}
	d.bar.SetWidth(max(d.console.width()-1, 1)) // a full last column makes some terminals begin a new line
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
