package steal

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/satin-peer/satin/job"
)

// recoveryCommand carries out the commands of transcripts about lost work.
func (s *stage) recoveryCommand(t *testing.T, d *datadriven.TestData) {
	names := d.CmdArgs
	switch d.Cmd {
	case "naive": // all cores recompute what is lost
		s.run.Recovery = Naive
	case "child": // child b 1.1 [id=other] [restarted]: a job at that path in b's queue
		x := s.actor(t, d, names[0].Key)
		x.queue = append(x.queue, x.newJob(t, d))
		x.load.Idle = 0
		s.report(x)
	case "found": // found b 1.1 [id=other]: b's worker was about to begin that job under a restarted one
		x := s.actor(t, d, names[0].Key)
		j := x.newJob(t, d)
		j.Job.Restarted = true
		s.show(x, x.core.Found(s.now, []Taken{j}))
	case "keep", "restore": // keep b 1.1 out: that job ran in place at b; restore: a checkpoint at b has it
		x := s.actor(t, d, names[0].Key)
		part := []Partial{{Path: parsePath(t, d, names[1].Key), Identity: identityOf(names[1].Key, d),
			Outcome: []byte(names[2].Key)}}
		if d.Cmd == "keep" {
			s.show(x, x.core.Keep(s.now, part))
		} else {
			s.show(x, x.core.Restore(s.now, part))
		}
	case "look": // look b 1 1.1: what b knows of orphans at these paths
		x := s.actor(t, d, names[0].Key)
		for _, n := range names[1:] {
			hit, below := x.core.Orphans().Look(parsePath(t, d, n.Key))
			s.printf("%s: %s hit=%v below=%v\n", x.name, n.Key, hit, below)
		}
	case "cancel": // the run is over for b
		x := s.actor(t, d, names[0].Key)
		s.show(x, x.core.Cancel(s.now))
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
}

// newJob makes a job at a path. Its identity follows from the path, or from the argument id.
func (x *actor) newJob(t *testing.T, d *datadriven.TestData) Taken {
	text := d.CmdArgs[1].Key
	x.lastRef++
	j := Job{Path: parsePath(t, d, text), Identity: identityOf(text, d), Function: "f", Arg: []byte(text),
		Restarted: d.HasArg("restarted")}
	x.jobs[x.lastRef] = j
	return Taken{Ref: x.lastRef, Job: j}
}

func identityOf(text string, d *datadriven.TestData) job.Identity {
	if d.HasArg("id") {
		for _, a := range d.CmdArgs {
			if a.Key == "id" {
				text = a.Vals[0]
			}
		}
	}
	return job.Identify("f", []byte(text))
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

var classNames = [...]string{settled: "its owner had it", handed: "handed over", own: "nobody else has it"}

// recoveryState prints what a core knows of lost work.
func (s *stage) recoveryState(c *Core) {
	for _, g := range c.segments.inOrder() {
		if g.orphan {
			s.printf("  segment %d is an orphan, job %s: %s\n", g.id, g.job.Path, stateNames[g.state])
		}
	}
	for _, k := range c.lost.store.index {
		s.printf("  keeps %q of job %s: %s\n", k.Outcome, k.Path, classNames[k.class])
	}
	for _, e := range c.lost.tuples.index {
		s.printf("  knows %s\n", describeTuple(&e.Tuple))
	}
	if c.leaving {
		s.printf("  leaves, %d pieces to hand over, %d on their way\n", len(c.departure.pieces),
			len(c.departure.transfers))
	}
	if !slices.IsSortedFunc(c.lost.tuples.index, func(a,
		b *tupleEntry) int {
		return compareNames(a.Path, a.Identity, b.Path, b.Identity)
	}) {
		s.printf("  ERROR: the table is out of order\n")
	}
}
