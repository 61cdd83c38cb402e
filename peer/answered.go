package peer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
)

// A run whose owner was lost is answered by whoever holds the root job then. Which statement that a run is
// answered counts:
//
//   - For a peer that takes part in it: a deputy's, which the owner chose and signed; another member's only
//     while neither the owner nor any deputy is believed to be alive. Until then it is remembered, and
//     weighed again every second.
//   - For the owner: a deputy's, and, if it was away, anybody's. It believes the answer itself, not the
//     statement: it fetches the outcome, compares its hash, and reads it.
//
// So a member that lies can end a run no more easily than it could by a false result for a job that it stole,
// and one that is out of touch cannot end it for those who are not.

// maxClaims bounds the statements about one run that are remembered without being believed.
const maxClaims = 4

// hearAnswered takes in the statement that a run is answered, from anywhere; from is who passed it on.
func (t *runs) hearAnswered(b []byte, from peer.ID) error {
	a, err := statement.OpenAnswered(b)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.table[a.Run]
	switch {
	case a.Author == t.p.host.ID():
		return nil // this peer's own
	case r == nil && !t.p.answers.has(a.Run.Hex()):
		return nil // of a run that this peer knows nothing of; whoever tells it of the run will tell it of the answer
	case r == nil || r.mine:
		return t.hearOwnAnswered(r, a, from)
	case r.state.Ended():
		return nil
	case slices.ContainsFunc(r.claims, func(c *statement.SignedAnswered) bool { return c.Author == a.Author }):
	case len(r.claims) < maxClaims:
		r.claims = append(r.claims, a)
	default:
		return fmt.Errorf("run %s: %d others say that they have answered it", a.Run, len(r.claims))
	}
	t.weigh(r)
	return nil
}

// weigh ends a run of another peer if one of the statements that it is answered counts. The mutex is held.
func (t *runs) weigh(r *run) {
	p := t.p
	for _, a := range r.claims {
		if isDeputy(r.manifest, a.Author) || (!p.alive(r.manifest.Owner) && !p.deputyAlive(r.manifest)) {
			r.answered = a
			t.stop(r, control.RunDone, fmt.Sprintf("answered by %s, who keeps the answer for its owner", a.Author))
			return
		}
	}
}

// hearOwnAnswered is about an own run; r is nil for one that ended in an earlier life. The mutex is held.
func (t *runs) hearOwnAnswered(r *run, a *statement.SignedAnswered, from peer.ID) error {
	known := r != nil && !r.state.Ended() || r != nil && r.state == control.RunRefused
	switch {
	case r != nil && (r.state == control.RunCancelled || r.state == control.RunSuspended):
		if g, ok := t.graves[a.Run]; ok {
			t.p.publishTombstone(g.bytes) // it has not heard
		}
		return nil
	case known && !r.returned && !isDeputy(r.manifest, a.Author):
		return fmt.Errorf("run %s: %s says that it has answered it, and is none of its deputies", a.Run, a.Author)
	case t.fetchingAnswers >= maxAnswerFetches:
		return fmt.Errorf("run %s: too many answers are being fetched", a.Run)
	}
	t.fetchingAnswers++
	t.p.spawn(func(ctx context.Context) {
		err := t.fetchAnswer(ctx, a, from)
		t.mu.Lock()
		t.fetchingAnswers--
		t.mu.Unlock()
		if err != nil {
			t.p.log.Warn("answer to an own run not taken", "run", a.Run, "from", a.Author, "error", err)
		}
	})
	return nil
}

// maxAnswerFetches bounds the answers that are being fetched at a time.
const maxAnswerFetches = 4

