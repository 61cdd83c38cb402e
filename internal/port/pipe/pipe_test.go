package pipe_test

import (
	"os"
	"sync"
	"testing"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/pipe"
	"github.com/satin-peer/satin/internal/port/porttest"
)

// pipes gives two pairs of pipes of the system, as between two processes.
func pipes(t *testing.T) (hereIn, hereOut, thereIn, thereOut *os.File) {
	t.Helper()
	thereIn, hereOut, err := os.Pipe()
	if err == nil {
		hereIn, thereOut, err = os.Pipe()
	}
	if err != nil {
		t.Fatal(err)
	}
	return hereIn, hereOut, thereIn, thereOut
}

// An engine at the other end of a pipe does what one in this process does.
func TestPort(t *testing.T) {
	porttest.Run(t, func(t *testing.T) port.Live {
		far, err := compute.New(porttest.Config())
		if err != nil {
			t.Fatal(err)
		}
		hereIn, hereOut, thereIn, thereOut := pipes(t)
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = pipe.Serve(far, thereIn, thereOut) // an error if it has something to tell when nobody listens
			_ = thereOut.Close()
			far.Close()
		})
		t.Cleanup(wg.Wait)
		return pipe.New(hereIn, hereOut, 1<<30, nil)
	})
}
