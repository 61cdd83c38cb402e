package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/verify"
)

// What members pay for that each outcome has an author: whoever has computed what leaves a peer, or goes to a disk,
// signs for it, and whoever gets it looks. No option does without, and a difference of two runs of seconds is a hundred
// times as much as this: so daemons take the time of all of it, and the price is that over what the run has taken.

const membersShare = 0.5 // percent

// vouching measures what two processes of a swarm pay in runs that nobody verifies.
func vouching(w *workshop, rounds int) (_ []table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rounds+1)*swarmPatience)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	s, err := newSwarm(ctx, binary, w, []int{1, 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var pair []float64
	for range rounds {
		us, err := pairCost()
		if err != nil {
			return nil, err
		}
		pair = append(pair, us)
	}
	figures := []figure{{name: "signing for an outcome, and looking at the signature", form: "%.0f us", values: pair}}
	for _, line := range swarmInstances {
		var taken, share []float64
		for round := range rounds + 1 {
			progress("members: %s, round %d of %d", line, round, rounds)
			w, spent, err := takenBy(ctx, s, line)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				taken = append(taken, w.Taken)
				share = append(share, 100*w.Vouching/spent)
			}
		}
		figures = append(figures, figure{name: line + ": jobs in another hand", form: "%.0f", values: taken},
			figure{name: "  all of it over the CPU time of all processes", form: "%.3f %%", values: share,
				atMost: membersShare})
	}
	progress("")
	return []table{{title: "What signed outcomes cost", figures: figures, notes: []string{
		fmt.Sprintf("%d rounds on two daemons of one worker each. The first row is the mean of %d pairs, one after the other on one core; all of it is what daemons say that it has taken of their threads' processor time: signing, looking, hashes of outcomes, for results, copies of parts that go home early, hand-overs and disks.",
			rounds, vouchers)}}}, nil
}

const vouchers = 2000

// pairCost is the time that it takes to sign for an outcome and to look at that, in microseconds.
func pairCost() (float64, error) {
	key, _, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		return 0, err
	}
	run, began := job.RunID{1}, time.Now()
	for i := range vouchers {
		c := (&verify.Opening{Node: verify.Node{Path: string([]byte{byte(i), byte(i >> 8)})}}).Claim()
		b, err := statement.Vouch(key, run, &c)
		if err != nil {
			return 0, err
		}
		if _, err := statement.OpenVoucher(b, run, c.Node, c.Outcome); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(began).Microseconds()) / vouchers, nil
}

// takenBy is what two daemons have done in a run, and the CPU time of all processes, in seconds.
func takenBy(ctx context.Context, s *swarm.Swarm, line string) (w swarmWork, spent float64, err error) {
	before, err := workOf(ctx, s)
	if err != nil {
		return w, 0, err
	}
	began, children := swarmTime(s), childrenOf(s)
	if _, err := s.Peers[0].Command(ctx, searchWords(line)...); err != nil {
		return w, 0, err
	}
	err = await(ctx, "all have left the run", func() (bool, error) { return childrenOf(s) <= children, nil })
	if err != nil {
		return w, 0, err
	}
	after, err := workOf(ctx, s)
	w.Taken, w.Vouching = after.Taken-before.Taken, after.Vouching-before.Vouching
	return w, (swarmTime(s) - began).Seconds(), err
}

// swarmWork is what the peers of a swarm have done since their start, by their own status.
type swarmWork struct{ Taken, Vouching float64 }

func workOf(ctx context.Context, s *swarm.Swarm) (sum swarmWork, err error) {
	for _, p := range s.Peers {
		st, err := p.Client().Status(ctx)
		if err != nil {
			return sum, err
		}
		sum.Taken, sum.Vouching = sum.Taken+float64(st.Work.Taken), sum.Vouching+st.Work.Vouching
	}
	return sum, nil
}
