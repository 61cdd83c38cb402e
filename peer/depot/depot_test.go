package depot

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libp2p "github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/deposits"
	"github.com/satin-peer/satin/peer/quota"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
)

// Guards that what is kept for others as deposits takes room of run_disk, a quarter of it for each giver and half for
// all, beside runs; that what is over gives it back; and that what was there before a bound was set counts.
func TestRoomForDeposits(t *testing.T) {
	const mib = 1 << 20
	room := depositRoom{&quota.Quota{}}
	if why := room.Take("b", 4*mib); why != "" {
		t.Error(why)
	}
	room.of.Allow(64 * mib)
	fill := func(giver deposits.PeerID) (n int64, why string) {
		for why = room.Take(giver, mib); why == ""; why = room.Take(giver, mib) {
			n++
		}
		return n, why
	}
	for _, c := range []struct {
		giver deposits.PeerID
		want  int64
	}{{"a", 16}, {"b", 12}, {"c", 0}} {
		if n, why := fill(c.giver); n != c.want || !strings.Contains(why, "run_disk") {
			t.Errorf("%s gets %d MiB, %q", c.giver, n, why)
		}
	}
	room.Back("a", 3*mib)
	if n, _ := fill("a"); n != 3 {
		t.Errorf("after 3 MiB were given back there is room for %d", n)
	}
	room.Back("b", 16*mib)
	if n := room.of.Len(); n != 1 {
		t.Errorf("%d givers are known", n)
	}
	if n, _ := fill("b"); n != 16 {
		t.Errorf("who has nothing any more may have %d MiB", n)
	}
}

// Guards a restart at every stage: what was written down is there again and takes its room; bytes that were cut off, or
// of which nothing was written down, are removed; and what the user gets of others' does not stay.
func TestDepotAfterRestart(t *testing.T) {
	b := base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
	state := t.TempDir()
	dir := filepath.Join(state, "deposits")
	q := &quota.Quota{Most: 64 << 20}
	open := func() *Depot {
		x := &Depot{Base: b, Self: "somebody", Send: func(*stream.Shared) {}}
		if err := x.Open(state, deposits.DefaultConfig(), q); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.Close)
		return x
	}
	x := open()
	var names []string
	for i := range 3 {
		info, err := x.Deposit(control.Deposit{Bytes: bytes.Repeat([]byte{byte(i)}, 1000)})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Hash)
	}
	others, err := hex.DecodeString(names[2])
	if err != nil {
		t.Fatal(err)
	}
	// as if it were another's
	x.carryOut(deposits.Orders{Save: []deposits.Item{{Deposit: deposits.Deposit{Hash: deposits.Hash(others), Size: 1000,
		Until: b.Now().Add(time.Hour)}, Giver: "giver"}}}, nil)
	x.Close()
	x.lib = nil
	files := func() (list []string) {
		found, err := filepath.Glob(filepath.Join(dir, "*.bytes"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			list = append(list, strings.TrimSuffix(filepath.Base(f), ".bytes"))
		}
		return list
	}
	if err := os.Truncate(filepath.Join(dir, names[0]+".bytes"), 10); err != nil {
		t.Fatal(err)
	}
	stray := strings.Repeat("ab", 32)
	if err := os.WriteFile(filepath.Join(dir, stray+".bytes"), make([]byte, 5), 0o600); err != nil {
		t.Fatal(err)
	}
	x = open()
	n, _ := q.Has(accountOf("giver"))
	if got := x.lib.Files(); len(got) != 2 || len(x.core.Items()) != 3 || n != 1000 {
		t.Errorf("%d files, %d deposits, %d bytes of the giver's", len(got), len(x.core.Items()), n)
	}
	h := x.lib.Add([]byte("of others"))
	got, err := x.Get(t.Context(), hex.EncodeToString(h[:]))
	if err != nil || string(got.Bytes) != "of others" || x.lib.Size(h) != 0 {
		t.Errorf("%q, %v: %d bytes of it stay", got.Bytes, err, x.lib.Size(h))
	}
	x.Close()
	x.lib = nil
	if got := files(); len(got) != 2 || slices.Contains(got, stray) || slices.Contains(got, names[0]) {
		t.Errorf("what nothing is written down of, or was cut off, is still there: %q", got)
	}
	item := filepath.Join(dir, "items", names[1]+".item")
	if err := os.WriteFile(item, []byte("of a later version"), 0o600); err != nil {
		t.Fatal(err)
	}
	x = open()
	x.Close()
	x.lib = nil
	if !slices.Contains(files(), names[1]) {
		t.Error("the bytes are gone of what is not understood")
	}
}

// vouches is a host that knows some members.
type vouches map[libp2p.ID]bool

func (vouches) SwarmName() string { return "here" }
func (vouches) Proof() []byte     { return nil }
func (v vouches) Vouch(id libp2p.ID, _ []byte) ([]libp2p.ID, error) {
	if v[id] {
		return nil, nil
	}
	return nil, errors.New("no member")
}

func member(t *testing.T) (crypto.PrivKey, libp2p.ID) {
	t.Helper()
	v := vouchtest.New(t, nil, nil)
	return v.Key, v.Self
}

// disk is full for a while.
type disk struct {
	cabinet.OnDisk
	full bool
}

func (d *disk) Replace(path string, f func(io.Writer) error) error {
	if d.full {
		return syscall.ENOSPC
	}
	return d.OnDisk.Replace(path, f)
}

