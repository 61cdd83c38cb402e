package child_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/porttest"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// BenchmarkTake is how long an engine takes to give a job away, in this process and in one of its own, in pairs: the
// difference is what a steal costs more. A busy worker has to come by first; one that was stopped has left all its jobs
// for others. The worker of a tree needs the jobs that it gives away some milliseconds later, as in most programs, and
// so does one whose jobs read a shared value; a hasty one needs each within microseconds, so that none can be fetched
// before it is asked for. The target is make bench-take.
func BenchmarkTake(b *testing.B) {
	for _, c := range []struct {
		name  string
		fn    string
		arg   int
		cores int
	}{{"tree", "porttest.long", 32, 1}, {"sharing", "porttest.shares", 32, 1},
		{"hasty", "porttest.seek", 7, 1}, {"stopped", "porttest.seek", 7, 0}} {
		b.Run(c.name, func(b *testing.B) { takes(b, c.fn, c.arg, c.cores) })
	}
}

func takes(b *testing.B, fn string, n, cores int) {
	cfg := porttest.Config()
	cfg.Idle = true // as in a daemon
	here, err := compute.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer here.Close()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	there, err := child.Start(child.Config{Command: []string{exe, "compute"}, Compute: cfg})
	if err != nil {
		b.Fatal(err)
	}
	defer there.Close()
	engines := []port.Live{here, there}
	took := make([][]time.Duration, 2)
	ticket := steal.Ticket(0)
	for i, e := range engines {
		arg, err := wire.Value().Encode(n)
		if err != nil {
			b.Fatal(err)
		}
		e.Do(&port.Order{Kind: port.Cores, Max: 1, Others: true})
		e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &steal.Job{Function: fn, Arg: arg}})
		for !takeOne(e, &ticket, &took[i]) { // until it has begun
			time.Sleep(time.Millisecond)
		}
		e.Do(&port.Order{Kind: port.Cores, Others: true})
		took[i] = nil
	}
	for b.Loop() {
		for i, e := range engines {
			engines[1-i].Do(&port.Order{Kind: port.Cores, Others: true}) // the other one is not to be in the way
			e.Do(&port.Order{Kind: port.Cores, Max: cores, Others: true})
			collect(e, 5*time.Millisecond) // as long as steals are apart, or more
			takeOne(e, &ticket, &took[i])
		}
	}
	for i, name := range []string{"here", "there"} {
		b.ReportMetric(float64(len(took[i]))/float64(b.N), name+"-got") // the others found none, which took up to a ms
		slices.Sort(took[i])
		if n := len(took[i]); n > 0 {
			b.ReportMetric(float64(took[i][n/2].Nanoseconds())/1e3, name+"-p50-us")
			b.ReportMetric(float64(took[i][0].Nanoseconds())/1e3, name+"-least-us")
		}
	}
}

// collect takes in what an engine tells for some time, as who drives it does.
func collect(e port.Live, long time.Duration) {
	over := time.After(long)
	for {
		if events, _ := e.Poll(); len(events) > 0 {
			continue
		}
		select {
		case <-e.Bell():
		case <-over:
			return
		}
	}
}

// takeOne takes a job, notes how long that took, and puts it back.
func takeOne(e port.Live, ticket *steal.Ticket, took *[]time.Duration) bool {
	*ticket++
	begun := time.Now()
	e.Do(&port.Order{Kind: port.Take, Ticket: *ticket, Max: 1})
	for {
		events, _ := e.Poll()
		at := slices.IndexFunc(events, func(ev port.Event) bool { return ev.Kind == port.Taken })
		if at < 0 {
			<-e.Bell()
			continue
		}
		jobs := events[at].Jobs
		if len(jobs) == 1 {
			*took = append(*took, time.Since(begun))
			e.Do(&port.Order{Kind: port.PutBack, Ref: jobs[0].Ref})
		}
		return len(jobs) == 1
	}
}

// BenchmarkStart is how long it takes from the decision to start a child to the outcome of its first job.
func BenchmarkStart(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		e, err := child.Start(child.Config{Command: []string{exe, "compute"}, Compute: porttest.Config()})
		if err != nil {
			b.Fatal(err)
		}
		run(b, e, "porttest.fib", 1)
		e.Close()
	}
}
