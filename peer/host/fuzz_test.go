package host

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/wire"
)

var keys sync.Map // each is asked for thousands of times

// keyOf and idOf make peers that are the same in every run.
func keyOf(n byte) ed25519.PrivateKey {
	key, there := keys.Load(n)
	if !there {
		key, _ = keys.LoadOrStore(n, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	}
	return key.(ed25519.PrivateKey)
}

func idOf(t testing.TB, n byte) peer.ID {
	key, err := crypto.UnmarshalEd25519PublicKey(keyOf(n).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func publicOf(n byte) ed25519.PublicKey { return keyOf(n).Public().(ed25519.PublicKey) }

// chainOf makes a chain from the swarm key 0 through peers 1, 2, ... n, all of whom may invite.
func chainOf(t testing.TB, n byte) (chain []certificate) {
	t.Helper()
	signer := keyOf(0)
	for i := byte(1); i <= n; i++ {
		var err error
		if chain, err = certify(chain, signer, publicOf(0), idOf(t, i), true); err != nil {
			t.Fatal(err)
		}
		signer = keyOf(i)
	}
	return chain
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := wire.Control().Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What a decoder accepts keeps its promises: bounds hold, it can be encoded again, and that gives the same bytes.
func FuzzHello(f *testing.F) {
	f.Add(encode(f, hello{Protocol: 1, Oldest: 1, Swarm: "lab", Key: publicOf(0), Chain: chainOf(f, 3),
		Incarnation: 7, Agent: "satin 1"}))
	f.Add(encode(f, hello{Protocol: 1, Oldest: 1, Joins: true, Ticket: make([]byte, secretBytes)}))
	f.Add(encode(f, hello{Protocol: 1, Oldest: 1, Swarm: "x", Agent: "\x1b[2Jgone"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeHello(b)
		if err != nil {
			return
		}
		if len(m.Chain) > maxChain || len(m.Agent) > 4*maxAgent || printable(m.Agent) != m.Agent ||
			len(m.Swarm) > maxSwarmName {
			t.Errorf("accepted %+v", m)
		}
		// A chain that a fuzzer made up proves nothing.
		if err := verifyChain(m.Chain, publicOf(9), idOf(t, 8), nobody); err == nil {
			t.Error("a chain for a key and a peer that never signed anything")
		}
		if _, err := decodeHello(encode(t, m)); err != nil {
			t.Errorf("accepted once, but not again: %v", err)
		}
	})
}

func nobody(peer.ID, []certificate) bool { return false }

// Whatever a peer answers to a hello, what is accepted is bounded and a refusal is fit for a terminal.
func FuzzWelcome(f *testing.F) {
	f.Add(encode(f, welcome{Hello: &hello{Protocol: 1, Oldest: 1, Swarm: "lab", Key: publicOf(0),
		Chain: chainOf(f, 1)}, Granted: chainOf(f, 2)}))
	f.Add(encode(f, welcome{Code: 4, Reason: "you \x1b[31mshall\n not pass"}))
	f.Add(encode(f, welcome{Code: 200}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeWelcome(b)
		if err != nil {
			return
		}
		if m.Code == 0 {
			if m.Hello == nil || len(m.Granted) > maxChain {
				t.Errorf("accepted %+v", m)
			}
			return
		}
		if text := m.refusal().Error(); printable(text) != text {
			t.Errorf("not fit for a terminal: %q", text)
		}
	})
}

// Whatever line is taken for an invitation is bounded, and says the same when it is written again.
func FuzzInvitation(f *testing.F) {
	v := Invitation{Swarm: "lab", Key: publicOf(0), Inviter: idOf(f, 1), Expires: time.Unix(1800000000, 0),
		secret: make([]byte, secretBytes),
		infos: []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/udp/4001/quic-v1"),
			ma.StringCast("/ip6/2001:db8::1/tcp/4001")}}
	line, err := v.line()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(line[:40] + "\r\n  " + line[40:])
	f.Add(line[:len(line)-1])
	f.Add(invitationPrefix)
	f.Fuzz(func(t *testing.T, line string) {
		v, err := ParseInvitation(line)
		if err != nil {
			return
		}
		if len(v.Addrs) > maxLineAddrs || len(v.secret) != secretBytes || checkSwarmName(v.Swarm) != nil {
			t.Errorf("accepted %+v", v)
		}
		again, err := v.line()
		if err != nil {
			t.Fatal(err)
		}
		w, err := ParseInvitation(again)
		if err != nil || w.Inviter != v.Inviter || !w.Expires.Equal(v.Expires) || len(w.Addrs) != len(v.Addrs) {
			t.Errorf("%+v became %+v, %v", v, w, err)
		}
	})
}

func signedRecord(t testing.TB, n byte, seq uint64, addrs ...string) []byte {
	t.Helper()
	return recordSignedBy(t, n, n, seq, addrs...)
}

// recordSignedBy is a record of peer n, signed by another.
func recordSignedBy(t testing.TB, signer, n byte, seq uint64, addrs ...string) []byte {
	t.Helper()
	key, err := crypto.UnmarshalEd25519PrivateKey(keyOf(signer))
	if err != nil {
		t.Fatal(err)
	}
	rec := &peer.PeerRecord{PeerID: idOf(t, n), Seq: seq}
	for _, a := range addrs {
		rec.Addrs = append(rec.Addrs, ma.StringCast(a))
	}
	envelope, err := record.Seal(rec, key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever list of peers comes, no more is read of it than a peer may tell.
func FuzzPeerList(f *testing.F) {
	f.Add(encode(f, peerList{}))
	f.Add(encode(f, peerList{Records: [][]byte{signedRecord(f, 1, 5, "/ip4/192.0.2.1/tcp/4001"),
		signedRecord(f, 2, 6)}}))
	f.Add(encode(f, peerList{Records: [][]byte{{1, 2, 3}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodePeerList(b)
		if err != nil {
			return
		}
		if len(list) > maxExchanged {
			t.Errorf("%d records", len(list))
		}
		for _, r := range list {
			if len(r.addrs) > maxPeerAddrs || len(r.raw) > maxRecord {
				t.Errorf("accepted %+v", r)
			}
		}
	})
}

// Whatever the file of addresses holds, no more is remembered than may be, and it is written as it will be read.
func FuzzAddrBook(f *testing.F) {
	now := time.Unix(1800000000, 0)
	f.Add([]byte(addrBookFormat + "\n/ip4/192.0.2.1/udp/4001/quic-v1/p2p/" + idOf(f, 1).String() + " 1799999999\n"))
	f.Add([]byte("/ip4/192.0.2.1/udp/4001/quic-v1 1\nnonsense\n\x00 9"))
	heard := "/ip4/192.0.2.1/tcp/4001/p2p/" + idOf(f, 2).String() + " 1799999998"
	f.Add([]byte(heard + " heard\n" + heard + "\n" + heard + " herd\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all := parseAddrBook(b, now)
		if len(all) > maxRemembered+maxHeard {
			t.Errorf("%d peers", len(all))
		}
		text := formatAddrBook(all)
		if again := formatAddrBook(parseAddrBook(text, now)); !bytes.Equal(again, text) {
			t.Errorf("%q became %q", text, again)
		}
	})
}

// Whatever a file of peers holds, no more are read than there may be.
func FuzzIDList(f *testing.F) {
	f.Add([]byte("# who\n" + idOf(f, 1).String() + " a friend\n\n" + idOf(f, 2).String()))
	f.Add([]byte("nonsense\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ids, err := parseIDList(b)
		if err == nil && len(ids) > maxListed {
			t.Errorf("%d peers", len(ids))
		}
	})
}

// Whatever the file of invitations holds, none is read that was used more often than it may be.
func FuzzTickets(f *testing.F) {
	b, err := json.Marshal([]ticket{{Hash: hashSecret([]byte("x")), Expires: 9, Uses: 2, Used: []string{"somebody"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`[{"hash":""}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseTickets(b)
		if err != nil {
			return
		}
		for _, one := range all {
			if one.Uses < 1 || len(one.Used) > one.Uses {
				t.Errorf("accepted %+v", one)
			}
		}
	})
}

// Whatever the file of the swarm holds, its name is one that a swarm may have.
func FuzzSwarmFile(f *testing.F) {
	b, err := json.Marshal(swarmRecord{Name: "lab", Key: publicOf(0), Chain: encode(f, chainOf(f, 2)), Settled: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"name":"open"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := swarm{self: idOf(t, 2)}
		if s.decode(b) == nil && checkSwarmName(s.name) != nil {
			t.Errorf("accepted %q", s.name)
		}
	})
}

// Whatever text is taken for an address names a peer and a way to it.
func FuzzAddr(f *testing.F) {
	f.Add("/ip4/192.0.2.1/udp/4001/quic-v1/p2p/" + idOf(f, 1).String())
	f.Add("/dnsaddr/example.org/p2p/" + idOf(f, 1).String())
	f.Add("/p2p/" + idOf(f, 1).String() + "/p2p-circuit/p2p/" + idOf(f, 2).String())
	f.Fuzz(func(t *testing.T, text string) {
		if info, err := ParseAddr(text); err == nil && (info.ID == "" || len(info.Addrs) == 0) {
			t.Errorf("accepted %+v", info)
		}
	})
}
