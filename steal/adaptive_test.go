package steal

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

var idleOne = Load{Workers: 1, Idle: 1}

// coreAt makes a core of one member, a minute past the start.
func coreAt(t *testing.T, clusters string, self PeerID, p policy.Policy) *Core {
	t.Helper()
	c, err := NewCore(LAN(), Run{}, Address{Peer: self, Inc: 1}, parseMembers(clusters), p, rand.New(rand.NewPCG(7, 7)))
	if err != nil {
		t.Fatal(err)
	}
	c.now = time.Minute
	return c
}

// parseMembers reads "a: a1 a2, b: b1 b2".
func parseMembers(s string) *Members {
	var list []Member
	for _, c := range strings.Split(s, ",") {
		name, ids, _ := strings.Cut(c, ":")
		for _, id := range strings.Fields(ids) {
			list = append(list, Member{ID: PeerID(id), Cluster: ClusterID(strings.TrimSpace(name))})
		}
	}
	return NewMembers(list)
}

// An idle peer among idle peers sends a few messages a second: whoever it asks has nothing, refuses when the
// request's patience is over, and the refusal takes 20 ms.
func TestAdaptiveDoesNotSpin(t *testing.T) {
	c := coreAt(t, "a: a1 a2 a3 a4 a5, b: b1 b2 b3, c: c1 c2 c3", "a1", &policy.Adaptive{})
	type refusal struct {
		at time.Duration
		m  *Message
	}
	var due []refusal
	wide, all := 0, 0
	send := func(out Output) {
		for _, m := range out.Messages {
			if m.Request == nil {
				continue
			}
			r := &Message{From: Address{Peer: m.To.Peer, Inc: 1}, To: m.From,
				Reply: &StealReply{ID: m.Request.ID, Waited: m.Request.Patience}}
			due = append(due, refusal{c.now + 20*time.Millisecond + m.Request.Patience, r})
			if c.now > 90*time.Second {
				all++
				if to, _ := c.members.Find(m.To.Peer); to.Cluster != "a" {
					wide++
				}
			}
		}
	}
	send(c.Report(c.now, idleOne))
	for c.now < 120*time.Second {
		at, ok := c.Next()
		next := -1
		for i, r := range due {
			if !ok || r.at <= at {
				at, ok, next = r.at, true, i
			}
		}
		if !ok {
			t.Fatal("it has given up: nothing is due")
		}
		if next < 0 {
			send(c.Tick(at))
			continue
		}
		m := due[next].m
		due = append(due[:next], due[next+1:]...)
		send(c.Step(at, m))
	}
	if all < 30 || all > 30*6 || wide < 15 || wide > 30*2 {
		t.Errorf("%d requests in 30 s, %d of them wide; want one to six a second, and up to two", all, wide)
	}
}
