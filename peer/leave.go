package peer

import (
	"context"
	"sync"
	"time"
)

// Leave lets this peer's part in all runs go to others, its own runs included: jobs that have not begun go
// back, results are handed over, for Config.LeavePatience at most, and then it says goodbye: to partners, who
// queue again at once what this peer still held, and to everybody. With little to hand over it is done in
// some milliseconds if the network takes the messages; some members that cannot be reached cost it less than
// a second. It gives up when ctx ends, with its error. Close is still needed.
func (p *Peer) Leave(ctx context.Context) error {
	if !p.caretaker.presence.Leave() {
		return nil
	}
	defer p.caretaker.presence.Left()
	patience := p.cfg.LeavePatience
	if end, ok := ctx.Deadline(); ok {
		patience = min(patience, max(time.Until(end)-flushTime-farewellTime, 0))
	}
	parts, needless := p.leaveRuns(patience)
	p.card.tellAnew()
	soon, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	_ = p.traffic.stream.Flush(soon) // one that cannot be reached does not hold up the others' goodbyes, nor us
	p.meetings.takeLeave(ctx)
	err := ctx.Err()
	p.closeLedgers(ctx, parts, needless)
	return err
}

// leaveRuns ends this peer's parts in the runs in progress, which others go on with; needless says whose checkpoints
// are.
func (p *Peer) leaveRuns(patience time.Duration) (parts []*part, needless []bool) {
	var wg sync.WaitGroup
	parts = p.runs.inProgress()
	needless = make([]bool, len(parts))
	for i, r := range parts {
		wg.Go(func() {
			r.session.Leave(patience)
			if r.manifest.Owner != p.runs.self {
				needless[i] = patience > 0 && r.handedOver()
				f := r.session.Figures()
				last := statsOf(f, r.session.Stats())
				p.runs.mu.Lock()
				r.tellLast(p.runs, &last, f.Late)
				p.runs.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return parts, needless
}

// abandon ends parts at once, without a word.
func abandon(parts []*part) {
	for _, r := range parts {
		r.session.Close()
		r.ledger.Close(false)
	}
}

// handedOver says whether others have all that this peer had of a run: what it had no room for at hand is on its disk
// alone.
func (r *part) handedOver() bool {
	s := r.session.Stats().Steal
	return s.PartialsLeft == 0 && s.PartialsDisplaced == 0 && !r.ledger.HasMore()
}

// closeLedgers lets go of the checkpoints, when everybody has been told: a disk may take seconds, and nobody
// else waits for that. Those of others' runs have no use any more if all that they had here was handed over: whoever
// is the last, or leaves with all others, has nobody who takes it.
func (p *Peer) closeLedgers(ctx context.Context, parts []*part, needless []bool) {
	written := make(chan struct{})
	p.Spawn(func(context.Context) {
		defer close(written)
		var wg sync.WaitGroup
		for i, r := range parts {
			wg.Go(func() { r.ledger.Close(needless[i]) })
		}
		wg.Wait()
	})
	select {
	case <-written:
	case <-ctx.Done():
		p.Log.Warn("the disk does not take the end of the checkpoints in time: what was last computed may be missing from them")
	}
}

// flushTime bounds the goodbyes to partners: those that are connected have them in a round trip.
const flushTime = 300 * time.Millisecond

// takeLeave tells the members that are connected directly: gossip may lose the last word, and nobody will
// repeat it. What it was told by gossip, which combines messages before it sends them, leaves in the
// meantime.
func (x *meetings) takeLeave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range x.swarm.members.List() {
		if x.board.Connected(c.Peer) {
			wg.Go(func() { x.meet(ctx, c.Peer) })
		}
	}
	wg.Wait()
}

// farewellTime bounds the goodbyes to members; partners of runs have had theirs before.
const farewellTime = 500 * time.Millisecond
