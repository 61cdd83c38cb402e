package compute

import (
	"testing"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// A job that is dropped before its Take was answered is not given away: nobody would take its Ref back.
func TestEarlyDrop(t *testing.T) {
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	gone := new(engine.Taken)
	e.taking = 2
	outside{e: e}.Dropped(gone)
	e.answer(takeOrder{ticket: 5, max: 2}, []*engine.Taken{gone, new(engine.Taken)}, make([]steal.Taken, 2))
	events, _ := e.Poll()
	for _, ev := range events {
		if ev.Kind == port.Taken && (ev.Ticket != 5 || len(ev.Jobs) != 1) {
			t.Errorf("%+v", ev)
		}
		if ev.Kind == port.Dropped {
			t.Errorf("%v were dropped, which nobody knows", ev.Refs)
		}
	}
	if len(e.given) != 1 {
		t.Errorf("%d jobs are outside", len(e.given))
	}
}

// Jobs that a frame gives up are told together, so that each thief gets one message; what was told before stays before.
func TestDropsTogether(t *testing.T) {
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	jobs := []*engine.Taken{new(engine.Taken), new(engine.Taken), new(engine.Taken)}
	e.taking = len(jobs)
	e.answer(takeOrder{ticket: 5, max: len(jobs)}, jobs, make([]steal.Taken, len(jobs)))
	for _, j := range jobs {
		outside{e: e}.Dropped(j)
	}
	outside{e: e}.Dropped(jobs[0]) // once is enough
	events, _ := e.Poll()
	var dropped [][]steal.Ref
	for _, ev := range events {
		if ev.Kind == port.Dropped {
			dropped = append(dropped, ev.Refs)
		}
	}
	if len(dropped) != 1 || len(dropped[0]) != len(jobs) || events[0].Kind != port.Taken {
		t.Errorf("%v were dropped, in %d events", dropped, len(events))
	}
}
