package tab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// A Frame is one message between a tab and its member; exactly one field is set.
type Frame struct {
	Greeting *Greeting      `cbor:"1,keyasint,omitempty"`
	Visit    []byte         `cbor:"2,keyasint,omitempty"` // a statement.Visit
	Work     *Work          `cbor:"3,keyasint,omitempty"`
	Over     *Over          `cbor:"4,keyasint,omitempty"`
	Steal    *steal.Message `cbor:"5,keyasint,omitempty"`
	Shared   *Shared        `cbor:"6,keyasint,omitempty"`
	Rest     *Rest          `cbor:"8,keyasint,omitempty"`
	Ready    *Ready         `cbor:"9,keyasint,omitempty"`
	Still    *Still         `cbor:"10,keyasint,omitempty"`
	Ask      *Ask           `cbor:"11,keyasint,omitempty"`
	Show     *Show          `cbor:"12,keyasint,omitempty"`
}

// Shared is what a run's jobs share: a message, or news.
type Shared struct {
	Run     job.RunID          `cbor:"1,keyasint"`
	Message *sharedobj.Message `cbor:"2,keyasint,omitempty"`
	News    *sharedobj.News    `cbor:"3,keyasint,omitempty"`
}

// Ask has the tab show what stands behind an outcome that it has brought; Tree is what it has claimed of it.
type Ask struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Tree [32]byte  `cbor:"2,keyasint"`
}

// Show answers an Ask.
type Show struct {
	Tree [32]byte `cbor:"1,keyasint"`
	// Node is a driver.OpenedNode in CBOR, and travels behind the head; empty: it is not known any more.
	Node []byte `cbor:"-"`
}

// Still is all that a member has to say when it has said nothing for StillEvery: it is there.
type Still struct{}

// StillEvery is how often it says so. Whoever has heard nothing for GoneAfter may take it to be gone.
const (
	StillEvery = 20 * time.Second
	GoneAfter  = 50 * time.Second
)

// Subprotocol is that of the websocket. A page of another gateway shows its ticket as a second one, in base64url.
const Subprotocol = "satin-tab"

// Rest says whether the tab wants no work until it says otherwise. Its core has said goodbye before.
type Rest struct {
	Resting bool `cbor:"1,keyasint,omitempty"`
}

// Ready is what a tab says to work on a module: that it takes part from now on, or why it cannot, at any time.
type Ready struct {
	Run    job.RunID `cbor:"1,keyasint"`
	Cannot string    `cbor:"2,keyasint,omitempty"` // for the log
}

// A Greeting is the member's first word.
type Greeting struct {
	Member    string   `cbor:"1,keyasint"` // its peer ID
	Challenge [32]byte `cbor:"2,keyasint"`
}

// Work says which run the tab takes part in from now on.
type Work struct {
	Run   job.RunID         `cbor:"1,keyasint"`
	Self  steal.Incarnation `cbor:"2,keyasint"` // the tab's in this part
	App   string            `cbor:"3,keyasint"`
	Title string            `cbor:"4,keyasint,omitempty"` // for people
	Owner string            `cbor:"5,keyasint,omitempty"` // what the run's owner is called, for people
	// Module is the hash of the module that the run's jobs are of; nil: they are the application's. The tab fetches and
	// compiles it, and says Ready; it takes no part before.
	Module []byte `cbor:"6,keyasint,omitempty"`
	// Hoard has the tab give nothing on: what it computes is compared with what others have made of the same jobs.
	Hoard bool `cbor:"7,keyasint,omitempty"`
}

// Over ends the tab's part in a run.
type Over struct {
	Run job.RunID `cbor:"1,keyasint"`
	Why string    `cbor:"2,keyasint,omitempty"` // for people
}

// Out says whether it puts the tab out: it is of no run.
func (o *Over) Out() bool { return o.Run == (job.RunID{}) }

