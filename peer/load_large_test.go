package peer

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/statement"
)

// someMembers are so many, of whom a peer has just heard.
func someMembers(n int, now time.Time) *members.Members {
	m := members.New(slog.New(slog.DiscardHandler), func() string { return "a" }, func() {})
	for i := range n {
		m.Learn(&statement.SignedCard{Peer: peer.ID(fmt.Sprintf("b%d", i)),
			Card: statement.Card{Cluster: "b", Seq: 1}}, nil, now)
	}
	return m
}

// In a large swarm each tells rarely what it does for a run, and is believed until it may tell again.
func TestLoadsOfLargeSwarms(t *testing.T) {
	for n, every := range map[int]time.Duration{0: time.Second, 2_000: 200 * time.Second} {
		now := time.Unix(1000, 0)
		x := someMembers(n, now)
		c := &conductor{Base: &base.Base{Now: func() time.Time { return now }, Every: time.Second},
			outside: outside{swarm: &swarm{members: x}}, parts: map[job.RunID]*part{{}: {}}}
		c.hearLoad("b1", encode(&load{Workers: 2, Busy: 1}))
		for after, want := range map[time.Duration]int{every: 1, 2 * every: 1, max(loadLife, 3*every): 0} {
			if _, workers, _ := (&part{final: new(report.RunStats), loads: c.parts[job.RunID{}].loads}).taking(
				now.Add(after)); workers != 2*want {
				t.Errorf("of %d members: %v after it was heard %d workers take part", n, after, workers)
			}
		}
		if got := loadEvery(x, time.Second); got != every {
			t.Errorf("of %d members each tells every %v", n, got)
		}
	}
}
