package host

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// A pipeStream takes what is written, and gives zeros.
type pipeStream struct {
	network.Stream
	took bytes.Buffer
	of   peer.ID
}

type pipeConn struct {
	network.Conn
	of peer.ID
}

func (c pipeConn) RemotePeer() peer.ID   { return c.of }
func (s *pipeStream) Conn() network.Conn { return pipeConn{of: s.of} }

func (s *pipeStream) Write(b []byte) (int, error) { return s.took.Write(b) }
func (s *pipeStream) Read(b []byte) (int, error)  { return len(b), nil }
func (s *pipeStream) Reset() error                { return nil }
func (s *pipeStream) SetDeadline(time.Time) error { return nil }

func (s *pipeStream) SetWriteDeadline(time.Time) error { return nil }

// Guards what the owner of the machine says of its bandwidth: of what is sent and of what is received over all streams,
// in any pieces, and as it is changed; and that nothing is lost or added on the way.
func TestPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Host{pacing: newPacing()}
		first, second := &pipeStream{}, &pipeStream{}
		a, b := h.pacing.pace(first), h.pacing.pace(second)
		took := func(f func()) time.Duration {
			start := time.Now()
			f()
			return time.Since(start)
		}
		text := make([]byte, 1_000_000)
		for i := range text {
			text[i] = byte(i >> 8)
		}
		send := func(s network.Stream, b []byte) {
			if n, err := s.Write(b); n != len(b) || err != nil {
				t.Errorf("%d of %d bytes were sent: %v", n, len(b), err)
			}
		}
		if d := took(func() { send(a, text) }); d != 0 {
			t.Errorf("without a bound it takes %v", d)
		}
		h.SetBandwidth(100_000, 50_000)
		both := took(func() {
			done := make(chan struct{})
			go func() {
				for piece := range 500 { // small ones, which may be ahead
					send(b, text[piece*1000:][:1000])
				}
				close(done)
			}()
			send(a, text[:500_000])
			<-done
		})
		if least := 10*time.Second - pacingAhead - time.Second; both < least || both > 11*time.Second {
			t.Errorf("a million bytes at 100 kB/s take %v", both)
		}
		if !bytes.Equal(first.took.Bytes(), append(text, text[:500_000]...)) {
			t.Error("other bytes arrive than were sent")
		}
		if d := took(func() {
			for n := 0; n < 500_000; {
				got, err := a.Read(text)
				if n += got; err != nil {
					t.Error(err)
				}
			}
		}); d < 9*time.Second || d > 11*time.Second {
			t.Errorf("half a million bytes at 50 kB/s come in %v", d)
		}
		h.SetBandwidth(0, 0)
		if d := took(func() { send(a, text) }); d != 0 {
			t.Errorf("when the bound is lifted it takes %v", d)
		}
	})
}

// Guards the peers beside a full line: a heartbeat goes ahead of results, a deadline holds, also one
// that is set when it waits already, and a reset ends the waiting.
func TestPacedPeersLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Host{pacing: newPacing()}
		h.SetBandwidth(16_000, 0)
		bulk, control := h.pacing.pace(&pipeStream{}), h.pacing.pace(&pipeStream{})
		ended := make(chan error)
		go func() {
			_, err := bulk.Write(make([]byte, 1<<20))
			ended <- err
		}()
		for range 20 {
			start := time.Now()
			if _, err := control.Write(make([]byte, 200)); err != nil || time.Since(start) > 0 {
				t.Errorf("a heartbeat waits %v beside results: %v", time.Since(start), err)
			}
			time.Sleep(time.Second)
		}
		start := time.Now()
		_ = control.SetDeadline(start.Add(300 * time.Millisecond))
		_, err := control.Write(make([]byte, pacedPiece))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("a deadline of 300ms: %v after %v", err, time.Since(start))
		}
		start = time.Now()
		_ = control.SetDeadline(time.Time{})
		time.AfterFunc(time.Millisecond, func() { _ = control.SetWriteDeadline(start) })
		_, err = control.Write(make([]byte, pacedPiece))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Millisecond {
			t.Errorf("a deadline that is set while it waits: %v after %v", err, time.Since(start))
		}
		_ = bulk.Reset()
		if err := <-ended; !errors.Is(err, network.ErrReset) {
			t.Errorf("a stream that was reset: %v", err)
		}
	})
}

// Guards the others against a member that has a great deal sent to it, or sends a great deal, over all the streams that
// it may open: what waits for its turn then is one piece of it, and a heartbeat of somebody else goes ahead of that.
func TestPacedPeersAreEqual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Host{pacing: newPacing()}
		h.SetBandwidth(16_000, 16_000)
		greedy := make([]network.Stream, maxPeerStreams)
		for i := range greedy {
			greedy[i] = h.pacing.pace(&pipeStream{of: "greedy"})
			go func() { _, _ = greedy[i].Write(make([]byte, pacedPiece)) }()
			go func() { _, _ = greedy[i].Read(make([]byte, pacedPiece)) }()
		}
		synctest.Wait()
		other, start := h.pacing.pace(&pipeStream{of: "other"}), time.Now()
		_, sent := other.Write(make([]byte, 200))
		_, read := other.Read(make([]byte, 200))
		if d := time.Since(start); d > 0 || sent != nil || read != nil {
			t.Errorf("a heartbeat and the answer to it wait %v: %v, %v", d, sent, read)
		}
		for _, s := range greedy {
			_ = s.Reset()
		}
		synctest.Wait()
		if n := len(h.pacing.turns.all); n > 0 {
			t.Errorf("%d turns are kept", n)
		}
	})
}
