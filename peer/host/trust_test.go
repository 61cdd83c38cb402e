package host

import (
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Who says hello is judged by what it says and by the lists; nothing is sent, and there is no network.
func TestJudged(t *testing.T) {
	listed := func(n byte) *idList { return &idList{ids: map[peer.ID]string{mustID(n): ""}} }
	h := &Host{membership: membership{cfg: Config{Protocol: 3, OldestProtocol: 2}, id: mustID(9),
		swarm: &swarm{name: "lab", public: publicOf(1)}, allowed: listed(1), revoked: listed(2)}}
	h.roll = Roll{host: h, banned: &revocations{}}
	a := admission{&h.membership}
	for _, c := range []struct {
		what string
		from byte
		said hello
		want error
	}{
		{"one that is let in by its ID", 1, hello{Swarm: "lab", Protocol: 3, Oldest: 3}, nil},
		{"one that is older", 1, hello{Swarm: "lab", Protocol: 2, Oldest: 1}, nil},
		{"one that is too old", 1, hello{Swarm: "lab", Protocol: 1, Oldest: 1}, ErrVersion},
		{"one that is too new", 1, hello{Swarm: "lab", Protocol: 5, Oldest: 4}, ErrVersion},
		{"one of another swarm", 1, hello{Swarm: "other", Protocol: 3, Oldest: 3}, ErrWrongSwarm},
		{"one that was put out", 2, hello{Swarm: "lab", Protocol: 3, Oldest: 3}, ErrNotInvited},
		{"a stranger", 3, hello{Swarm: "lab", Protocol: 3, Oldest: 3}, ErrNotInvited},
		{"one with another key", 3, hello{Swarm: "lab", Protocol: 3, Oldest: 3, Key: publicOf(2)}, ErrWrongSwarm},
	} {
		if granted, err := a.judge(mustID(c.from), &c.said); !errors.Is(err, c.want) || len(granted) > 0 {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
}

// Who is put out while its handshake goes on, with whoever has let it in, is not let in after that.
func TestPutOutDuringTheHandshake(t *testing.T) {
	for _, late := range []bool{false, true} {
		h, _, two := hostWithTwo(t)
		id, said := mustID(2), &hello{Protocol: h.cfg.Protocol, Oldest: h.cfg.Protocol, Swarm: h.swarm.name,
			Key: h.swarm.public, Chain: two}
		v := &visitor{id: id, done: make(chan struct{})}
		h.visitors.mu.Lock()
		h.visitors.all[id], h.visitors.outside = v, 1
		h.visitors.mu.Unlock()
		if _, err := h.admission.judge(id, said); err != nil {
			t.Fatal(err)
		}
		if late {
			if err := h.Revoke(mustID(1)); err != nil {
				t.Fatal(err)
			}
		}
		if in := h.visitors.admit(v, said, nil); in == late || h.Admitted(id) == late {
			t.Errorf("put out meanwhile: %t; it is let in: %t, and is in: %t", late, in, h.Admitted(id))
		}
	}
}
