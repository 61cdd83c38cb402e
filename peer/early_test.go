package peer

import (
	"testing"
	"time"

	lpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// Requests that come while a run is being fetched are answered when it has begun; those for a run that nobody
// fetches are not kept, nor more than maxEarly.
func TestEarlyRequestsWait(t *testing.T) {
	run, other := job.RunID{1}, job.RunID{2}
	runs := newRuns(nil)
	runs.fetching[run] = lpeer.ID("thief")
	ask := func(id job.RunID, n int) *steal.Message {
		return &steal.Message{
			Run: id, From: steal.Address{Peer: "thief", Inc: 1}, To: steal.Address{Peer: "self"},
			Request: &steal.StealRequest{ID: steal.RequestID(n), Max: 1},
		}
	}
	for n := range maxEarly + 5 {
		runs.early(ask(run, n+1))
	}
	runs.early(ask(other, 1))
	if len(runs.waiting[run]) != maxEarly || len(runs.waiting) != 1 {
		t.Fatalf("%d requests wait, for %d runs", len(runs.waiting[run]), len(runs.waiting))
	}
	replies := make(chan *steal.Message, 2*maxEarly)
	policy, err := steal.PolicyByName("rs", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(session.Config{
		Run: steal.Run{ID: run, Recovery: steal.Naive}, Self: steal.Address{Peer: "self", Inc: 1},
		Core: steal.LAN(), Policy: policy, Workers: 1,
		Members: steal.NewMembers([]steal.Member{{ID: "self", Cluster: "a"}, {ID: "thief", Cluster: "a"}}),
		Send: func(m *steal.Message) {
			if m.Reply != nil {
				replies <- m
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs.live.Store(run, s)
	runs.fetched(run)
	runs.early(ask(run, maxEarly+6)) // it was on its way to the table when the session came
	for range maxEarly + 1 {
		select {
		case <-replies:
		case <-time.After(time.Minute):
			t.Fatal("a request that waited was not answered within a minute")
		}
	}
	if len(runs.waiting) != 0 || len(runs.fetching) != 0 {
		t.Errorf("%d runs are waited for, %d fetched, after the end", len(runs.waiting), len(runs.fetching))
	}
}
