package all

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/apps/apptest"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// verified are command lines whose jobs can be compared, and what others are refused with.
var verified = map[string]string{
	"barneshut 500 --steps 3":                                         "",
	"barneshut 500 --steps 3 --variant tree":                          "",
	"barneshut 500 --steps 3 --variant direct":                        "",
	"fib 30 --threshold 10":                                           "",
	"gene --generate 4,40,200":                                        "",
	"grammar --generate 12 --words 300 --depth 3":                     "",
	"integrate wave --epsilon 0.02":                                   "",
	"knapsack --generate strong 50 100 50":                            "depends on what they hear of each other",
	"nqueens 11 --threshold 5":                                        "",
	"othello --depth 8":                                               "add --table=false",
	"othello --depth 10 --table=false":                                "",
	"othello --depth 8 --table=false --abort=false":                   "",
	"othello --perft 8":                                               "",
	"raytracer balls --factor 2 --size 160x160":                       "",
	"sat --pigeonhole 6 --threshold 5":                                "",
	"sat --random 120 --seed 4 --threshold 5":                         "",
	"tsp --random 12 --seed 1":                                        "depends on what they hear of each other",
	"uts --type geometric --depth 9 --root 4 --seed 19 --threshold 0": "",
}

// Whoever computes a job that is verified, alone or beside others, comes to what can be compared with what all others
// come to; and an application whose jobs do not says so.
func TestEqualJobsAgree(t *testing.T) {
	compared := 0
	for line, want := range verified {
		t.Run(line, func(t *testing.T) {
			name, args, _ := strings.Cut(line, " ")
			for _, app := range Apps() {
				if app.Name != name {
					continue
				}
				p, err := apptest.Setup(app, args)
				if err != nil {
					t.Fatal(err)
				}
				arg, loans, err := compute.HandOver(p.Arg)
				if err != nil {
					t.Fatal(err)
				}
				c, err := compute.Comparing(p.Root, arg)
				if err != nil || (c.Not == "") != (want == "") || !strings.Contains(c.Not, want) {
					t.Fatalf("it can be compared: %+v, %v", c, err)
				}
				if want == "" {
					compared += agree(t, p.Root, arg, loans)
				}
			}
		})
	}
	if compared < len(verified) {
		t.Errorf("%d jobs were compared", compared)
	}
}

// bench is an engine of which jobs are taken and computed again.
type bench struct {
	t     *testing.T
	e     port.Live
	left  int                       // jobs to compare
	twice map[steal.SegmentID]*pair // by both segments
	last  steal.SegmentID
	root  bool

	compared int
}

// pair is a job that is computed twice.
type pair struct {
	taken    steal.Taken
	segments [2]steal.SegmentID
	outcomes [][]byte
	judged   [][]byte
}

// agree runs a problem, and jobs that it gives away twice each.
func agree(t *testing.T, root string, arg []byte, loans []compute.Loan) (compared int) {
	e, err := compute.New(compute.Config{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	job, err := compute.RootOf(root, arg)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, e: e, left: 6, twice: map[steal.SegmentID]*pair{}, last: 1}
	e.Do(&port.Order{Kind: port.Cores, Max: 1, Others: true}) // nobody else takes jobs
	for _, l := range loans {
		e.Do(&port.Order{Kind: port.Here, Shared: &port.Shared{Digest: l.Recipe.Digest(), Name: l.Recipe.Name,
			Data: l.State.Bytes()}})
	}
	e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &job})
	e.Do(&port.Order{Kind: port.Take, Ticket: 1, Max: 4})
	deadline := time.After(8 * time.Minute)
	for !b.root || len(b.twice) > 0 {
		events, again := e.Poll()
		for i := range events {
			b.happened(&events[i])
		}
		if len(events) > 0 {
			continue // what was ordered then may be answered
		}
		if again == 0 {
			again = time.Minute
		}
		select {
		case <-e.Bell():
		case <-time.After(again):
		case <-deadline:
			t.Fatal("it does not end")
		}
	}
	t.Log(b.compared, "jobs were compared")
	return b.compared
}

func (b *bench) happened(e *port.Event) {
	switch e.Kind {
	case port.Taken:
		for _, j := range e.Jobs {
			p := &pair{taken: j}
			for i := range p.segments {
				b.last++
				p.segments[i], b.twice[b.last] = b.last, p
				b.e.Do(&port.Order{Kind: port.Run, Segment: b.last, Job: &p.taken.Job})
			}
		}
		b.e.Do(&port.Order{Kind: port.Cores, Max: 1 + 2*min(len(e.Jobs), 1), Others: true})
		if b.left -= len(e.Jobs); b.left > 0 && !b.root {
			b.e.Do(&port.Order{Kind: port.Take, Ticket: e.Ticket + 1, Max: 4})
		}
	case port.Finished:
		if e.Segment == 1 {
			b.root = true
			return
		}
		if p := b.twice[e.Segment]; p != nil {
			p.outcomes = append(p.outcomes, e.Outcome)
			b.e.Do(&port.Order{Kind: port.Judge, Job: &p.taken.Job, Outcome: e.Outcome,
				Shared: &port.Shared{Ticket: sharedobj.Ticket(e.Segment)}})
		}
	case port.Judged:
		b.judged(e)
	case port.Dropped: // nobody waits for these any more
		for s, p := range b.twice {
			for _, ref := range e.Refs {
				if p.taken.Ref == ref {
					b.e.Do(&port.Order{Kind: port.Abort, Segment: s})
					delete(b.twice, s)
				}
			}
		}
	}
}

func (b *bench) judged(e *port.Event) {
	p := b.twice[steal.SegmentID(e.Shared.Ticket)]
	switch {
	case p == nil:
		return
	case !e.Good:
		b.t.Fatalf("an honest outcome of %s is refused", p.taken.Job.Function)
	case e.Shared.Changed:
		p.judged = append(p.judged, nil) // whatever the other says
	default:
		p.judged = append(p.judged, e.Outcome)
	}
	if len(p.judged) < 2 {
		return
	}
	if x, y := p.judged[0], p.judged[1]; x != nil && y != nil && !bytes.Equal(x, y) {
		b.t.Errorf("two outcomes of %s at %v differ: %x and %x", p.taken.Job.Function, p.taken.Job.Path, x, y)
	}
	b.compared++
	for _, s := range p.segments {
		delete(b.twice, s)
	}
	b.e.Do(&port.Order{Kind: port.Deliver, Ref: p.taken.Ref, Outcome: p.outcomes[1]})
}
