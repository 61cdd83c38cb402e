package peer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

// A peer that held the root job of somebody else's run to its end keeps the answer for the owner, gives it to
// two more peers (keepProtocol), and tells everybody. The owner fetches it (answerProtocol) when it hears of
// it: from the statement, from a member that it asks after the run, or at the next meeting with one that has
// it.
const (
	keepProtocol   = protocol.ID("/satin/keep/1")
	answerProtocol = protocol.ID("/satin/answer/1")

	// answerTime is for an outcome of the largest size over a slow link.
	answerTime = 2 * time.Minute
	// copies is how many other peers keep an answer besides the one that made it, and maxKeepers how many are asked.
	copies     = 2
	maxKeepers = 8
	// maxAnswersTold is how many answers for the other side are spoken of at a meeting.
	maxAnswersTold = 16
)

// keepRequest asks a peer to keep an answer; the outcome follows in a frame of its own.
type keepRequest struct {
	Answered []byte `cbor:"1,keyasint"`           // the statement of who had the root job
	Elapsed  int64  `cbor:"2,keyasint"`           // nanoseconds from submission to end
	Peers    int    `cbor:"3,keyasint,omitempty"` // most peers that took part at one time
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

func (p *Peer) serveAnswers() {
	p.net.SetStreamHandler(keepProtocol, func(s network.Stream) {
		p.serve(s, answerTime, func() error {
			var q keepRequest
			if err := readValue(s, 2*statement.MaxAnswered, &q); err != nil {
				return err
			}
			a, err := statement.OpenAnswered(q.Answered)
			if err != nil {
				return err
			}
			manifest, err := p.runs.manifestFor(a.Run)
			if err != nil {
				return writeValue(s, &keepReply{}) // before the outcome is read
			}
			outcome, err := wire.ReadFrame(s, nil, wire.MaxValue)
			if err != nil {
				return err
			}
			if statement.HashOutcome(outcome) != a.Hash {
				return fmt.Errorf("an outcome that is not the one that %s signed", a.Author)
			}
			err = p.hold(manifest, &Answer{Outcome: outcome, Ended: a.At, Elapsed: max(q.Elapsed, 0),
				Peers: max(q.Peers, 0), Answered: a.Bytes})
			if err != nil {
				p.log.Warn("an answer for another peer could not be kept", "run", a.Run, "error", err)
			}
			return writeValue(s, &keepReply{Kept: err == nil})
		})
	})
	p.net.SetStreamHandler(answerProtocol, func(s network.Stream) {
		p.serve(s, answerTime, func() error {
			var q answerQuestion
			if err := readValue(s, 1<<10, &q); err != nil {
				return err
			}
			outcome := p.outcomeHere(q.Run)
			if outcome == nil || statement.HashOutcome(outcome) != q.Hash {
				outcome = nil
			}
			return wire.WriteFrame(s, outcome, wire.MaxValue)
		})
	})
}

// manifestFor gives the manifest of a run whose answer this peer will keep: one that it takes part in, as
// long as it has no other.
func (t *runs) manifestFor(run job.RunID) (*statement.SignedManifest, error) {
	t.mu.Lock()
	var bytes []byte
	if r := t.table[run]; r != nil && !r.mine && !t.p.holding.has(run) {
		bytes = r.bytes
	}
	t.mu.Unlock()
	if bytes == nil {
		return nil, errUnknownRun
	}
	return statement.OpenManifest(bytes)
}

// hold keeps an answer for a run's owner.
func (p *Peer) hold(m *statement.SignedManifest, ans *Answer) error {
	ans.Manifest, ans.Owner = m.Bytes, m.Owner.String()
	if err := p.held.keep(m.Run, ans); err != nil {
		return err
	}
	p.holding.add(m.Run, heldNote{m.Owner, statement.HashOutcome(ans.Outcome), ans.Answered})
	return nil
}

// outcomeHere finds the outcome of a run that this peer has for its owner, on the disk or, if that failed, in memory.
func (p *Peer) outcomeHere(run job.RunID) []byte {
	if ans, err := p.held.load(run); err == nil {
		return ans.Outcome
	}
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	if r := p.runs.table[run]; r != nil && !r.mine {
		return r.outcome
	}
	return nil
}

// answerFor is called when the root job of another peer's run has ended here.
func (t *runs) answerFor(ctx context.Context, r *run, outcome []byte) {
	p, now := t.p, time.Now()
	t.mu.Lock()
	over, most := r.state.Ended(), r.most
	t.mu.Unlock()
	if over {
		return
	}
	full, err := t.manifestFor(r.manifest.Run)
	if err != nil {
		return // it has ended this moment, or has been answered by another peer, whose answer is here
	}
	a, err := (&statement.Answered{Run: r.manifest.Run, Hash: statement.HashOutcome(outcome), At: now.Unix(),
		Until: r.manifest.Expires}).Sign(p.key)
	if err != nil {
		p.log.Error("answer cannot be signed", "run", r.manifest.Run, "error", err)
		return
	}
	ans := &Answer{Outcome: outcome, Ended: a.At, Elapsed: int64(now.Sub(time.Unix(r.manifest.Created, 0))),
		Peers: most, Answered: a.Bytes}
	if err = p.hold(full, ans); err != nil {
		p.log.Error("the answer could not be kept on the disk", "run", r.manifest.Run, "error", err)
	}
	t.mu.Lock()
	r.outcome, r.stored = outcome, err
	t.mu.Unlock()
	others := p.spreadAnswer(ctx, r, ans)
	p.publishAnswered(a.Bytes)
	t.mu.Lock()
	defer t.mu.Unlock()
	r.answered = a
	r.again.begin(time.Now())
	t.stop(r, control.RunDone, fmt.Sprintf(
		"its owner was lost; this peer had the root job, and keeps the answer for it, as %d others do", others))
}

// spreadAnswer gives an answer to other peers that take part, deputies first, until enough keep it. It
// returns how many do.
func (p *Peer) spreadAnswer(ctx context.Context, r *run, ans *Answer) (kept int) {
	request := &keepRequest{Answered: ans.Answered, Elapsed: ans.Elapsed, Peers: ans.Peers}
	list := p.confidants(r.manifest)
	if len(list) > maxKeepers {
		list = list[:maxKeepers]
	}
	for len(list) > 0 && kept < copies && ctx.Err() == nil {
		now := list[:min(copies-kept, len(list))]
		list = list[len(now):]
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, id := range now {
			wg.Go(func() {
				err := p.askToKeep(ctx, id, request, ans.Outcome)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					kept++
				} else {
					p.log.Debug("answer not kept elsewhere", "run", r.manifest.Run, "peer", id, "error", err)
				}
			})
		}
		wg.Wait()
	}
	return kept
}

