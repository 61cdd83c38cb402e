package steal_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// recoveryCommand carries out the commands of transcripts about lost work.
func (s *stage) recoveryCommand(t *testing.T, d *datadriven.TestData) {
	names := d.CmdArgs
	switch d.Cmd {
	case "naive": // all cores recompute what is lost
		s.run.Recovery = steal.Naive
	case "child": // child b 1.1 [id=other] [restarted]: a job at that path in b's queue
		x := s.actor(t, d, names[0].Key)
		x.queue = append(x.queue, x.newJob(t, d))
		x.load.Idle = 0
		s.report(x)
	case "found": // found b 1.1 [id=other]: b's worker was about to begin that job under a restarted one
		x := s.actor(t, d, names[0].Key)
		j := x.newJob(t, d)
		j.Job.Restarted = true
		x.happened(port.Event{Kind: port.Found, Jobs: []steal.Taken{j}})
	case "keep", "restore": // keep b 1.1 out: that job ran in place at b; restore: a checkpoint at b has it
		x := s.actor(t, d, names[0].Key)
		part := []steal.Partial{{Path: parsePath(t, d, names[1].Key), Identity: identityOf(names[1].Key, d),
			Outcome: []byte(names[2].Key)}}
		if d.Cmd == "keep" {
			x.happened(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Partial: part[0]}}})
		} else {
			x.driver.Restore(s.now, part)
		}
	case "look": // look b 1 1.1: what b knows of orphans at these paths
		x := s.actor(t, d, names[0].Key)
		for _, n := range names[1:] {
			hit, below := x.driver.Core().Orphans().Look(parsePath(t, d, n.Key))
			s.printf("%s: %s hit=%v below=%v\n", x.name, n.Key, hit, below)
		}
	case "cancel": // the run is over for b
		x := s.actor(t, d, names[0].Key)
		x.driver.Cancel(s.now)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
}

// newJob makes a job at a path. Its argument is the path, or what id says.
func (x *actor) newJob(t *testing.T, d *datadriven.TestData) steal.Taken {
	text := d.CmdArgs[1].Key
	x.lastRef++
	arg := argumentOf(text, d)
	j := steal.Job{Path: parsePath(t, d, text), Identity: job.Identify("f", arg), Function: "f", Arg: arg,
		Restarted: d.HasArg("restarted")}
	x.jobs[x.lastRef] = j
	return steal.Taken{Ref: x.lastRef, Job: j}
}

func identityOf(text string, d *datadriven.TestData) job.Identity {
	return job.Identify("f", argumentOf(text, d))
}

func argumentOf(text string, d *datadriven.TestData) []byte {
	if d.HasArg("id") {
		for _, a := range d.CmdArgs {
			if a.Key == "id" {
				text = a.Vals[0]
			}
		}
	}
	return []byte(text)
}

func parsePath(t *testing.T, d *datadriven.TestData, text string) (p job.Path) {
	for _, e := range strings.Split(text, ".") {
		n, err := strconv.ParseUint(e, 10, 32)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		p = append(p, uint32(n))
	}
	return p
}
