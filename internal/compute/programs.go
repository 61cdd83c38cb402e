package compute

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/port"
)

// programs are the executables that jobs wait for. Whoever has started this process runs them.
type programs struct {
	tell func(port.Event)
	quit <-chan struct{}

	mu      sync.Mutex
	ticket  uint64
	waiting map[uint64]chan *port.Execution
}

// AbortedEvery is how often a job that waits for an executable looks whether anybody wants it.
const AbortedEvery = 20 * time.Millisecond

// execute is called by workers.
func (p *programs) execute(name string, input []byte, args []string, aborted func() bool) ([]byte, error) {
	if len(args) > port.MaxArgs {
		return nil, fmt.Errorf("executable %q: %d arguments, at most %d are possible", name, len(args), port.MaxArgs)
	}
	came := make(chan *port.Execution, 1)
	p.mu.Lock()
	p.ticket++
	t := p.ticket
	p.waiting[t] = came
	p.mu.Unlock()
	p.tell(port.Event{Kind: port.Execute, Exec: &port.Execution{Ticket: t, Name: name, Args: args, Data: input}})
	look := time.NewTicker(AbortedEvery)
	defer look.Stop()
	for {
		select {
		case x := <-came:
			if x.Failure != "" {
				return nil, errors.New(x.Failure)
			}
			return x.Data, nil
		case <-look.C:
			if !aborted() {
				continue
			}
		case <-p.quit:
		}
		p.mu.Lock()
		delete(p.waiting, t)
		p.mu.Unlock()
		p.tell(port.Event{Kind: port.Withdraw, Exec: &port.Execution{Ticket: t}})
		return nil, errors.New("executable \"" + name + "\": nobody waits for this job any more")
	}
}

// executed wakes the worker that waits, if it still does.
func (p *programs) executed(x *port.Execution) {
	p.mu.Lock()
	came := p.waiting[x.Ticket]
	delete(p.waiting, x.Ticket)
	p.mu.Unlock()
	if came != nil {
		came <- x
	}
}
