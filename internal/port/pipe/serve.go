package pipe

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
)

// maxOrders is how many orders may wait for an engine that is served, before no more are read.
const maxOrders = 256

// Serve has an engine do what comes from r and tells w what happens, until r ends. The error is nil if that
// was between two orders. The engine is closed by whoever opened it.
func Serve(e port.Live, r io.Reader, w io.Writer) error {
	orders := make(chan *port.Order, maxOrders)
	over := make(chan struct{})
	defer close(over)
	failed := make(chan error, 1)
	go func() {
		in := wire.NewFrameReader(r, wire.MaxLocalFrame, nil)
		for {
			b, err := in.Next()
			var o *port.Order
			if err == nil {
				o, err = decodeOrder(b)
			}
			if err != nil {
				failed <- err
				return
			}
			select {
			case orders <- o:
			case <-over:
				return
			}
		}
	}()
	out := bufio.NewWriterSize(w, 64<<10)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case o := <-orders:
			e.Do(o)
			for more := true; more; { // one answer for all that wait
				select {
				case o := <-orders:
					e.Do(o)
				default:
					more = false
				}
			}
		case <-e.Bell():
		case <-timer.C:
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		again, err := tell(e, out)
		if err != nil {
			return err
		}
		if again == 0 {
			again = time.Hour
		}
		timer.Reset(again)
	}
}

// tell writes all that the engine has to tell.
func tell(e port.Live, out *bufio.Writer) (again time.Duration, err error) {
	for {
		events, again := e.Poll()
		if len(events) == 0 {
			return again, out.Flush()
		}
		for i := range events {
			b, err := wire.Local().Encode(&events[i])
			if err == nil {
				err = wire.WriteFrame(out, b, wire.MaxLocalFrame)
			}
			if err != nil {
				return 0, err
			}
		}
	}
}
