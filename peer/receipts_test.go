package peer

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
)

// Room is made by whose receipts are most, the oldest of them first: one owner of many small runs displaces its own.
func TestReceiptsMakeRoom(t *testing.T) {
	x := &receipts{have: map[job.RunID]*statement.SignedReceipt{}}
	put := func(n int, by peer.ID, at int64) job.RunID {
		run := job.RunID{byte(n), byte(n >> 8), 1}
		x.have[run] = &statement.SignedReceipt{Receipt: statement.Receipt{Run: run, At: at}, Author: by}
		return run
	}
	rare := put(0, "rare", 1)
	var oldest job.RunID
	for n := 1; n < maxReceipts; n++ {
		if run := put(n, "often", int64(100+n%1000)); n == 1000 {
			oldest = run
		}
	}
	if gone := x.excess(); gone != (job.RunID{}) {
		t.Fatalf("%v makes way although there is room", gone)
	}
	put(maxReceipts, "other", 2)
	x.have[oldest].At = 99
	if gone := x.excess(); gone != oldest || gone == rare {
		t.Errorf("%v makes way, want %v", gone, oldest)
	}
}

// What is on the disk proves itself, or is not counted: a receipt of another peer, one under the name of another run,
// one that is altered.
func TestReceiptsOnDisk(t *testing.T) {
	owner, _, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		t.Fatal(err)
	}
	self, err := peer.IDFromPrivateKey(owner) // any will do
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := func() *receipts {
		x := &receipts{vouch: &vouching.Border{Self: self},
			Base: base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)}
		if err := x.open(dir); err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := open()
	put := func(name string, to peer.ID, spoil int) {
		run := job.RunID{name[0]}
		r := statement.Receipt{Run: run, Peer: []byte(to), Time: 1, Results: 1, Took: 1, Cores: 1}
		s, err := r.Sign(owner)
		if err != nil {
			t.Fatal(err)
		}
		s.Bytes[len(s.Bytes)-1] ^= byte(spoil)
		if name != "moved" {
			name = run.Hex()
		}
		if err := x.kept.Write(name, s.Bytes); err != nil {
			t.Fatal(err)
		}
	}
	put("good", self, 0)
	put("another's", "\x00\x24\x08\x01\x12\x20"+peer.ID(make([]byte, 32)), 0)
	put("moved", self, 0)
	put("spoilt", self, 1)
	if x = open(); len(x.have) != 1 || x.have[job.RunID{'g'}] == nil {
		t.Errorf("counted are %v", x.have)
	}
}

// Guards what a volunteer has earned, and where his files are: a receipt that comes while the disk is full is not
// refused, which would settle the debt, but has no answer, and counts when it comes again.
func TestReceiptOnAFullDisk(t *testing.T) {
	owner, giver := newKey(t)
	_, self := newKey(t)
	dir, now := t.TempDir(), time.Now()
	m := &runs.Manifest{Run: job.RunID{1}, Owner: runs.PeerID(giver.String()), Verify: "quorum=2", Created: now.Unix()}
	x := &receipts{Base: base.New(slog.New(slog.DiscardHandler), time.Now, time.Second), cores: 1,
		vouch: &vouching.Border{Self: self, Outcast: func(peer.ID) bool { return false }},
		known: func(job.RunID) *runs.Manifest { return m }}
	if err := x.open(dir); err != nil {
		t.Fatal(err)
	}
	r := statement.Receipt{Run: m.Run, Peer: []byte(self), Time: 1, Results: 1, Took: 1, Cores: 1, At: now.Unix()}
	s, err := r.Sign(owner)
	if err != nil {
		t.Fatal(err)
	}
	b, err := wire.Value().Encode(&given{Receipt: s.Bytes})
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(dir, "receipts") // in the way of the directory
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := x.answer(giver, b); err == nil || len(x.have) > 0 {
		t.Errorf("with a full disk the answer is %v, and %d are counted", a, len(x.have))
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if a, err := x.answer(giver, b); err != nil || *a.(*taken) != (taken{}) || len(x.have) != 1 {
		t.Errorf("with room the answer is %v, %v, and %d are counted", a, err, len(x.have))
	}
}

// Guards the disk against a member that brings receipts of runs that it makes up, each of which is written: as those
// that are kept are bounded, and its oldest make way, it could go on for ever.
func TestReceiptsComeAtARate(t *testing.T) {
	key, _, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		t.Fatal(err)
	}
	from, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1800000000, 0)
	x := &receipts{vouch: &vouching.Border{Self: from, Outcast: func(peer.ID) bool { return false }}, cores: 1,
		Base:  base.New(slog.New(slog.DiscardHandler), func() time.Time { return now }, time.Second),
		swarm: func() string { return "lab" }, known: func(job.RunID) *runs.Manifest { return nil }}
	defer x.Cancel()
	if err := x.open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	bring := func(n int) (written int) {
		before := len(x.have)
		for range n {
			m, err := (&statement.Manifest{Swarm: "lab", App: "a", Entry: "a.b", Nonce: statement.NewNonce(),
				Verify: "quorum=2", Created: now.Unix() - 60, Expires: now.Unix() + 60}).Sign(key)
			if err != nil {
				t.Fatal(err)
			}
			s, err := (&statement.Receipt{Run: m.Run, Peer: []byte(from), Time: 1, Results: 1, Took: 1, Cores: 1,
				At: now.Unix()}).Sign(key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := x.answer(from, encode(&given{s.Bytes, m.Bytes})); err != nil && !errors.Is(err, errTooOften) {
				t.Fatal(err)
			}
		}
		return len(x.have) - before
	}
	if n := bring(2 * maxReceiptsAtOnce); n != maxReceiptsAtOnce {
		t.Errorf("%d are written at once", n)
	}
	now = now.Add(3 * time.Second)
	if n := bring(10); n != 3 {
		t.Errorf("%d are written in three seconds", n)
	}
}

// Where whoever is owed a receipt takes longer to answer than it is until the next time, nobody waits for that: else
// more would wait each time, for as long as the daemon runs.
func TestGivingDoesNotPileUp(t *testing.T) {
	x := &receipts{Base: base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)}
	defer x.Cancel()
	x.giving.Lock() // somebody is at it
	now := time.Now()
	for i := range 3 {
		x.keepUp(now.Add(time.Duration(i) * receiptsEvery * time.Second))
	}
	x.Tasks.Wait()
}
