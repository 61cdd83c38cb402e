package wan

import (
	"fmt"
	"io/fs"
	"time"
)

// A Trace is a time series of the conditions of links: the paper's measure upcall. It is not changed by use.
type Trace struct {
	samples []sample
	period  time.Duration // 0: does not repeat
}

type sample struct {
	at         time.Duration
	from, to   int
	conditions Conditions
}

// ParseTrace reads a trace for a network of that many clusters. Errors are *SyntaxError, or from files.
func ParseTrace(files fs.FS, name string, clusters int) (*Trace, error) {
	data, err := readFile(files, name)
	if err != nil {
		return nil, err
	}
	all, err := lines(name, data)
	if err != nil {
		return nil, err
	}
	t := new(Trace)
	for i := range all {
		if err := t.line(&all[i], clusters); err != nil {
			return nil, err
		}
	}
	if len(t.samples) == 0 {
		return nil, &SyntaxError{name, 0, "no samples: each is a line of seconds, from, to, bandwidth, latency"}
	}
	if last := t.samples[len(t.samples)-1].at; t.period > 0 && t.period <= last {
		return nil, &SyntaxError{name, 0, fmt.Sprintf("period %v is not longer than the last sample's time %v",
			t.period, last)}
	}
	return t, nil
}

func (t *Trace) line(f *fields, clusters int) error {
	if f.words[0] == "period" {
		f.words = f.words[1:]
		t.period = seconds(f.number("period (seconds)", 0.001, maxSeconds))
		return f.end("period")
	}
	s := sample{at: seconds(f.number("time (seconds)", 0, maxSeconds))}
	s.from = f.integer("from-cluster", 1, clusters) - 1
	s.to = f.integer("to-cluster", 1, clusters) - 1
	s.conditions = f.conditions()
	if f.err == nil && s.from == s.to {
		f.fail("cluster %d has no link to itself", s.from+1)
	}
	if n := len(t.samples); f.err == nil && n > 0 && s.at < t.samples[n-1].at {
		f.fail("time %v is before that of the sample above, %v", s.at, t.samples[n-1].at)
	}
	t.samples = append(t.samples, s)
	return f.end("sample")
}

// Upcall lets the trace set the conditions of its links, its first sample being taken at that time.
func (t *Trace) Upcall(origin time.Duration) Upcall { return &follower{trace: t, origin: origin} }

// follower is a trace being played.
type follower struct {
	trace    *Trace
	origin   time.Duration // of the present round
	position int
}

// Advance applies the samples that are due.
func (f *follower) Advance(now time.Duration, links *Links) time.Duration {
	for {
		if f.position == len(f.trace.samples) {
			if f.trace.period == 0 {
				return Never
			}
			f.origin, f.position = f.origin+f.trace.period, 0
		}
		s := &f.trace.samples[f.position]
		if at := f.origin + s.at; at > now {
			return at
		}
		links.change(s.from, s.to, s.conditions)
		f.position++
	}
}

// follow plays a trace from that time on, for a script that runs within Advance. A trace that is being played already
// starts again, so a script that says measure for ever does not grow.
func (m *Model) follow(t *Trace, origin time.Duration) {
	for i := range m.upcalls {
		if f, ok := m.upcalls[i].Upcall.(*follower); ok && f.trace == t {
			f.origin, f.position = origin, 0
			m.upcalls[i].next = f.Advance(origin, m.links)
			return
		}
	}
	u := t.Upcall(origin)
	m.upcalls = append(m.upcalls, upcall{u, u.Advance(origin, m.links)})
}
