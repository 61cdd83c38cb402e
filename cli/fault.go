package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
)

// A fault is what a peer does to itself, for trying out how a run survives it: Satin had the same.
type fault struct {
	kind string
	at   time.Duration // after the start
	long time.Duration // of a stall
}

// The kinds of faults.
const (
	faultKill  = "kill"  // the process ends at once, without a word
	faultLeave = "leave" // it leaves, as after SIGTERM
	faultStall = "stall" // it stands still, as under a debugger, and then goes on
)

const maxFault = 24 * time.Hour

const wantFault = "kill@TIME, leave@TIME or stall@TIME+LENGTH, with durations up to 24h, such as kill@30s or stall@30s+10s"

func (f fault) String() string {
	if f.kind == faultStall {
		return fmt.Sprintf("%s@%v+%v", f.kind, f.at, f.long)
	}
	return fmt.Sprintf("%s@%v", f.kind, f.at)
}

func parseFault(text string) (f fault, err error) {
	wrong := &apps.InputError{What: "--fault", Got: text, Want: wantFault}
	kind, when, ok := strings.Cut(text, "@")
	if !ok || !slices.Contains([]string{faultKill, faultLeave, faultStall}, kind) {
		return f, wrong
	}
	f.kind = kind
	if kind == faultStall {
		var long string
		if when, long, ok = strings.Cut(when, "+"); !ok {
			return f, wrong
		}
		if f.long, err = time.ParseDuration(long); err != nil || f.long <= 0 || f.long > maxFault {
			return f, wrong
		}
		if !canStall {
			return f, &apps.InputError{What: "--fault", Got: text, Want: "kill@TIME or leave@TIME on this system"}
		}
	}
	if f.at, err = time.ParseDuration(when); err != nil || f.at < 0 || f.at > maxFault {
		return f, wrong
	}
	return f, nil
}

func addFaultFlag(flags *pflag.FlagSet) *[]string {
	return flags.StringArray("fault", nil,
		"a `FAULT` that this process has, to see how runs survive it: kill@30s, leave@30s or stall@30s+10s; may be given several times")
}

func parseFaults(texts []string) (list []fault, err error) {
	for _, text := range texts {
		f, err := parseFault(text)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// arm lets the faults happen when it is time, until disarm, and says so. Those of leaving are told by the channel.
// One that has begun is over when disarm returns: what became of it is said, and nothing stalls a process that is gone,
// whose number another may have.
func (c console) arm(list []fault, say func(what string)) (leave <-chan fault, disarm func()) {
	told := make(chan fault, len(list))
	var timers []*time.Timer
	var begun sync.WaitGroup
	for _, f := range list {
		begun.Add(1)
		timers = append(timers, time.AfterFunc(f.at, func() {
			defer begun.Done()
			say("--fault " + f.String())
			if f.kind == faultLeave {
				told <- f
				return
			}
			if err := c.strike(f); err != nil {
				say("--fault " + f.String() + ": " + oneLine(err.Error()))
			}
		}))
	}
	return told, func() {
		for _, t := range timers {
			if t.Stop() {
				begun.Done()
			}
		}
		begun.Wait()
	}
}

// complain writes a line for the user.
func (c console) complain(what string) { fmt.Fprintln(c.err, "satin-peer: "+what) }

// strike does it to this process.
func strike(f fault) error {
	if f.kind == faultKill {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	}
	return stall(f.long)
}
