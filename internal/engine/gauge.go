package engine

import (
	"context"
	"errors"
	"time"
)

var errGone = errors.New("satin: the job ended its goroutine")

// Time runs the function registered as fn as the sequential program, on a thread of its own with the workers' priority,
// and says how long that took by the clock on the wall: what a core is worth here, whatever the reason. Nobody steals
// of it, it shares nothing, and it is in no statistics. The error is of the job, or that of ctx.
func (p *Pool) Time(ctx context.Context, fn string, arg any) (took time.Duration, err error) {
	r, err := newNamed(fn, arg)
	if err != nil {
		return 0, err
	}
	err = errGone
	p.Beside(func() {
		began := time.Now()
		err = RunAlone(ctx, r, &Shelf{})
		took = time.Since(began)
	})
	return took, err
}
