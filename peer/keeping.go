package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
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
	// largeAnswers is how many of more than wire.MaxValue are in memory at once on their way in or out: whoever asks
	// for one more hears that it is not here, and asks somebody else.
	largeAnswers = 2
)

// keepRequest asks a peer to keep an answer; the outcome follows in a frame of its own.
type keepRequest struct {
	Answered []byte `cbor:"1,keyasint"`           // the statement of whoever had the root job
	Elapsed  int64  `cbor:"2,keyasint"`           // nanoseconds from submission to end
	Peers    int    `cbor:"3,keyasint,omitempty"` // most peers that took part at one time
	Size     int    `cbor:"4,keyasint,omitempty"` // of the outcome, if that is large
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
	*base
	self  peer.ID
	board *switchboard
	runs  *conductor
	files *archive
	turns chan struct{} // of large answers
}

// turn waits for nobody: done is nil if too many large answers are on their way.
func (x *keeping) turn(size int64) (done func()) {
	if size <= wire.MaxValue {
		return func() {}
	}
	select {
	case x.turns <- struct{}{}:
		return func() { <-x.turns }
	default:
		return nil
	}
}

func (x *keeping) serve() {
	x.board.serve(keepProtocol, answerTime, x.serveKeeping)
	x.board.serve(answerProtocol, answerTime, func(s network.Stream) error {
		var q answerQuestion
		if err := readValue(s, 1<<10, &q); err != nil {
			return err
		}
		outcome, done := x.outcomeFor(q.Run, q.Hash)
		defer done()
		return wire.WriteFrame(s, outcome, wire.MaxOutcome)
	})
}

// serveKeeping keeps an answer for a run's owner that another peer brings, if the core lets it.
func (x *keeping) serveKeeping(s network.Stream) error {
	var q keepRequest
	if err := readValue(s, 2*statement.MaxAnswered, &q); err != nil {
		return err
	}
	a, err := statement.OpenAnswered(q.Answered)
	if err != nil {
		return err
	}
	claim, t := claimOf(a), x.runs
	size := max(q.Size, wire.MaxValue)
	t.mu.Lock()
	no := t.core.MayKeep(claim, int64(q.Size))
	t.mu.Unlock()
	done := x.turn(int64(size))
	if no != "" || size > wire.MaxOutcome || done == nil {
		return writeValue(s, &keepReply{}) // before the outcome is read
	}
	defer done()
	outcome, err := wire.ReadFrame(s, nil, size)
	if err != nil {
		return err
	}
	out := runs.Outcome{Bytes: outcome, Hash: statement.HashOutcome(outcome)}
	if out.Hash != claim.Hash {
		return fmt.Errorf("an outcome that is not the one that %s signed", a.Author)
	}
	refusal, err := t.command(x.ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
		return c.Keep(now, at, claim, out, max(q.Elapsed, 0), max(q.Peers, 0))
	})
	if err != nil {
		return err
	}
	return writeValue(s, &keepReply{Kept: refusal == nil})
}

// askToKeep asks a peer to keep an answer.
func (x *keeping) askToKeep(ctx context.Context, whom runs.PeerID, a *runs.Answer) error {
	id, err := peer.Decode(string(whom))
	if err != nil {
		return err
	}
	var reply keepReply
	err = x.board.converse(ctx, id, keepProtocol, answerTime, func(s network.Stream) error {
		q := &keepRequest{Answered: a.Claim.Sealed, Elapsed: a.Elapsed, Peers: a.Peers}
		if n := len(a.Outcome.Bytes); n > wire.MaxValue {
			q.Size = n
		}
		if err := writeValue(s, q); err != nil {
			return err
		}
		// One that does not want it says so without reading it.
		sent := wire.WriteFrame(s, a.Outcome.Bytes, wire.MaxOutcome)
		return errors.Join(readValue(s, 1<<10, &reply), sent)
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
		if fn, ok := satin.Lookup(m.Entry); ok {
			if _, _, _, bad := compute.DecodeOutcome(m.Run, outcome, fn); bad != nil {
				err = fmt.Errorf("the outcome cannot be read: %w", bad)
				continue
			}
		}
		return outcomeOf(m, outcome), ""
	}
	return out, oneLine(err)
}

func (x *keeping) askForAnswer(ctx context.Context, id peer.ID, c *runs.Claim) (outcome []byte, err error) {
	err = x.board.converse(ctx, id, answerProtocol, answerTime, func(s network.Stream) error {
		if err := writeValue(s, &answerQuestion{c.Run, c.Hash}); err != nil {
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

// outcomeFor finds an outcome by its hash that this peer has for a run's owner, on the disk or, if that failed, in
// memory. Call done when it is not needed any more.
func (x *keeping) outcomeFor(id job.RunID, hash runs.Hash) (outcome []byte, done func()) {
	t := x.runs
	t.mu.Lock()
	file := t.core.Holds(id, hash)
	info, _ := t.core.Run(id)
	t.mu.Unlock()
	done = func() {}
	switch {
	case file != 0:
		name := nameOf(file, id)
		turn := x.turn(x.files.held.size(name))
		if turn == nil {
			return nil, done
		}
		outcome, done = x.files.held.outcomeIn(name), turn
	case info.Unsaved != nil && !info.Mine:
		outcome = info.Unsaved.Bytes
	}
	if outcome == nil || runs.Hash(statement.HashOutcome(outcome)) != hash {
		return nil, done
	}
	return outcome, done
}
