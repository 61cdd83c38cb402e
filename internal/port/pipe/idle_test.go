package pipe

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
)

// idle is an engine that does nothing.
type idle struct{}

func (idle) Do(*port.Order)                      {}
func (idle) Bell() <-chan struct{}               { return nil }
func (idle) Poll() ([]port.Event, time.Duration) { return nil, 0 }
func (idle) Close()                              {}