// fetchAnswer gets the outcome that a statement promises, from its author or from whoever told of it, and
// keeps it: as the answer if there is none yet, or as a second one if it differs.
func (t *runs) fetchAnswer(ctx context.Context, a *statement.SignedAnswered, from peer.ID) error {
	t.concluding.Lock() // there may be several, and the root job here may end
	defer t.concluding.Unlock()
	have, manifest := t.ownAnswer(a.Run)
	if have != nil && statement.HashOutcome(have.Outcome) == a.Hash {
		t.mu.Lock()
		defer t.mu.Unlock()
		if g, ok := t.graves[a.Run]; ok {
			t.p.publishTombstone(g.bytes) // its author does not know that the owner has it
		}
		return nil
	}
	if second, err := t.p.disputes.head(a.Run); err == nil && second.by() != nil && second.by().Hash == a.Hash {
		return nil // it is known to be disputed
	}
	if manifest == nil {
		return fmt.Errorf("its manifest is not known any more")
	}
	var outcome []byte
	err := fmt.Errorf("nobody has it")
	for _, id := range slices.Compact([]peer.ID{a.Author, from}) {
		if id == t.p.host.ID() {
			continue
		}
		if outcome, err = t.p.askForAnswer(ctx, id, a); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if fn, ok := satin.Lookup(manifest.Entry); ok {
		if _, _, _, bad := session.DecodeOutcome(a.Run, outcome, fn); bad != nil {
			return fmt.Errorf("the outcome cannot be read: %w", bad)
		}
	}
	if have != nil {
		return t.dispute(have, outcome, a)
	}
	t.mu.Lock()
	r := t.table[a.Run]
	t.mu.Unlock()
	if r == nil {
		return fmt.Errorf("the run is forgotten")
	}
	t.conclude(r, outcome, a)
	return nil
}

// ownAnswer gives what there is of an own run: the answer, if it is there, and the manifest.
func (t *runs) ownAnswer(id job.RunID) (*Answer, *statement.SignedManifest) {
	t.mu.Lock()
	r := t.table[id]
	var have *Answer
	var m *statement.SignedManifest
	if r != nil {
		m = r.manifest
		if r.outcome != nil {
			have = &Answer{Outcome: r.outcome}
		}
	}
	t.mu.Unlock()
	if stored, err := t.p.answers.load(id); err == nil {
		have = stored
		if full, err := statement.OpenManifest(stored.Manifest); err == nil && m == nil {
			m = full.Head()
		}
	}
	return have, m
}

// dispute keeps an answer that differs from the one that there is. Neither is thrown away: which of them is
// wrong, or whether the jobs are not pure, only a person can find out.
func (t *runs) dispute(have *Answer, outcome []byte, a *statement.SignedAnswered) error {
	p := t.p
	p.log.Error("run is disputed: a peer has another answer", "run", a.Run, "by", a.Author, "kept",
		p.disputes.path(a.Run.Hex()))
	second := &Answer{Manifest: have.Manifest, Outcome: outcome, Ended: a.At, Elapsed: have.Elapsed, Answered: a.Bytes}
	err := p.disputes.keep(a.Run, second)
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.table[a.Run]; r != nil {
		r.disputed = a.Author.String()
	}
	return err
}

// conclude keeps the outcome of an own run, and only then tells anybody. by is nil if the root job ended
// here. concluding is held.
func (t *runs) conclude(r *run, outcome []byte, by *statement.SignedAnswered) {
	t.mu.Lock()
	over, manifest, most := r.state.Ended() && r.state != control.RunRefused, r.bytes, r.most
	t.mu.Unlock()
	if over {
		return // cancelled a moment ago
	}
	now := time.Now()
	ans := &Answer{Manifest: manifest, Outcome: outcome, Ended: now.Unix(), Elapsed: int64(now.Sub(r.began)),
		Peers: most}
	if by != nil {
		ans.Answered = by.Bytes
	}
	err := t.p.answers.keep(r.manifest.Run, ans)
	if err != nil {
		t.p.log.Error("the answer could not be kept on the disk", "run", r.manifest.Run, "error", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.state.Ended() && r.state != control.RunRefused {
		return
	}
	r.outcome, r.stored, r.answered = outcome, err, by
	state, why := control.RunDone, ""
	if o := judge(r.manifest, outcome); o.Failure != "" {
		state, why = control.RunFailed, o.Failure
	}
	t.endOwn(r, state, why, statement.Finished)
}
