package pipe

import (
	"fmt"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// order is an order as it travels.
type order struct {
	port.Order
	Paths []job.Path `cbor:"10,keyasint,omitempty"` // of Orphans
}

func encodeOrder(o *port.Order) ([]byte, error) {
	return frames(&order{Order: *o, Paths: o.Orphans.Paths()}, values(o.Shared))
}

// values is how many bytes of values an order or an event has.
func values(s *port.Shared) (n int) {
	if s == nil {
		return 0
	}
	for _, b := range []*sharedobj.Body{s.Write, s.State} {
		if b != nil {
			n += len(b.Bytes())
		}
	}
	return n + len(s.Data)
}

func decodeOrder(b []byte) (*port.Order, error) {
	var o order
	if err := wire.Shared().Decode(b, &o); err != nil {
		return nil, err
	}
	var err error
	switch o.Kind {
	case port.Run, port.Measure:
		if o.Job == nil {
			err = fmt.Errorf("an order to %v no job", o.Kind)
		}
	case port.Here, port.Forget, port.Failed, port.Apply, port.Discard, port.Join, port.Collect, port.Encode,
		port.Guard, port.Judge:
		if o.Shared == nil || o.Kind >= port.Guard && o.Job == nil {
			err = fmt.Errorf("an order about nothing that is shared")
		}
	case port.Executed:
		if o.Exec == nil {
			err = fmt.Errorf("an execution without a name")
		}
	case port.LostWork:
		o.Orphans, err = steal.NewOrphans(o.Paths)
	}
	return &o.Order, err
}

// maxWorkers is more than an engine may have: policies ask for work for each that is idle.
const maxWorkers = 1 << 11

// decodeEvent reads what an engine tells. The error says that no correct engine would.
func decodeEvent(b []byte) (e port.Event, err error) {
	if err := wire.Told().Decode(b, &e); err != nil {
		return e, err
	}
	l := &e.Load
	switch {
	case e.Kind == 0 || e.Kind >= port.Died:
		return e, fmt.Errorf("an event of kind %d", e.Kind)
	case l.Workers < 0 || l.Workers > maxWorkers || l.Idle < 0 || l.Idle > l.Workers || l.Queued < 0:
		return e, fmt.Errorf("a load of %+v", *l)
	case e.Kind == port.Counted && e.Figures == nil:
		return e, fmt.Errorf("figures without figures")
	case e.Figures != nil && !(e.Figures.Progress >= 0 && e.Figures.Progress <= 1): // or it is no number
		return e, fmt.Errorf("a progress of %v", e.Figures.Progress)
	case (e.Kind == port.Execute || e.Kind == port.Withdraw) && e.Exec == nil:
		return e, fmt.Errorf("an execution of nothing")
	case e.Kind >= port.Made && e.Shared == nil:
		return e, fmt.Errorf("an event about nothing that is shared")
	}
	return e, nil
}

// memory is about how many bytes of memory an event takes, rather more, of whose encoding there are so many: an element
// of a list of structs may be one, as a step of a path may.
func memory(e *port.Event, encoded int) int {
	const each, step = 256, 8
	n := 1 + len(e.Jobs) + len(e.Kept)
	if e.Figures != nil {
		n += 1 + len(e.Figures.Segments)
	}
	return each*n + step*encoded
}
