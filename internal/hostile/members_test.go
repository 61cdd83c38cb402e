package hostile

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

// meeting is what members say of whom they know, as package peer encodes it.
type meeting struct {
	Cards   [][]byte   `cbor:"1,keyasint"`
	Runs    [][16]byte `cbor:"2,keyasint,omitempty"`
	Over    [][]byte   `cbor:"3,keyasint,omitempty"`
	Answers [][]byte   `cbor:"4,keyasint,omitempty"`
	Out     [][]byte   `cbor:"5,keyasint,omitempty"`
}

// card is a member's, or of one that would be taken for a member.
func card(t *testing.T, key crypto.PrivKey, proof []byte, addrs ...string) []byte {
	t.Helper()
	return cardWith(t, key, &statement.Card{Cluster: "anywhere", Addrs: addrs, Proof: proof})
}

func cardWith(t *testing.T, key crypto.PrivKey, c *statement.Card) []byte {
	t.Helper()
	c.Swarm, c.Incarnation, c.Seq, c.At, c.Cores = swarmName, 1, uint64(time.Now().UnixNano()), time.Now().Unix(), 8
	signed, err := c.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed.Bytes
}

// known are the members that a victim knows, by ID.
func known(t *testing.T, v *peer.Peer) (ids []string) {
	t.Helper()
	list, err := v.Peers(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		ids = append(ids, p.Peer)
	}
	return ids
}

// An invited member cannot invent others: without a certificate, or with its own, a card is of nobody. (By cards
// alone, 3,000 invented members were believed within seconds, dialed, and chosen as deputies.)
func TestInventedMembers(t *testing.T) {
	v := victim(t)
	r := invited(t, v)
	for name, proof := range map[string][]byte{"without a proof": nil, "with the inventor's": r.Proof(),
		"with garbage": []byte("garbage")} {
		var m meeting
		for range 200 {
			m.Cards = append(m.Cards, card(t, newKey(t), proof, "/ip4/127.0.0.1/tcp/9"))
		}
		if err := r.say(t, "/satin/meet/1", &m, &meeting{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ids := known(t, v); len(ids) > 1 {
			t.Errorf("%s: %d members are believed", name, len(ids))
		}
	}
}

// A member that is not connected is believed by its certificate, by the word of whoever; until it is revoked.
func TestMembersProveThemselves(t *testing.T) {
	v := victim(t)
	r, other := invited(t, v), invited(t, v)
	id, proof, key := other.ID(), other.Proof(), other.Network().Peerstore().PrivKey(other.ID())
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	tell := func() bool {
		told := &meeting{Cards: [][]byte{card(t, key, proof, "/ip4/127.0.0.1/tcp/9")}}
		if err := r.say(t, "/satin/meet/1", told, &meeting{}); err != nil {
			t.Fatal(err)
		}
		return slices.Contains(known(t, v), id.String())
	}
	if !tell() {
		t.Error("a member with a certificate is not believed")
	}
	w := victim(t) // of another swarm
	told := &meeting{Cards: [][]byte{card(t, key, proof)}}
	if err := invited(t, w).say(t, "/satin/meet/1", told, &meeting{}); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(known(t, w), id.String()) {
		t.Error("a certificate of another swarm counts")
	}
	if err := v.Revoke(t.Context(), id.String()); err != nil {
		t.Fatal(err)
	}
	if tell() {
		t.Error("a member that was revoked is believed")
	}
}

// A member that shows one card to some and another to others is the same for everybody who hears of both, whichever
// came first. (Each kept the one that it had heard first.)
func TestTwoFaces(t *testing.T) {
	v, w := computing(t), computing(t)
	join(t, v, w, control.Invitation{})
	r, friend := invited(t, v), invited(t, v)
	there, friendThere := r.at(t, w), friend.at(t, w)
	var faces [2][]byte
	for i, name := range []string{"left", "right"} {
		c := statement.Card{Swarm: swarmName, Incarnation: 1, Seq: 1, Name: name, Cluster: "here", Proof: r.Proof()}
		signed, err := c.Sign(keyOf(r))
		if err != nil {
			t.Fatal(err)
		}
		faces[i] = signed.Bytes
	}
	r.meets(t, &meeting{Cards: faces[:1]})
	there.meets(t, &meeting{Cards: faces[1:]})
	friend.meets(t, &meeting{Cards: faces[1:]})
	friendThere.meets(t, &meeting{Cards: faces[:1]})
	called := func(p *peer.Peer) string {
		list, err := p.Peers(patience(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range list {
			if i.Peer == r.ID().String() {
				return i.Name
			}
		}
		return ""
	}
	if a, b := called(v), called(w); a != b || a == "" {
		t.Errorf("it is %q for one and %q for another", a, b)
	}
}
