package peer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// An owner that suspends its run first collects what the others have of it (collectProtocol): each writes
// what waits to its disk and sends what its checkpoint holds, one result in a frame, until an empty frame.
// Only the owner is told.
const (
	collectProtocol = protocol.ID("/satin/collect/1")

	// collectTime bounds the collecting from all peers, and syncTime the writing before it.
	collectTime = 15 * time.Second
	syncTime    = 5 * time.Second
	// collectAtOnce is how many peers are asked at a time, so that slow ones leave room in the transit for what others
	// have on their way; each has an equal part of the time, or slow ones would take that of all. maxCollected is how
	// many bytes are taken from one.
	collectAtOnce = switchboard.AtOnce - 1
	maxCollected  = 256 << 20
)

// collectQuestion asks for what is kept of a run.
type collectQuestion struct {
	Run job.RunID `cbor:"1,keyasint"`
}

// collecting brings together what peers have of a run that is suspended.
type collecting struct {
	*base.Base
	board *switchboard.Board
	runs  *conductor
	vouch *vouching.Border
}

func (x *collecting) serve() {
	x.board.Serve(collectProtocol, collectTime, func(s network.Stream) error {
		var q collectQuestion
		if err := switchboard.ReadValue(s, 1<<10, &q); err != nil {
			return err
		}
		l := x.runs.logFor(q.Run, s.Conn().RemotePeer())
		if l == nil {
			return wire.WriteFrame(s, nil, 0)
		}
		ctx, cancel := context.WithTimeout(x.Ctx, syncTime)
		defer cancel()
		_ = l.Sync(ctx) // what cannot be written is not sent either
		for r, err := range l.Records() {
			if err != nil || r.Kind == checkpoint.RunManifest {
				continue
			}
			if err := x.board.Tell(s, &steal.Partial{Path: r.Path, Identity: r.Identity,
				Outcome: r.Outcome, Voucher: r.Voucher}); err != nil {
				return err
			}
		}
		return wire.WriteFrame(s, nil, 0)
	})
}

// logFor gives the log of a run in progress to its owner; nil if there is none, or somebody else asks.
func (t *conductor) logFor(run job.RunID, asker peer.ID) *checkpoint.Log {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.parts[run]; r != nil && r.manifest.Owner == peerName(asker) {
		return r.ledger.Log()
	}
	return nil
}

// collect appends what others have of an own run to its log and has it written; or it says why that is impossible.
func (x *collecting) collect(ctx context.Context, r *part, from []runs.PeerID) *runs.Refusal {
	ctx, cancel := context.WithTimeout(ctx, 2*collectTime)
	defer cancel()
	k := r.ledger
	if k == nil {
		return &runs.Refusal{Kind: runs.Refuse, Text: "checkpoints are switched off on this peer, so there would be " +
			"nothing to resume: satin-peer cancel ends the run"}
	}
	k.Await(ctx)
	l := k.Log()
	if l == nil {
		return &runs.Refusal{Kind: runs.Unavailable,
			Text: "the run has no checkpoint at the moment: " + plain.OneLine(k.Trouble())}
	}
	if r.manifest.Verify == "" { // else what others have was not compared
		x.collectFromAll(ctx, r.manifest.Run, k, peerIDs(from))
	}
	if err := l.Sync(ctx); err != nil {
		return &runs.Refusal{Kind: runs.Unavailable,
			Text: "the checkpoint cannot be written, and the run goes on: " + plain.OneLine(err)}
	}
	return nil
}

func (x *collecting) collectFromAll(ctx context.Context, run job.RunID, k *ledger.Ledger, from []peer.ID) {
	ctx, cancel := context.WithTimeout(ctx, collectTime)
	defer cancel()
	var wg sync.WaitGroup
	places := make(chan struct{}, collectAtOnce)
	within := collectTime * collectAtOnce / time.Duration(max(len(from), collectAtOnce))
	for _, id := range from {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if err := x.collectFrom(ctx, within, id, run, k); err != nil {
				x.Log.Warn("what a peer has of a suspended run could not all be collected, and will be computed again",
					"run", run, "peer", id, "error", err)
			}
		})
	}
	wg.Wait()
}

func (x *collecting) collectFrom(ctx context.Context, within time.Duration, id peer.ID, run job.RunID,
	k *ledger.Ledger) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return x.board.Converse(ctx, id, collectProtocol, within, func(s network.Stream) error {
		if err := switchboard.WriteValue(s, &collectQuestion{run}); err != nil {
			return err
		}
		for total := 0; total < maxCollected; {
			n, err := x.collectOne(ctx, s, id, run, k)
			if err != nil || n == 0 {
				return err
			}
			total += n
		}
		return errors.New("it has more than is taken from one peer")
	})
}

// collectOne takes one outcome, of so many bytes; 0 is the end.
func (x *collecting) collectOne(ctx context.Context, s io.Reader, id peer.ID, run job.RunID,
	k *ledger.Ledger) (int, error) {
	var head [wire.FrameHead]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return 0, err
	}
	n := int(min(binary.BigEndian.Uint32(head[:]), wire.MaxValue))
	leave, err := x.board.Road.Await(ctx, id, n)
	if err != nil {
		return 0, err
	}
	defer leave()
	b, err := wire.ReadFrame(io.MultiReader(bytes.NewReader(head[:]), s), nil, wire.MaxValue)
	if err != nil || len(b) == 0 {
		return 0, err
	}
	var part steal.Partial
	if err := wire.Value().Decode(b, &part); err != nil {
		return 0, err
	}
	if err := x.vouch.CheckKept(run, &part, id); err != nil {
		x.Log.Warn("an outcome is refused", "run", run, "from", id, "error", err)
		return n, nil
	}
	if !k.AppendOutcome(part.Path, part.Identity, part.Outcome, part.Voucher) { // the queue may be full
		if l := k.Log(); l == nil {
			return 0, k.Trouble()
		} else if err := l.Sync(ctx); err != nil {
			return 0, err
		}
		if !k.AppendOutcome(part.Path, part.Identity, part.Outcome, part.Voucher) {
			return 0, cmp.Or(k.Trouble(), errors.New("the disk is too slow for it"))
		}
	}
	return n, nil
}
