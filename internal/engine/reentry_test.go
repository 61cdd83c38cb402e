package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

var reentryPool *engine.Pool

func init() { satin.Register("reentrytest.job", reenter) }

// reenter waits, in a child of a run on reentryPool, for something of that pool, of another one, or of none.
func reenter(f *satin.Frame, how string) int {
	if deeper, ok := strings.CutPrefix(how, "child "); ok {
		return satin.Spawn(f, reenter, deeper).Get()
	}
	p := reentryPool
	switch how {
	case "close":
		p.Close()
	case "named":
		if _, err := p.Run(context.Background(), "test.fib", 5); err != nil {
			panic(err)
		}
	case "other":
		q, err := engine.NewPool(engine.Config{Workers: 1})
		if err != nil {
			panic(err)
		}
		defer q.Close()
		p = q
	case "none":
		p = nil
	}
	n, err := Run(context.Background(), p, fib, 5)
	if err != nil {
		panic(err)
	}
	return n
}

// A job that runs another one on its own pool, or closes it, would wait for the core that it holds: it gets a panic.
func TestRunInsideAJob(t *testing.T) {
	reentryPool = testPool(t, 1)
	for _, how := range []string{"run", "child child run", "named", "child named", "child close"} {
		_, err := Run(context.Background(), reentryPool, reenter, how)
		if je := (*satin.JobError)(nil); !errors.As(err, &je) ||
			!strings.Contains(err.Error(), "by a job on its own pool") {
			t.Errorf("%s: %v", how, err)
		}
	}
	for _, how := range []string{"other", "child other", "none", "child none"} {
		if n, err := Run(context.Background(), reentryPool, reenter, how); n != 5 || err != nil {
			t.Errorf("%s: %d, %v", how, n, err)
		}
	}
}