// Limits of frames, in bytes.
const (
	// MaxFromTab bounds a frame that a tab sends: with it the outcome of a job that was computed there.
	MaxFromTab = 1<<20 + wire.MaxControlFrame
	// MaxToTab bounds one that a member sends.
	MaxToTab = wire.MaxValue + wire.MaxControlFrame
	// moduleHash is the length of a module's hash.
	moduleHash = 32
	// MaxText bounds each of the texts for people.
	MaxText = 256
)

// Text is a text for people, as much of it as a frame takes.
func Text(s string) string { return strings.ToValidUTF8(s[:min(len(s), MaxText)], "") }

// ErrFrame is what the errors of Decode wrap, and Encode's for what is too long.
var ErrFrame = errors.New("bad frame")

// headLength is before the head of a frame; what follows the head is the outcome of a result, or a node.
const headLength = 4

// Encode gives f's bytes, which most bounds. The outcome of a result, or a node, is put behind the rest, which has the
// limits of all other messages.
func (f *Frame) Encode(most int) ([]byte, error) {
	var behind []byte
	switch {
	case f.Steal != nil && f.Steal.Result != nil:
		m, r := *f.Steal, *f.Steal.Result
		behind, r.Outcome = r.Outcome, nil
		m.Result = &r
		f = &Frame{Steal: &m}
	case f.Show != nil:
		behind = f.Show.Node
	}
	head, err := wire.Control().Encode(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if n := headLength + len(head) + len(behind); n > most {
		return nil, fmt.Errorf("%w: %d bytes, at most %d may be sent", ErrFrame, n, most)
	}
	b := make([]byte, 0, headLength+len(head)+len(behind))
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	return append(append(b, head...), behind...), nil
}

// Decode reads a frame, whose length the caller has bounded. What it gives is well formed, but may speak of anything.
// b belongs to the frame afterwards.
func Decode(b []byte) (*Frame, error) {
	if len(b) < headLength {
		return nil, fmt.Errorf("%w: %d bytes", ErrFrame, len(b))
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[headLength:]; uint64(n) > uint64(len(b)) {
		return nil, fmt.Errorf("%w: a head of %d bytes in %d", ErrFrame, n, len(b))
	}
	f := new(Frame)
	if err := wire.Control().Decode(b[:n], f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if err := f.validate(b[n:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return f, nil
}

var errFields = errors.New("not one field, or one out of range")

// validate checks a frame that was read, and puts what was behind the head into its place.
func (f *Frame) validate(behind []byte) error {
	set := 0
	for _, is := range [...]bool{f.Greeting != nil, f.Visit != nil, f.Work != nil, f.Over != nil, f.Steal != nil,
		f.Shared != nil, f.Rest != nil, f.Ready != nil, f.Still != nil,
		f.Ask != nil, f.Show != nil} {
		if is {
			set++
		}
	}
	result := f.Steal != nil && f.Steal.Result != nil
	switch {
	case set != 1, !result && f.Show == nil && len(behind) > 0, result && f.Steal.Result.Outcome != nil,
		f.Work != nil && (f.Work.Self == 0 || len(f.Work.App)+len(f.Work.Title)+len(f.Work.Owner) > 3*MaxText),
		f.Work != nil && len(f.Work.Module) != 0 && len(f.Work.Module) != moduleHash,
		f.Over != nil && len(f.Over.Why) > MaxText, f.Ready != nil && len(f.Ready.Cannot) > MaxText:
		return errFields
	case f.Shared != nil:
		return f.Shared.validate()
	case f.Show != nil:
		f.Show.Node = behind
	case f.Steal != nil:
		if result {
			f.Steal.Result.Outcome = behind
		}
		return f.Steal.Validate()
	}
	return nil
}

func (s *Shared) validate() error {
	switch {
	case (s.Message == nil) == (s.News == nil):
		return errFields
	case s.Message != nil:
		return s.Message.Validate()
	}
	return s.News.Validate()
}
