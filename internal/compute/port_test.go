package compute_test

import (
	"testing"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/porttest"
)

// The engine of this process keeps to the port.
func TestPort(t *testing.T) {
	porttest.Run(t, func(t *testing.T) port.Live {
		e, err := compute.New(porttest.Config())
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}
