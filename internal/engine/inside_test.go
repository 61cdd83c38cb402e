package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// An around is an Outer with moods: what it is offered it runs elsewhere, sooner or later, or gives back.
type around struct {
	t       *testing.T
	in      *engine.Inside
	rng     *rand.Rand
	other   *engine.Pool
	done    map[*engine.Taken]*engine.Outcome // of what was offered and neither awaited nor dropped; nil: it waits
	offered int
	back    int
}

func (a *around) Wanted() int {
	if a.rng.IntN(3) > 0 {
		*a.in.Word() = 0 // come again at the next spawn
	}
	return a.rng.IntN(4)
}

func (a *around) Offer(t *engine.Taken) {
	if _, twice := a.done[t]; twice {
		a.t.Error("a job was offered twice")
	}
	a.offered++
	a.done[t] = nil
	if a.rng.IntN(2) == 0 {
		a.run(t)
	}
}

func (a *around) run(t *engine.Taken) {
	j := t.Job()
	result, err := a.other.Run(context.Background(), j.Func, j.Arg)
	o := &engine.Outcome{Result: result, Err: err}
	je := (*job.Error)(nil)
	if f, _ := engine.Lookup(j.Func); err != nil && (!f.MayFail || errors.As(err, &je) && je.Panic != nil) {
		o.Err, o.Failure = nil, err
	}
	a.done[t] = o
}

func (a *around) Await(list []*engine.Taken) (int, *engine.Outcome) {
	if len(list) == 0 {
		a.t.Fatal("somebody waits for nothing")
	}
	i := a.rng.IntN(len(list))
	t := list[i]
	o, known := a.done[t]
	switch {
	case !known:
		a.t.Fatal("somebody waits for a job that was not offered, or had an end")
	case o == nil && a.rng.IntN(2) == 0:
		a.run(t)
		o = a.done[t]
	case o == nil:
		a.back++
	}
	delete(a.done, t)
	return i, o
}

func (a *around) Dropped(t *engine.Taken) {
	if _, known := a.done[t]; !known {
		a.t.Error("a job was dropped that was not offered, or had an end")
	}
	delete(a.done, t)
}

// A program that runs inside a job has the sequential program's result, whatever becomes of what it offers: run
// elsewhere at once or late, given back, or dropped; and each job that it offers has one end.
func TestInside(t *testing.T) {
	other, err := engine.NewPool(engine.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	offered, back := 0, 0
	trials(t, func(rng *rand.Rand) {
		arg := anyProgram(rng, 0)
		want, err := Run(context.Background(), nil, program, arg)
		if err != nil {
			t.Fatal(err)
		}
		a := &around{t: t, rng: rng, other: other,
			done: map[*engine.Taken]*engine.Outcome{}}
		a.in = engine.NewInside(a, nil, nil)
		for range 2 { // an Inside runs one job after the other
			o, err := a.in.Run("test.program", arg)
			if err != nil || o.Failure != nil || o.Result != want {
				t.Errorf("%v, %v, %v; want %d", o.Result, o.Failure, err, want)
			}
			if len(a.done) > 0 {
				t.Errorf("%d jobs that were offered had no end", len(a.done))
			}
		}
		offered, back = offered+a.offered, back+a.back
	})
	if offered == 0 || back == 0 {
		t.Errorf("%d jobs were offered, %d given back: this test saw nothing", offered, back)
	}
}
