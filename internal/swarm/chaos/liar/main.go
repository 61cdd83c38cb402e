// Command liar is satin-peer with a daemon that lies, for package chaos: the process that computes for it tells of each
// job what had come of the one before. So what it says is well formed, and wrong; and it is not said by the
// daemon, which signs it in good faith. No such thing can be switched on in satin-peer itself.
//
// Under a name that ends in -alone it says nothing of what its jobs were made of: spot checks are sure to find only
// whoever makes up all of a job.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/cli"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/pipe"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

const (
	// computes is what a daemon starts this program with: see package cli.
	computes = "compute-for-daemon"
	// honestly is in the environment of the process that really computes.
	honestly = "LIAR_COMPUTES_HONESTLY"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == computes && os.Getenv(honestly) == "" {
		if err := between(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	cli.Main(all.Apps()...)
}

// between stands between a daemon and the process that computes.
func between() error {
	task, err := wire.ReadFrame(os.Stdin, nil, wire.MaxControlFrame)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, computes)
	cmd.Env, cmd.Stderr = append(os.Environ(), honestly+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil { // it ends with its input, when this process does
		return err
	}
	if err := wire.WriteFrame(in, task, wire.MaxControlFrame); err != nil {
		return err
	}
	e := pipe.New(out, in, 0, nil)
	defer e.Close()
	l := &liar{Live: e, alone: strings.HasSuffix(self, "-alone"), runs: map[steal.SegmentID]string{},
		last: map[string][]byte{}}
	return pipe.Serve(l, os.Stdin, os.Stdout)
}

// liar is an engine that lies.
type liar struct {
	port.Live
	alone bool
	runs  map[steal.SegmentID]string // functions
	last  map[string][]byte          // what came of a function's job before
}

func (l *liar) Do(o *port.Order) {
	if o.Kind == port.Run {
		l.runs[o.Segment] = o.Job.Function
	}
	l.Live.Do(o)
}

func (l *liar) Poll() ([]port.Event, time.Duration) {
	events, again := l.Live.Poll()
	if l.alone {
		events = slices.DeleteFunc(events, func(e port.Event) bool { return e.Kind == port.Kept })
	}
	for i := range events {
		e := &events[i]
		if e.Kind != port.Finished {
			continue
		}
		f := l.runs[e.Segment]
		delete(l.runs, e.Segment)
		before := l.last[f]
		l.last[f] = e.Outcome
		if before != nil {
			e.Outcome = before
		}
	}
	return events, again
}
