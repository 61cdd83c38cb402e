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

// BenchmarkTake is how long a busy engine takes to give a job away, in this process and in one of its own, in pairs:
// the difference is what a steal costs more.
func BenchmarkTake(b *testing.B) {
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
	for _, e := range engines {
		arg, err := wire.Value().Encode(7)
		if err != nil {
			b.Fatal(err)
		}
		e.Do(&port.Order{Kind: port.Cores, Max: 1})
		e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &steal.Job{Function: "porttest.seek", Arg: arg}})
	}
	ticket := steal.Ticket(0)
	for b.Loop() {
		for i, e := range engines {
			engines[1-i].Do(&port.Order{Kind: port.Cores}) // the other one is not to be in the way
			e.Do(&port.Order{Kind: port.Cores, Max: 1})
			time.Sleep(5 * time.Millisecond) // as long as steals are apart, or more
			ticket++
			begun := time.Now()
			e.Do(&port.Order{Kind: port.Take, Ticket: ticket, Max: 1})
			for got := false; !got; {
				<-e.Bell()
				events, _ := e.Poll()
				for _, ev := range events {
					if got = got || ev.Kind == port.Taken; ev.Kind == port.Taken && len(ev.Jobs) == 1 {
						took[i] = append(took[i], time.Since(begun))
						e.Do(&port.Order{Kind: port.PutBack, Ref: ev.Jobs[0].Ref})
					}
				}
			}
		}
	}
	for i, name := range []string{"here", "there"} {
		slices.Sort(took[i])
		if n := len(took[i]); n > 0 {
			b.ReportMetric(float64(took[i][n/2].Nanoseconds())/1e3, name+"-p50-us")
		}
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
