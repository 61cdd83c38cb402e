package child_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// programWork is how much processor time a program takes that works.
const programWork = 200 * time.Millisecond

// What an executable has of the processors counts as its worker's, while it runs and afterwards: else it would look as
// if other programs had these cores, and cost neither cpu_share nor hours.
func TestProgramsCount(t *testing.T) {
	if testing.Short() {
		t.Skip("a program with the race detector needs more memory than there is")
	}
	e := withPrograms(t, child.Program{}, false)
	counted := func() time.Duration {
		e.Do(&port.Order{Kind: port.Count, Whole: true})
		for {
			<-e.Bell()
			events, _ := e.Poll()
			for _, ev := range events {
				if ev.Kind == port.Counted {
					return ev.Figures.Times.CPU
				}
			}
		}
	}
	work := func(times int) *steal.Job {
		return call(t, Call{Name: "tool", Args: []string{"work", fmt.Sprint(times)}})
	}
	endOf(t, e, work(1), 1)
	if used := counted(); used < programWork {
		t.Fatalf("it has worked for %v, and %v count", programWork, used)
	}
	e.Do(&port.Order{Kind: port.Run, Segment: 2, Job: work(1 << 20)})
	eventually(t, "while it runs it counts", func() bool { return counted() >= 2*programWork })
}
