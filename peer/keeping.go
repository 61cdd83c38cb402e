package peer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/runs"
)

// A peer that held the root job of somebody else's run to its end keeps the answer for the owner, gives it to
// two more peers (keepProtocol), and tells everybody. The owner fetches it (answerProtocol) when it hears of
// it: from the statement, from a member that it asks after the run, or at the next meeting with one that has
// it.
const (
	keepProtocol   = protocol.ID("/satin/keep/1")
	answerProtocol = protocol.ID("/satin/answer/1")

	// answerTime is for an outcome of the largest size over a slow link.
	answerTime = 10 * time.Minute
)

// keepRequest asks a peer to keep an answer; the outcome follows in a frame of its own.
type keepRequest struct {
	Answered []byte `cbor:"1,keyasint"`           // the statement of whoever had the root job
	Elapsed  int64  `cbor:"2,keyasint"`           // nanoseconds from submission to end
	Peers    int    `cbor:"3,keyasint,omitempty"` // most peers that took part at one time
	Size     int    `cbor:"4,keyasint,omitempty"` // of the outcome; before, if that was large only
}

// keepReply says whether it does: the answer is on its disk then.
type keepReply struct {
	Kept bool `cbor:"1,keyasint,omitempty"`
}

// answerQuestion asks for an outcome by its hash; the reply is the outcome itself, empty if it is not there.
type answerQuestion struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Hash [32]byte  `cbor:"2,keyasint"`
}

// errNotHere is what a peer gives that does not have an outcome, or does not keep one.
var errNotHere = errors.New("it does not have the answer")

// keeping gives answers to the owners of runs and to those who keep them, and gets them there.
type keeping struct {
	*base.Base
	self  peer.ID
	board *switchboard.Board
	runs  *conductor
	files *archive
}

func (x *keeping) serve() {
	x.board.Serve(keepProtocol, answerTime, x.serveKeeping)
	x.board.Serve(answerProtocol, answerTime, func(s network.Stream) error {
		var q answerQuestion
		if err := switchboard.ReadValue(s, 1<<10, &q); err != nil {
			return err
		}
		return x.send(s, &q)
	})
}

// serveKeeping keeps an answer for a run's owner that another peer brings, if the core lets it.
func (x *keeping) serveKeeping(s network.Stream) error {
	var q keepRequest
	if err := switchboard.ReadValue(s, 2*statement.MaxAnswered, &q); err != nil {
		return err
	}
	a, err := statement.OpenAnswered(q.Answered)
	if err != nil {
		return err
	}
	claim, t := claimOf(a), x.runs
	size := q.Size
	if size <= 0 {
		size = wire.MaxValue
	}
	t.mu.Lock()
	no := t.core.MayKeep(claim, int64(size))
	t.mu.Unlock()
	if no != "" || size > wire.MaxOutcome {
		return switchboard.WriteValue(s, &keepReply{}) // before the outcome is read
	}
	leave, ok := x.board.Road.Enter(s.Conn().RemotePeer(), size)
	if !ok {
		return switchboard.WriteValue(s, &keepReply{}) // somebody else is asked
	}
	defer leave()
	outcome, err := wire.ReadFrame(s, nil, size)
	if err != nil {
		return err
	}
	out := runs.Outcome{Bytes: outcome, Hash: statement.HashOutcome(outcome)}
	if out.Hash != claim.Hash {
		return fmt.Errorf("an outcome that is not the one that %s signed", a.Author)
	}
	kept, err := x.keep(claim, out, &q)
	if err != nil {
		return err
	}
	return switchboard.WriteValue(s, &keepReply{kept})
}

// keep says whether an answer is on the disk, however slow that is: for as long as whoever has brought it might wait.
func (x *keeping) keep(claim *runs.Claim, out runs.Outcome, q *keepRequest) (bool, error) {
	ctx, cancel := context.WithTimeout(x.Ctx, answerTime)
	defer cancel()
	refusal, err := x.runs.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
		return c.Keep(now, at, claim, out, max(q.Elapsed, 0), max(q.Peers, 0))
	})
	return err == nil && refusal == nil, err
}

