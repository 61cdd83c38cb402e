package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("test.program", program)
	satin.RegisterErr("test.shaky", shaky)
}

// A programArg makes a random program: what a job does follows from its seed, its result from that alone.
type programArg struct {
	Seed  uint64
	Depth int
}

func (a programArg) child(i int) programArg {
	x := a.Seed + uint64(i+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return programArg{x ^ x>>31, a.Depth - 1}
}

// called makes a the argument of a plain call: not one that aborts, because a plain call is part of its
// caller's job, whose other children it would abort too.
func (a programArg) called() programArg {
	if a.Seed%10 == 5 {
		a.Seed++
	}
	return a
}

// program uses every idea of the model in a way whose result does not depend on the order of execution.
func program(f *satin.Frame, a programArg) int {
	visits.note(f, a)
	n := int(a.Seed>>8%5) + 1
	if a.Depth == 0 {
		return int(a.Seed % 1000)
	}
	sum := 0
	switch a.Seed % 10 {
	case 0: // the classic: one spawned, one called
		x := satin.Spawn(f, program, a.child(0))
		return program(f, a.child(1).called()) + x.Get()
	case 1: // futures taken in any order, one after Sync
		xs := make([]satin.Future[programArg, int], n)
		for i := range xs {
			xs[i] = satin.Spawn(f, program, a.child(i))
		}
		if a.Seed>>16%2 == 0 {
			f.Sync()
		}
		for i := range xs {
			sum += takeOnce(xs[(i*3+int(a.Seed>>20%5))%n], n)
		}
	case 2: // a group, and a future among its jobs; and a group that is given up
		g, h := satin.Fork(f, program), satin.ForkErr(f, shaky)
		g.Spawn(a.child(0))
		h.Spawn(a.child(3))
		x := satin.Spawn(f, program, a.child(1))
		h.Spawn(a.child(4))
		g.Spawn(a.child(2))
		h.Abort()
		for r := range g.Results() {
			sum += r
		}
		sum += x.Get()
	case 3: // two groups at a time, an inlet that spawns
		g, h := satin.Fork(f, program), satin.Fork(f, identity)
		g.Spawn(a.child(0))
		h.Spawn(1)
		g.Spawn(a.child(1))
		for r := range g.Results() {
			sum += r
			h.Spawn(2)
		}
		for r := range h.Results() {
			sum += r
		}
	case 4: // the first result ends the loop, all are equal
		g := satin.Fork(f, program)
		for range n {
			g.Spawn(programArg{a.Seed / 10 * 10, a.Depth - 1})
		}
		for r := range g.Results() {
			sum = r
			break
		}
	case 5: // abort, then go on
		for i := range n {
			satin.Spawn(f, program, a.child(i))
		}
		f.Abort()
		sum = satin.Spawn(f, program, a.child(9)).Get()
	case 6: // failures as values
		g := satin.ForkErr(f, shaky)
		for i := range n {
			g.Spawn(a.child(i))
		}
		for r, err := range g.Results() {
			if je := (*satin.JobError)(nil); err == nil {
				sum += r
			} else if !errors.As(err, &je) {
				panic(fmt.Sprint("not a JobError: ", err))
			} else {
				sum += 7
			}
		}
	case 7: // forgotten children
		satin.Spawn(f, program, a.child(0))
		sum = program(f, a.child(1).called())
	case 9: // a group that begins when an older future is gone
		x := satin.Spawn(f, program, a.child(0))
		g := satin.Fork(f, program)
		sum = x.Get()
		for i := range n {
			g.Spawn(a.child(i + 1))
		}
		for r := range g.Results() {
			sum += r
		}
	case 8: // spawn and get in a loop
		for i := range n {
			sum = sum*3 + satin.Spawn(f, program, a.child(i)).Get()%1000
		}
	}
	return sum % 1_000_003
}

// takeOnce takes x if the permutation of case 1 visits each future once, and looks at nothing otherwise.
func takeOnce[A, R any](x satin.Future[A, R], n int) R {
	var none R
	if n%3 == 0 {
		return none // (i*3) % n visits some twice: they are left to the end of the frame
	}
	return x.Get()
}

// shaky fails or panics for some seeds.
func shaky(f *satin.Frame, a programArg) (int, error) {
	switch a.Seed % 5 {
	case 0:
		return 0, errors.New("shaky")
	case 1:
		x := satin.Spawn(f, program, a) // left behind
		_ = x
		panic("very shaky")
	}
	return program(f, a.called()), nil
}

// TestPrograms runs random programs on pools, with a thief outside that completes, fails to keep or puts back what it
// takes, and compares with the sequential program.
func TestPrograms(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			p := testPool(t, workers)
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				thiefOutside(t, p, stop)
			}()
			trials(t, func(rng *rand.Rand) {
				a := anyProgram(rng, 0)
				want, wantErr := Run(context.Background(), nil, program, a)
				got, err := Run(context.Background(), p, program, a)
				if got != want || err != nil || wantErr != nil {
					t.Fatalf("got %d, %v; the sequential program gives %d, %v", got, err, want, wantErr)
				}
			})
			close(stop)
			<-stopped
		})
	}
}

// pollEvery is how long a thief that finds nothing leaves the processors to others.
const pollEvery = 20 * time.Microsecond

func thiefOutside(t testing.TB, p *engine.Pool, stop chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		job := p.Take()
		if job == nil {
			time.Sleep(pollEvery)
			continue
		}
		if n%3 == 0 {
			job.PutBack(false)
			continue
		}
		compute(t, job)
	}
}