// Guards that a deposit is on its maker's account wherever it comes from, and is handed on with what the maker has
// signed; that whoever asks pays if the maker is no member; that nothing is kept that nobody has signed for this swarm;
// and that a peer signs its own.
func TestWhoPaysForDeposits(t *testing.T) {
	b := base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
	self, me := member(t)
	maker, makerID := member(t)
	stranger, _ := member(t)
	_, from := member(t)
	q := &quota.Quota{Most: 64 << 20}
	x := &Depot{Base: b, Self: me, Key: self, Host: vouches{makerID: true, from: true}, Send: func(*stream.Shared) {}}
	if err := x.Open(t.TempDir(), deposits.DefaultConfig(), q); err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	sign := func(key crypto.PrivKey, swarm string, n byte) []byte {
		s, err := (&statement.Deposited{Swarm: swarm, Hash: [32]byte{n}, Size: 1000,
			Until: b.Now().Add(time.Hour).Unix()}).Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		return s.Bytes
	}
	paid := func(id libp2p.ID) int64 {
		n, _ := q.Has(accountOf(deposits.PeerID(id.String())))
		return n
	}
	made := sign(maker, "here", 1)
	if r, err := x.asked(from, made); err != nil || r != deposits.Coming || paid(makerID) != 1000 || paid(from) != 0 {
		t.Errorf("a member's, handed on: %d, %v, its maker has %d bytes, who asked %d", r, err, paid(makerID), paid(from))
	}
	if got, err := x.made(&deposits.Deposit{Hash: deposits.Hash{1}}); err != nil || !bytes.Equal(got, made) {
		t.Errorf("it is handed on with something else than its maker has signed: %v", err)
	}
	if r, err := x.asked(from, sign(stranger, "here", 2)); err != nil || r != deposits.Coming || paid(from) != 1000 {
		t.Errorf("a stranger's: %d, %v, who asked has %d bytes", r, err, paid(from))
	}
	forged := bytes.Clone(made)
	forged[len(forged)-1] ^= 1
	for what, bad := range map[string][]byte{"forged": forged, "none": nil,
		"another swarm's": sign(maker, "there", 3)} {
		if r, err := x.asked(from, bad); err == nil || r != deposits.Refused {
			t.Errorf("a statement that is %s: %d, %v", what, r, err)
		}
	}
	info, err := x.Deposit(control.Deposit{Bytes: []byte("own")})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := wire.ParseHash(info.Hash)
	got, err := x.made(&deposits.Deposit{Hash: deposits.Hash(h), Size: 3, Until: b.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := statement.OpenDeposited(got); err != nil || s.Author != me || s.Hash != h || s.Swarm != "here" {
		t.Errorf("this peer's own: %+v, %v", s, err)
	}
}

// Guards that what jobs leave is on the account of him whose run it is, that this peer signs for it, that no more comes
// in at a time than there is room for, and that what there is no room for leaves nothing behind; of an own run it is
// the user's.
func TestWhatJobsLeaveIsKept(t *testing.T) {
	b := base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
	key, me := member(t)
	_, owner := member(t)
	q := &quota.Quota{Most: 4000} // a quarter of it for each
	x := &Depot{Base: b, Self: me, Key: key, Host: vouches{}, Send: func(*stream.Shared) {}}
	if err := x.Open(t.TempDir(), deposits.DefaultConfig(), q); err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	leave := func(of libp2p.ID, n int, fill byte) {
		x.Left(of, bytes.Repeat([]byte{fill}, n))
		x.Tasks.Wait()
	}
	leave(owner, 900, 1)
	leave(owner, 900, 2) // there is no room
	leave(me, 2000, 3)
	x.arriving.Store(maxArriving)
	leave(me, 10, 4)
	x.arriving.Store(0)
	leave(owner, 0, 5)
	leave(me, control.MaxDeposit+1, 6)
	items := x.core.Items()
	if len(items) != 2 || len(x.lib.Files()) != 2 || x.arriving.Load() != 0 {
		t.Fatalf("%+v, %d files, %d are arriving", items, len(x.lib.Files()), x.arriving.Load())
	}
	for _, i := range items {
		want := map[int64]deposits.PeerID{900: deposits.PeerID(owner.String()), 2000: ""}
		if giver, ok := want[i.Size]; !ok || i.Giver != giver {
			t.Errorf("%+v", i)
		}
		made, err := x.made(&i.Deposit)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := statement.OpenDeposited(made); err != nil || s.Author != me || s.Size != i.Size {
			t.Errorf("it is handed on as %+v, %v", s, err)
		}
	}
	if n, _ := q.Has(accountOf(deposits.PeerID(owner.String()))); n != 900 {
		t.Errorf("the owner's account has %d bytes", n)
	}
}

// Guards that a deposit which the disk does not take is refused, and taken later: whoever is told that it is here hands
// it in again after weeks.
func TestDepositOnFullDisk(t *testing.T) {
	b := base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
	state := t.TempDir()
	d := &disk{}
	b.Medium = d
	x := &Depot{Base: b, Self: "somebody", Send: func(*stream.Shared) {}}
	if err := x.Open(state, deposits.DefaultConfig(), &quota.Quota{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	for _, full := range []bool{true, false} {
		d.full = full
		info, err := x.Deposit(control.Deposit{Bytes: []byte("kept")})
		if full != errors.Is(err, control.ErrUnavailable) || full != (len(x.core.Items()) == 0) {
			t.Errorf("full: %t: %+v, %v, %d are written down", full, info, err, len(x.core.Items()))
		}
	}
}
