package peer

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// Requests that come while a run is being fetched are answered when it has begun; those for a run that nobody
// fetches are not kept, nor more than maxWaiting.
func TestRequestsWaitForTheirRun(t *testing.T) {
	run, other := job.RunID{1}, job.RunID{2}
	there := sessions{fetching: map[job.RunID]int{}, waiting: map[job.RunID][]*steal.Message{}}
	there.expect(run)
	there.expect(run) // of a second peer, as the first is slow
	ask := func(id job.RunID, n int) *steal.Message {
		return &steal.Message{
			Run: id, From: steal.Address{Peer: "thief", Inc: 1}, To: steal.Address{Peer: "self"},
			Request: &steal.StealRequest{ID: steal.RequestID(n), Max: 1},
		}
	}
	for n := range maxWaiting + 5 {
		there.await(ask(run, n+1))
	}
	there.await(ask(other, 1))
	if len(there.waiting[run]) != maxWaiting || len(there.waiting) != 1 {
		t.Fatalf("%d requests wait, for %d runs", len(there.waiting[run]), len(there.waiting))
	}
	if there.fetched(run); len(there.waiting[run]) != maxWaiting {
		t.Fatalf("%d requests wait while a second peer is asked", len(there.waiting[run]))
	}
	replies := make(chan *steal.Message, 2*maxWaiting)
	policy, err := policy.ByName("rs", "")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := compute.New(compute.Config{Run: run, Workers: 1, Naive: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(session.Config{
		Run: steal.Run{ID: run, Recovery: steal.Naive}, Self: steal.Address{Peer: "self", Inc: 1},
		Core: steal.LAN(), Policy: policy, Engine: engine,
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
	there.live.Store(run, s)
	there.fetched(run)
	there.await(ask(run, maxWaiting+6)) // it was on its way to the table when the session came
	for range maxWaiting + 1 {
		select {
		case <-replies:
		case <-time.After(8 * time.Minute):
			t.Fatal("a request that waited was not answered within eight minutes")
		}
	}
	if len(there.waiting)+len(there.fetching) != 0 {
		t.Errorf("%d runs are waited for after the end", len(there.waiting))
	}
	there.expect(other)
	there.await(ask(other, 1))
	if there.fetched(other); len(there.waiting) != 0 {
		t.Error("requests wait for a run that nobody takes part in")
	}
}
