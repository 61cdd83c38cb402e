package pipe

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// teller answers each order with an event, as an engine would.
type teller struct {
	idle
	told []port.Event
}

func (e *teller) Do(o *port.Order) {
	kinds := map[port.OrderKind]port.EventKind{port.Deliver: port.Delivered, port.Take: port.Taken}
	e.told = append(e.told, port.Event{Kind: kinds[o.Kind], Ref: o.Ref})
}

func (e *teller) Poll() ([]port.Event, time.Duration) {
	told := e.told
	e.told = nil
	return told, 0
}

// writes has how many messages each write had.
type writes struct{ list []int }

func (w *writes) Write(b []byte) (int, error) {
	r := newReader(bytes.NewReader(b), maxMessage)
	n := 0
	for _, err := r.next(); err == nil; _, err = r.next() {
		n++
	}
	w.list = append(w.list, n)
	return len(b), nil
}

// What nobody waits for is written with what comes next, and soon in any case; the rest at once.
func TestEventsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, orders := io.Pipe()
		out := new(writes)
		ended := make(chan error)
		go func() { ended <- Serve(&teller{}, in, out) }()
		order := func(kind port.OrderKind, ref steal.Ref) {
			if _, err := orders.Write(written(t, &port.Order{Kind: kind, Ref: ref})); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		want := func(what string, counts ...int) {
			t.Helper()
			if len(out.list) != len(counts) || len(counts) > 0 && out.list[len(counts)-1] != counts[len(counts)-1] {
				t.Errorf("%s: writes of %v events, want %v", what, out.list, counts)
			}
		}
		order(port.Deliver, 1)
		order(port.Deliver, 2)
		want("nobody waits")
		order(port.Take, 0)
		want("somebody does", 3)
		order(port.Deliver, 3)
		time.Sleep(maxWait / 2)
		order(port.Deliver, 4)
		time.Sleep(maxWait/2 + 1)
		synctest.Wait()
		want("the first has waited long enough", 3, 2)
		time.Sleep(time.Hour)
		want("nothing is left", 3, 2)
		_ = orders.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// talker has always something to tell, from the first order on to the second.
type talker struct {
	idle
	orders, polls int
	talks, silent chan struct{}
}

func (e *talker) Do(*port.Order) {
	if e.orders++; e.orders == 2 {
		close(e.silent)
	}
}

func (e *talker) Poll() ([]port.Event, time.Duration) {
	if e.orders != 1 {
		return nil, 0
	}
	if e.polls++; e.polls == 3 {
		close(e.talks)
	}
	return []port.Event{{Kind: port.Offered}}, 0
}

// However much there is to tell, orders are carried out: a pause must not wait until jobs have said all.
func TestOrdersAreHeard(t *testing.T) {
	in, orders := io.Pipe()
	e := &talker{talks: make(chan struct{}), silent: make(chan struct{})}
	ended := make(chan error)
	go func() { ended <- Serve(e, in, io.Discard) }()
	for _, heard := range []chan struct{}{e.talks, e.silent} {
		if _, err := orders.Write(written(t, &port.Order{Kind: port.Cores})); err != nil {
			t.Fatal(err)
		}
		<-heard
	}
	_ = orders.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
