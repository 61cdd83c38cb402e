package peer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// The voucher of an outcome commits to how it was made: see driver.Made. The owner of a run that is verified may
// ask for that, of one node at a time: what it needs to run the node again, and the author's signature for that
// very node. So if the node is wrong, this convinces others without anything above it.

const (
	openingProtocol protocol.ID = "/satin/opening/1"
	openingPatience             = 10 * time.Second
	maxQuestion                 = 256
	maxOpening                  = 2 * driver.MaxMade // with the encoding
	maxCommitted                = 64 << 20           // bytes that are remembered, of all runs
)

// whichOpening is the question.
type whichOpening struct {
	Run  job.RunID   `cbor:"1,keyasint"`
	Tree verify.Hash `cbor:"2,keyasint"`
}

// commitments are what stands behind the vouchers that this peer has written for others' runs.
type commitments struct {
	board *switchboard.Board
	key   crypto.PrivKey

	mu   sync.Mutex
	made driver.Commitments
}

// of is what remembers for one run.
func (x *commitments) of(m *statement.SignedManifest) func(*verify.Claim, *driver.Made) {
	owner := string(peerName(m.Owner))
	return func(c *verify.Claim, made *driver.Made) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.made.Most = maxCommitted
		x.made.Note(&driver.Commitment{Claim: *c, Made: made, Run: m.Run, Owner: owner})
	}
}

// forget forgets a run that has ended here.
func (x *commitments) forget(run job.RunID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.made.Forget(run)
}

func (x *commitments) serve() { x.board.Answer(openingProtocol, maxQuestion, openingPatience, x.show) }

// show shows what was committed to, and signs for it.
func (x *commitments) show(from peer.ID, question []byte) (any, error) {
	var q whichOpening
	if err := wire.Value().Decode(question, &q); err != nil {
		return nil, err
	}
	x.mu.Lock()
	c := x.made.Of(q.Run, q.Tree)
	x.mu.Unlock()
	if c == nil || c.Owner != string(peerName(from)) {
		return nil, errors.New("nothing is known here of such an outcome, or it is not the asker's")
	}
	voucher, err := statement.Vouch(x.key, c.Run, &c.Claim)
	return c.Open(voucher), err
}

// ask asks a peer for what stands behind a claim of its, and tells the run's session.
func (j *jury) ask(run job.RunID, o verify.Open) {
	j.Spawn(func(ctx context.Context) {
		shown, err := j.askFor(ctx, run, &o)
		if err != nil {
			j.Log.Info("a peer does not show how it came to an outcome", "peer", string(o.Of), "run", run,
				"job", driver.PathOf(o.Claim.Node).String(), "error", err)
		}
		if s := j.live(run); s != nil {
			s.Opened(o, shown)
		}
	})
}

func (j *jury) askFor(ctx context.Context, run job.RunID, o *verify.Open) (*driver.Shown, error) {
	of, err := peer.Decode(string(o.Of))
	if err != nil {
		return nil, err
	}
	var a driver.OpenedNode
	if tab := j.guest(steal.PeerID(o.Of)); tab != nil {
		err = tab.open(ctx, run, o.Claim.Tree, &a)
	} else {
		err = j.board.Ask(ctx, of, openingProtocol, &whichOpening{run, o.Claim.Tree}, &a, maxOpening, openingPatience)
	}
	if err != nil {
		return nil, err
	}
	v, err := statement.OpenVoucher(a.Voucher, run, o.Claim.Node, o.Claim.Outcome)
	switch {
	case err != nil:
		return nil, err
	case v.Author != of, v.Claim != o.Claim:
		return nil, errors.New("what it signs is another claim")
	}
	return a.Shown(), nil
}

// trials runs nodes again, one at a time, beside all else.
type trials struct {
	mu      sync.Mutex
	waiting []waitingTrial
	sits    bool
}

type waitingTrial struct {
	run job.RunID
	*driver.Trial
}

// rerunTime is what running one node again may take, on one core: more is left to the run's own engine.
const rerunTime = 30 * time.Second

// rerun has a node run again. No more wait than there are jobs whose outcomes are unproved.
func (j *jury) rerun(run job.RunID, t *driver.Trial) {
	x := &j.trials
	x.mu.Lock()
	x.waiting = append(x.waiting, waitingTrial{run, t})
	begin := !x.sits
	x.sits = true
	x.mu.Unlock()
	if begin {
		j.Spawn(j.runTrials)
	}
}

// runTrials runs what waits; one engine is for all in a row of the same run.
func (j *jury) runTrials(ctx context.Context) {
	var e *trial
	var of job.RunID
	defer func() { e.close() }()
	for {
		x := &j.trials
		x.mu.Lock()
		if x.sits = len(x.waiting) > 0 && ctx.Err() == nil; !x.sits {
			x.mu.Unlock()
			return
		}
		next := x.waiting[0]
		x.waiting = x.waiting[1:]
		x.mu.Unlock()
		s := j.live(next.run)
		if s == nil {
			continue
		}
		if e == nil || of != next.run {
			e.close()
			e, of = nil, next.run
			if live, err := j.court.engine(j.court.known(next.run)); err != nil {
				j.Log.Warn("nothing can be run again to check it", "run", next.run, "error", err)
			} else {
				e = &trial{e: live, live: s}
			}
		}
		begun := j.Now()
		var r driver.Tried
		if e != nil {
			within, cancel := context.WithTimeout(ctx, rerunTime)
			e.ctx, e.job, e.given = within, next.Job, next.Given
			r.Outcome, r.OK = e.run()
			cancel()
			if r.Used = e.used; !r.OK {
				e.close()
				e = nil
			}
		}
		r.Took = j.Now().Sub(begun)
		s.Reran(next.Trial, r)
	}
}
