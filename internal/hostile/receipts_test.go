package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	lpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// given and taken are package peer's, as they travel.
type given struct {
	Receipt  []byte `cbor:"1,keyasint"`
	Manifest []byte `cbor:"2,keyasint,omitempty"`
}

type taken struct {
	Why   string `cbor:"1,keyasint,omitempty"`
	Later bool   `cbor:"2,keyasint,omitempty"`
}

const receiptProtocol = "/satin/receipt/1"

func status(t *testing.T, p *peer.Peer) control.Status {
	t.Helper()
	st, err := p.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// thanked is a peer that has a receipt of a real run, and its disk.
func thanked(t *testing.T, owner *peer.Peer) (honest *peer.Peer, disk host.Config) {
	t.Helper()
	disk = hostConfig(t)
	honest = impatientWith(t, func(c *peer.Config) { c.Host = disk })
	join(t, owner, honest, control.Invitation{})
	_, end := pairs(t, owner, 12, control.Submission{Verify: "quorum=2"})
	until(t, "both compute", func() bool { return leavesOf(t).begun.Load() == 2 })
	if got := answer(t, end()); got != 650 {
		t.Fatalf("the answer is %d", got)
	}
	until(t, "the receipt has come", func() bool { return status(t, honest).Work.Verified.All.Runs == 1 })
	return honest, disk
}

// What a peer gave to a verified run its owner signs; it is there in the peer's next life, under the owner's name.
// What others bring adds nothing to it: what they have signed in the owner's place, of runs of others, of runs that
// are not verified, for another peer, of the future, of more cores or time than there are, or the owner's own word
// once more, or of a peer that is out.
func TestForgedReceipts(t *testing.T) {
	t.Parallel()
	v := impatient(t)
	honest, disk := thanked(t, v)
	self := mustDecode(t, idOf(t, honest))
	first := status(t, honest).Work.Verified
	if len(first.By) != 1 || first.By[0].Owner != idOf(t, v) || first.All.Results == 0 || first.All.Seconds <= 0 {
		t.Fatalf("verified is %+v", first)
	}
	r := invited(t, v)
	connect(t, r, honest)
	r.victim = self
	manifest := func(change func(*statement.Manifest)) *statement.SignedManifest {
		t.Helper()
		m := &statement.Manifest{Swarm: swarmName, App: "hostile", Entry: "hostile.pair", Nonce: statement.NewNonce(),
			Verify: "quorum=2", Created: time.Now().Unix() - 60, Expires: time.Now().Unix() + 60}
		change(m)
		s, err := m.Sign(keyOf(r))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	own := manifest(func(*statement.Manifest) {})
	receipt := func(key crypto.PrivKey, change func(*statement.Receipt)) []byte {
		t.Helper()
		s := &statement.Receipt{Run: own.Run, Peer: []byte(self), Time: 30e6, Results: 1, Took: 60e6, Cores: 1,
			At: time.Now().Unix()}
		change(s)
		b, err := s.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes
	}
	file, err := filepath.Glob(filepath.Join(disk.StateDir, "receipts", "*.receipt"))
	if err != nil || len(file) != 1 {
		t.Fatalf("kept are %v, %v", file, err)
	}
	f, err := os.Open(file[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	theirs, err := wire.ReadFrame(f, nil, statement.MaxReceipt)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := statement.OpenReceipt(theirs)
	if err != nil {
		t.Fatal(err)
	}
	unverified := manifest(func(m *statement.Manifest) { m.Verify = "" })
	elsewhere := manifest(func(m *statement.Manifest) { m.Swarm = "another" })
	tell := func(g given) string {
		t.Helper()
		var answer taken
		if err := r.say(t, receiptProtocol, &g, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Why
	}
	forged := func(m *statement.SignedManifest, change func(*statement.Receipt)) given {
		t.Helper()
		return given{receipt(keyOf(r), func(s *statement.Receipt) { s.Run = m.Run; change(s) }), m.Bytes}
	}
	nothing := func(*statement.Receipt) {}
	thirds := func(s *statement.Receipt) { s.Peer = []byte(r.ID()) }
	for what, c := range map[string]struct {
		given
		why string
	}{
		"of another's run":        {forged(own, func(s *statement.Receipt) { s.Run = kept.Run }), "is not the owner"},
		"by somebody else":        {given{receipt(newKey(t), nothing), own.Bytes}, "is not the owner"},
		"the owner's, by another": {given{theirs, nil}, "nobody but the run's owner"},
		"no run":                  {given{receipt(keyOf(r), nothing), nil}, "no run that is known"},
		"of another swarm":        {forged(elsewhere, nothing), "no run that is known"},
		"not verified":            {forged(unverified, nothing), "nothing is verified"},
		"for a third":             {forged(own, thirds), "another peer's"},
		"longer than the run":     {forged(own, func(s *statement.Receipt) { s.Took = 90e6 }), "has lasted for"},
		"from the future":         {forged(own, func(s *statement.Receipt) { s.At += 7200 }), "from the future"},
		"more cores than it has":  {forged(own, func(s *statement.Receipt) { s.Cores = 1024 }), "no 1024 cores"},
		"altered":                 {given{append(receipt(keyOf(r), nothing), 0), own.Bytes}, "receipt"},
		"nothing to be read":      {given{[]byte("much"), own.Bytes}, "receipt"},
	} {
		if why := tell(c.given); !strings.Contains(why, c.why) {
			t.Errorf("%s: the answer is %q", what, why)
		}
	}
	if got := status(t, honest).Work.Verified; got.All != first.All {
		t.Errorf("verified is %+v, was %+v", got, first)
	}
	// its own word for its own run counts, once, and under its name
	for _, says := range []int64{30e6, 30e6, 20e6} {
		if why := tell(forged(own, func(s *statement.Receipt) { s.Time = says })); why != "" {
			t.Errorf("its own: %s", why)
		}
	}
	more := status(t, honest).Work.Verified
	if more.Owners != 2 || more.All.Runs != 2 || more.By[0].Owner != r.ID().String() || more.By[0].Seconds != 30 {
		t.Errorf("verified is %+v", more)
	}
	honest.Close()
	again := impatientWith(t, func(c *peer.Config) { c.Host = disk })
	if got := status(t, again).Work.Verified; got.All != more.All {
		t.Errorf("in its next life verified is %+v, was %+v", got, more)
	}
	if err := again.Revoke(patience(t), r.ID().String()); err != nil {
		t.Fatal(err)
	}
	if got := status(t, again).Work.Verified; got.All != first.All {
		t.Errorf("without who is out verified is %+v, was %+v", got, first)
	}
}

// What is owed to a member that is away, or does not know what a receipt is, it gets from the owner's next life.
func TestReceiptsAreOwed(t *testing.T) {
	t.Parallel()
	disk := hostConfig(t)
	lives := func() *peer.Peer {
		return impatientWith(t, func(c *peer.Config) { c.Host, c.Every = disk, briefly })
	}
	v := lives()
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{Verify: "quorum=2"})
	x := r.steals(t, run)
	g, from := x.take(t)
	n := part(t, &g.Job).N
	x.send(from, x.result(t, &g, square(t, n*n), x.key))
	if sum := answer(t, end()); sum != 5 {
		t.Fatalf("the answer is %d", sum)
	}
	owed := func() int {
		list, err := filepath.Glob(filepath.Join(disk.StateDir, "owed", "*.receipt"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	until(t, "it is written down", func() bool { return owed() == 1 })
	v.Close()
	got := r.receives()
	connect(t, r, lives())
	until(t, "the receipt has come", func() bool { return len(got()) == 1 && owed() == 0 })
	if s := got()[0]; s.Run != run || s.Results != 1 {
		t.Errorf("the receipt is %+v", s)
	}
}

// receives has a rogue keep what is given to it.
func (r *rogue) receives() func() []statement.Receipt {
	var mu sync.Mutex
	var got []statement.Receipt
	r.Network().SetStreamHandler(receiptProtocol, func(s network.Stream) {
		defer s.Close()
		b, err := wire.ReadFrame(s, nil, wire.MaxValue)
		var g given
		if err == nil {
			err = wire.Value().Decode(b, &g)
		}
		if x, bad := statement.OpenReceipt(g.Receipt); err == nil && bad == nil {
			mu.Lock()
			got = append(got, x.Receipt)
			mu.Unlock()
			if b, err = wire.Value().Encode(&taken{}); err == nil {
				_ = wire.WriteFrame(s, b, wire.MaxValue)
			}
		}
	})
	return func() []statement.Receipt {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

// A member that keeps a job for long before it brings what is right has a receipt for no more than what the job has
// taken where it was compared; one that lies has none.
func TestSlowThiefEarnsNoMore(t *testing.T) {
	t.Parallel()
	const dawdles = 3 * time.Second
	v := impatient(t)
	r, liar := invited(t, v), invited(t, v)
	r.volunteers(t)
	liar.volunteers(t)
	got, liars := r.receives(), liar.receives()
	run, end := pairs(t, v, 3, control.Submission{Verify: "quorum=2"})
	began := time.Now()
	x := r.steals(t, run)
	g, from := x.take(t)
	y := liar.steals(t, run)
	other, _ := y.take(t)
	y.send(from, y.result(t, &other, square(t, 100), y.key))
	holds := func() {
		x.send(from, &steal.Message{Heartbeat: &steal.Heartbeat{Seq: uint64(time.Since(began)),
			Held: []steal.Handle{g.Handle}}})
	}
	until(t, "it has had the job for long", func() bool { holds(); return time.Since(began) > dawdles })
	leavesOf(t).open.Store(true)
	n := part(t, &g.Job).N
	x.send(from, x.result(t, &g, square(t, n*n), x.key))
	if sum := answer(t, end()); sum != 14 {
		t.Fatalf("the answer is %d", sum)
	}
	until(t, "the receipt has come", func() bool { return len(got()) > 0 })
	if s := got()[0]; s.Results != 1 || s.Time <= 0 || s.Time >= dawdles.Microseconds() ||
		s.Took < dawdles.Microseconds() || lpeer.ID(s.Peer) != r.ID() {
		t.Errorf("the receipt is %+v", s)
	}
	if list := liars(); len(list) > 0 {
		t.Errorf("the liar has %+v", list)
	}
}