// askToKeep asks a peer to keep an answer.
func (x *keeping) askToKeep(ctx context.Context, whom runs.PeerID, a *runs.Answer) error {
	id, err := peer.Decode(string(whom))
	if err != nil {
		return err
	}
	var reply keepReply
	err = x.board.Converse(ctx, id, keepProtocol, answerTime, func(s network.Stream) error {
		q := &keepRequest{Answered: a.Claim.Sealed, Elapsed: a.Elapsed, Peers: a.Peers, Size: len(a.Outcome.Bytes)}
		if err := switchboard.WriteValue(s, q); err != nil {
			return err
		}
		// One that does not want it says so without reading it.
		sent := wire.WriteFrame(s, a.Outcome.Bytes, wire.MaxOutcome)
		return errors.Join(switchboard.ReadValue(s, 1<<10, &reply), sent)
	})
	if err == nil && !reply.Kept {
		err = errNotHere
	}
	return err
}

// fetchAnswer gets the outcome that a claim promises, compares it, and reads it; trouble is why there is none.
func (x *keeping) fetchAnswer(ctx context.Context, o *runs.FetchAnswer, m *runs.Manifest) (out runs.Outcome,
	trouble string) {
	err := errors.New("nobody has it")
	for _, id := range slices.Compact(peerIDs(o.From)) {
		if id == x.self {
			continue
		}
		var outcome []byte
		if outcome, err = x.askForAnswer(ctx, id, &o.Claim); err != nil {
			continue
		}
		if fn, ok := engine.Lookup(m.Entry); ok {
			if _, _, _, bad := compute.OpenOutcome(m.Run, outcome, fn); bad != nil {
				err = fmt.Errorf("the outcome cannot be read: %w", bad)
				continue
			}
		}
		return outcomeOf(m, outcome), ""
	}
	return out, plain.OneLine(err)
}

func (x *keeping) askForAnswer(ctx context.Context, id peer.ID, c *runs.Claim) (outcome []byte, err error) {
	err = x.board.Converse(ctx, id, answerProtocol, answerTime, func(s network.Stream) error {
		if err := switchboard.WriteValue(s, &answerQuestion{c.Run, c.Hash}); err != nil {
			return err
		}
		outcome, err = wire.ReadFrame(s, nil, wire.MaxOutcome)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(outcome) == 0:
		return nil, fmt.Errorf("%s: %w", id, errNotHere)
	case statement.HashOutcome(outcome) != c.Hash:
		return nil, fmt.Errorf("%s sends another outcome than %s has signed", id, c.Author)
	}
	return outcome, nil
}

// send sends an outcome that this peer has for a run's owner, by its hash: from the disk or, if it could not be written
// there, from memory. The file has it as the frame that is sent, and is read a piece at a time, so whoever reads slowly
// holds no more than that; if it is not the right one, whoever asked sees it by the hash.
func (x *keeping) send(w io.Writer, q *answerQuestion) error {
	t := x.runs
	t.mu.Lock()
	file := t.core.Holds(q.Run, q.Hash)
	info, _ := t.core.Run(q.Run)
	t.mu.Unlock()
	if file != 0 {
		name := nameOf(file, q.Run)
		if at, size, err := x.files.held.Frame(name, outcomePart); err == nil {
			return x.files.held.Copy(w, name, at, size)
		}
	} else if o := info.Unsaved; o != nil && !info.Mine && o.Hash == q.Hash {
		// A frame, without the copy that wire.WriteFrame makes: an outcome may be large.
		_, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(o.Bytes))))
		if err == nil {
			_, err = w.Write(o.Bytes)
		}
		return err
	}
	return wire.WriteFrame(w, nil, 0)
}
