package stream

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/steal"
)

// Config holds the limits of a Transport. A field that is zero or negative gets its default, except where
// another meaning of zero is given.
type Config struct {
	// Dial connects to a peer, and does what must be done before our streams may be opened: it is also called
	// for a peer that is connected and not Admitted. nil: the host's Connect.
	Dial func(ctx context.Context, id peer.ID) error
	// Admitted says whether a peer may open streams to us. nil: everybody may.
	Admitted func(id peer.ID) bool
	// Wide says whether a peer is behind a wide-area link, as far as it is known. nil: nobody is. It must not block.
	Wide func(id steal.PeerID) bool
	// Delay holds frames back that have come, to imitate a slow network. nil: nothing is held.
	Delay Delay

	// Timed hears how fast long results come from a peer: so many bytes (64 KiB at least) in so long. nil: nobody
	// does. It must not block, and may be called from several goroutines at once.
	Timed func(from steal.PeerID, bytes int, took time.Duration)

	// DialTimeout bounds how long it takes to have a stream: waiting for a turn to dial, dialing, opening.
	// Default 3 s.
	DialTimeout time.Duration
	// WriteTimeout bounds one write to a stream. Default 5 s.
	WriteTimeout time.Duration
	// FrameTimeout bounds how long a frame that has begun, or the opening of a stream, may take to come.
	// Default 10 s.
	FrameTimeout time.Duration
	// StallTimeout bounds how long a long result may make no progress. Default 3 minutes: a chunk takes 16 s
	// at 1 KB/s, and others use the link too.
	StallTimeout time.Duration
	// IdleAfter is how long a stream may have nothing to carry before it is closed. Default 2 minutes.
	IdleAfter time.Duration
	// RedialAfter is how long Sends fail at once after a dial has failed; it doubles with each failure, up to
	// RedialMax. Defaults 250 ms and 10 s.
	RedialAfter, RedialMax time.Duration

	// MaxPartners bounds the peers with which streams are open or opening. Default 1024.
	MaxPartners int
	// MaxWidePartners bounds those of them that are Wide; at the bound the one that was silent for longest
	// makes room, if it has been for WideIdle (default 2 s). Default 32: a full mesh over slow links
	// collapses.
	MaxWidePartners int
	WideIdle        time.Duration
	// MaxDials and MaxWideDials bound how many dials are under way at once, to near peers and to wide ones.
	// Defaults 8, 2.
	MaxDials, MaxWideDials int
	// QueueMessages and QueueBytes bound what waits for one partner's control stream. Defaults 1024 and 1 MiB.
	QueueMessages, QueueBytes int
	// PiecesBytes bounds what waits of pieces of shared values for one partner. It is more than a partner asks for at
	// once. Default 8 MiB.
	PiecesBytes int

	// BulkFrom is the length of an outcome, in bytes, above which a result goes over the bulk stream. Default 8 KiB.
	BulkFrom int
	// BulkWindow is how many bytes of long results to one partner may be unacknowledged; at least one chunk
	// (16 KiB) may, and on a link that needs more than 50 ms for one no more than that if it is enough.
	// Default 32 KiB. Up to BulkWindowMax may be if the link holds them without a queue (window.go). Default
	// 1 MiB; at most BulkWindow: it is fixed.
	BulkWindow, BulkWindowMax int
	// BulkQueue bounds the bytes of long results that wait for one partner. They are not copied. Default 64 MiB.
	BulkQueue int
	// BulkActive bounds how many results to one partner take turns. Default 4.
	BulkActive int
	// BulkMemory and BulkMemoryTotal bound the long results that are being received, from one partner and
	// from all, in bytes; a quarter more is for partners that have little coming when all is taken. Defaults 32 MiB
	// and 128 MiB; the first is at least 16 MiB, or the longest result could never come.
	BulkMemory, BulkMemoryTotal int

	// Offences within OffenceWindow make us refuse a peer for RefuseFor. Defaults 3, 1 minute, 1 minute.
	Offences                 int
	OffenceWindow, RefuseFor time.Duration
}

// Handler takes what comes out of a Transport. Received and Failed must be set.
type Handler struct {
	// Received takes a message, which is the receiver's to keep. It may block, which slows down this partner
	// and nobody else. It is called from one goroutine for each partner's control stream and one for its long
	// results, so it may run several times at once.
	Received func(m *steal.Message)
	// Failed says that m was certainly not delivered. It is called from a goroutine of its own, one call
	// after the other, never from inside Send.
	Failed func(m *steal.Message, err error)
	// Shared and SharedFailed are the same for what jobs share; nil: streams for that are not accepted.
	Shared       func(m *Shared)
	SharedFailed func(m *Shared, err error)
}

// A Delay imitates a slow network.
type Delay interface {
	// Arrive says how long to hold a frame of so many bytes that has just come from a peer. Frames of one
	// stream stay in order, whatever it says. Negative: the frame is lost. It is called from several
	// goroutines at once.
	Arrive(from steal.PeerID, bytes int) time.Duration
}

// Why a message was not delivered. Errors given to Handler.Failed wrap one of these or come from libp2p.
var (
	ErrQueueFull   = errors.New("the queue for this peer is full")
	ErrTooLarge    = errors.New("the message is too large")
	ErrTooMany     = errors.New("too many partners")
	ErrUnreachable = errors.New("the peer cannot be reached")
	ErrStalled     = errors.New("the peer does not take in what is sent")
	ErrRefused     = errors.New("the peer has misbehaved and is refused for a while")
	ErrNoRoom      = errors.New("the peer has no room for this result now")
	ErrClosed      = errors.New("the transport is closed")
	ErrAddress     = errors.New("no message can be sent there")
)

func (c *Config) setDefaults() {
	duration := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	number := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	duration(&c.DialTimeout, 3*time.Second)
	duration(&c.WriteTimeout, 5*time.Second)
	duration(&c.FrameTimeout, 10*time.Second)
	duration(&c.StallTimeout, 3*time.Minute)
	duration(&c.IdleAfter, 2*time.Minute)
	duration(&c.RedialAfter, 250*time.Millisecond)
	duration(&c.RedialMax, 10*time.Second)
	duration(&c.WideIdle, 2*time.Second)
	duration(&c.OffenceWindow, time.Minute)
	duration(&c.RefuseFor, time.Minute)
	number(&c.MaxPartners, 1024)
	number(&c.MaxWidePartners, 32)
	number(&c.MaxDials, 8)
	number(&c.MaxWideDials, 2)
	number(&c.QueueMessages, 1024)
	number(&c.QueueBytes, 1<<20)
	number(&c.PiecesBytes, 8<<20)
	number(&c.BulkFrom, 8<<10)
	number(&c.BulkWindow, 32<<10)
	number(&c.BulkWindowMax, 1<<20)
	number(&c.BulkQueue, 64<<20)
	number(&c.BulkActive, 4)
	number(&c.BulkMemory, 32<<20)
	number(&c.BulkMemoryTotal, 128<<20)
	number(&c.Offences, 3)
	c.BulkMemory = max(c.BulkMemory, 16<<20)
	c.BulkMemoryTotal = max(c.BulkMemoryTotal, c.BulkMemory)
	c.BulkFrom = min(c.BulkFrom, 128<<10) // what is shorter must fit in a control frame with everything round it
}
