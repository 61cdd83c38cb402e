package statement_test

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// A receipt is the word of one owner about one peer in one verified run: nobody alters it, and more time than the run
// has lasted, on all of the peer's cores, is none.
func TestReceipts(t *testing.T) {
	k := key(t)
	owner, _ := peer.IDFromPrivateKey(k)
	to, _ := peer.IDFromPrivateKey(key(t))
	run := manifest()
	run.Verify = "quorum=2"
	signed, err := run.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	of := func() *runs.Manifest {
		return &runs.Manifest{Run: signed.Run, Owner: runs.PeerID(owner.String()), Verify: "quorum=2",
			Created: run.Created}
	}
	honest := statement.Receipt{Run: signed.Run, Peer: []byte(to), Time: 180e6, Results: 7, Took: 60e6, Cores: 3,
		At: run.Created + 60}
	s, err := honest.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	if s.Author != owner || s.To != to || s.OfRun(of()) != nil {
		t.Errorf("%+v, %v", s, s.OfRun(of()))
	}
	for at := range s.Bytes {
		b := append([]byte(nil), s.Bytes...)
		b[at] ^= 1
		if _, err := statement.OpenReceipt(b); err == nil {
			t.Fatalf("byte %d is altered", at)
		}
	}
	for what, change := range map[string]func(*statement.Receipt){
		"the time is 180000001": func(r *statement.Receipt) { r.Time++ },
		"the time is 0":         func(r *statement.Receipt) { r.Time = 0 },
		"results is 0":          func(r *statement.Receipt) { r.Results = 0 },
		"cores is 1025":         func(r *statement.Receipt) { r.Cores = 1025 },
		"run is 8640000000001":  func(r *statement.Receipt) { r.Took = 8_640_000_000_001 },
		"a peer ID":             func(r *statement.Receipt) { r.Peer = nil },
	} {
		r := honest
		change(&r)
		if _, err := r.Sign(k); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(*runs.Manifest){
		"is not the owner":         func(m *runs.Manifest) { m.Owner = runs.PeerID(to.String()) },
		"not the owner":            func(m *runs.Manifest) { m.Run[0]++ },
		"nothing is verified":      func(m *runs.Manifest) { m.Verify = "" },
		"has lasted for 59s only":  func(m *runs.Manifest) { m.Created += 2 },
		"has lasted for -59m59s o": func(m *runs.Manifest) { m.Created += 3660 },
	} {
		m := of()
		change(m)
		if err := s.OfRun(m); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
