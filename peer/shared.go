package peer

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/depot"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/sharedobj"
)

// What the jobs of a run share goes over streams of its own, and small news of it by gossip, for the run's sessions.
// Modules and deposits go the same way, away from the steal protocol, as what is shared in no run.

// tellShared tells everybody what a session has to say. It does not block.
func (v *voice) tellShared(run job.RunID, n *sharedobj.News) {
	for _, part := range splitShared(n) {
		v.tell(gossip.KindShared, encode(&sharedNews{run, part}))
	}
}

func (x *traffic) sendShared(m *stream.Shared) {
	if here, sent := x.guests.carryShared(m); !here {
		x.stream.SendShared(m)
	} else if !sent {
		x.sharedFailed(m, errTabGone)
	}
}

// receivedShared takes in a message about what a run's jobs share. Whoever asks before this peer takes part asks again.
func (x *traffic) receivedShared(m *stream.Shared) {
	if m.Run == (job.RunID{}) {
		x.modules.received(m.Message)
	} else if m.Run == depot.Run() {
		x.depot.Received(m.Message)
	} else if s := x.runs.sessions.of(m.Run); s != nil {
		s.ReceivedShared(m.Message)
	}
}

func (x *traffic) sharedFailed(m *stream.Shared, err error) {
	x.Log.Debug("message not delivered", "to", string(m.Message.To), "about", "what is shared", "error", err)
	if m.Run == (job.RunID{}) {
		x.modules.notSent(m.Message)
	} else if m.Run == depot.Run() {
		x.depot.NotSent(m.Message)
	} else if s := x.runs.sessions.of(m.Run); s != nil {
		s.SharedSendFailed(m.Message)
	}
}

// sharedNews are news of one run.
type sharedNews struct {
	Run  job.RunID       `cbor:"1,keyasint"`
	News *sharedobj.News `cbor:"2,keyasint"`
}

// splitShared makes several of news that are too long for one message.
func splitShared(n *sharedobj.News) []*sharedobj.News {
	if len(encode(n)) <= maxNews || len(n.Writes)+len(n.Offers) <= 1 {
		return []*sharedobj.News{n}
	}
	w, o := len(n.Writes)/2, (len(n.Offers)+1)/2 // of one of each: a part for each
	parts := splitShared(&sharedobj.News{Writes: n.Writes[:w], Offers: n.Offers[:o]})
	return append(parts, splitShared(&sharedobj.News{Writes: n.Writes[w:], Offers: n.Offers[o:]})...)
}

func readShared(b []byte) (*sharedNews, error) {
	if len(b) > maxNews+64 {
		return nil, fmt.Errorf("news of %d bytes, at most %d are accepted", len(b), maxNews+64)
	}
	n := new(sharedNews)
	if err := wire.Control().Decode(b, n); err != nil {
		return nil, err
	}
	if n.News == nil {
		return nil, fmt.Errorf("%w: no news", sharedobj.ErrMalformed)
	}
	return n, n.News.Validate()
}

func checkShared(_ peer.ID, b []byte) error {
	_, err := readShared(b)
	return err
}

// hearShared gives news to the session of their run, and to the visitors that take part in it.
func (x *traffic) hearShared(author peer.ID, b []byte) {
	n, err := readShared(b)
	if err != nil {
		return // checked before
	}
	if s := x.runs.sessions.of(n.Run); s != nil {
		s.HearShared(sharedobj.PeerID(author.String()), n.News)
		x.guests.tell(n.Run, n.News)
	}
}
