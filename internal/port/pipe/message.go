package pipe

import (
	"fmt"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// order is an order as it travels.
type order struct {
	port.Order
	Paths []job.Path `cbor:"10,keyasint,omitempty"` // of Orphans
}

func encodeOrder(o *port.Order) ([]byte, error) {
	return wire.Local().Encode(&order{Order: *o, Paths: o.Orphans.Paths()})
}

func decodeOrder(b []byte) (*port.Order, error) {
	var o order
	if err := wire.Local().Decode(b, &o); err != nil {
		return nil, err
	}
	var err error
	switch o.Kind {
	case port.Run:
		if o.Job == nil {
			err = fmt.Errorf("an order to run no job")
		}
	case port.Watch:
		o.Orphans, err = steal.NewOrphans(o.Paths)
	}
	return &o.Order, err
}

// decodeEvent reads what an engine tells. The error says that no correct engine would.
func decodeEvent(b []byte) (e port.Event, err error) {
	if err := wire.Local().Decode(b, &e); err != nil {
		return e, err
	}
	l := &e.Load
	switch {
	case e.Kind == 0 || e.Kind >= port.Died:
		return e, fmt.Errorf("an event of kind %d", e.Kind)
	case l.Workers < 0 || l.Idle < 0 || l.Idle > l.Workers || l.Queued < 0:
		return e, fmt.Errorf("a load of %+v", *l)
	case e.Kind == port.Counted && e.Figures == nil:
		return e, fmt.Errorf("figures without figures")
	}
	return e, nil
}