// confidants are the peers to turn to about a run, besides its owner: its deputies, then the others that take
// part; those that are alive.
func (p *Peer) confidants(m *statement.SignedManifest) (list []peer.ID) {
	self, seen := p.host.ID(), map[peer.ID]bool{m.Owner: true}
	add := func(id peer.ID) {
		if id != self && !seen[id] && p.alive(id) {
			seen[id] = true
			list = append(list, id)
		}
	}
	for _, d := range m.Deputies {
		if id, err := peer.Decode(d); err == nil {
			add(id)
		}
	}
	for _, c := range p.participants(&m.Manifest) {
		add(c.Peer)
	}
	return list
}

func (p *Peer) askToKeep(ctx context.Context, id peer.ID, q *keepRequest, outcome []byte) error {
	var a keepReply
	err := p.converse(ctx, id, keepProtocol, answerTime, func(s network.Stream) error {
		if err := writeValue(s, q); err != nil {
			return err
		}
		// One that does not want it says so without reading it.
		sent := wire.WriteFrame(s, outcome, wire.MaxValue)
		return errors.Join(readValue(s, 1<<10, &a), sent)
	})
	if err == nil && !a.Kept {
		err = errNotHere
	}
	return err
}

func (p *Peer) askForAnswer(ctx context.Context, id peer.ID, a *statement.SignedAnswered) (outcome []byte, err error) {
	err = p.converse(ctx, id, answerProtocol, answerTime, func(s network.Stream) error {
		if err := writeValue(s, &answerQuestion{a.Run, a.Hash}); err != nil {
			return err
		}
		outcome, err = wire.ReadFrame(s, nil, wire.MaxValue)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(outcome) == 0:
		return nil, fmt.Errorf("%s: %w", id, errNotHere)
	case statement.HashOutcome(outcome) != a.Hash:
		return nil, fmt.Errorf("%s sends another outcome than %s has signed", id, a.Author)
	}
	return outcome, nil
}

// holding is what this peer keeps for others, so that it need not read the disk to know.
type holding struct {
	mu    sync.Mutex
	notes map[job.RunID]heldNote
}

type heldNote struct {
	owner    peer.ID
	hash     [32]byte
	answered []byte
}

func (h *holding) add(run job.RunID, n heldNote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notes == nil {
		h.notes = map[job.RunID]heldNote{}
	}
	h.notes[run] = n
}

func (h *holding) has(run job.RunID) bool { return h.answered(run) != nil }

// answered is the statement about an answer that is kept here; nil if none is.
func (h *holding) answered(run job.RunID) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notes[run].answered
}

// of lists the statements about answers that are kept for a peer.
func (h *holding) of(owner peer.ID) (list [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.notes {
		if n.owner == owner && len(list) < maxAnswersTold {
			list = append(list, n.answered)
		}
	}
	return list
}

// release throws away what was kept for an owner who has it, or does not want it. One who has another answer
// has yet to hear of this one.
func (p *Peer) release(stone *statement.Tombstone, owner peer.ID) {
	p.holding.mu.Lock()
	n, ok := p.holding.notes[stone.Run]
	wanted := stone.Reason != statement.Cancelled &&
		(stone.Reason != statement.Finished || string(stone.Hash) != string(n.hash[:]))
	if ok = ok && n.owner == owner && !wanted; ok {
		delete(p.holding.notes, stone.Run)
	}
	p.holding.mu.Unlock()
	if ok {
		if err := p.held.remove(stone.Run.Hex()); err != nil {
			p.log.Warn("an answer that its owner has cannot be removed", "run", stone.Run, "error", err)
		}
	}
}

// reviewHeld removes what has been kept for long enough, and reads what there is.
func (p *Peer) reviewHeld(now time.Time) {
	p.held.prune(now)
	notes := map[job.RunID]heldNote{}
	for _, name := range p.held.names() {
		run, ok := job.ParseRunID(name)
		head, err := p.held.head(run)
		if !ok || err != nil {
			continue
		}
		if owner, err := peer.Decode(clip(head.Owner)); err == nil && head.by() != nil {
			notes[run] = heldNote{owner, head.by().Hash, head.Answered}
		}
	}
	p.holding.mu.Lock()
	p.holding.notes = notes
	p.holding.mu.Unlock()
}

// reviewEvery is how often that is done.
const reviewEvery = time.Hour
