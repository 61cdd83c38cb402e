package peer

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/deposits"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/stream"
)

// Guards that what is kept for others as deposits takes room of run_disk, a quarter of it for each giver and half for
// all, beside runs; that what is over gives it back; and that what was there before a bound was set counts.
func TestRoomForDeposits(t *testing.T) {
	const mib = 1 << 20
	room := depositRoom{&quota{}}
	if why := room.Take("b", 4*mib); why != "" {
		t.Error(why)
	}
	room.allow(64 * mib)
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
	if len(room.of) != 1 {
		t.Errorf("%d givers are known", len(room.of))
	}
	if n, _ := fill("b"); n != 16 {
		t.Errorf("who has nothing any more may have %d MiB", n)
	}
}

// Guards a restart at every stage: what was written down is there again and takes its room; bytes that were cut off, or
// of which nothing was written down, are removed; and what the user gets of others' does not stay.
func TestDepotAfterRestart(t *testing.T) {
	b, _ := standing()
	state := t.TempDir()
	dir := filepath.Join(state, "deposits")
	q := &quota{most: 64 << 20}
	open := func() *depot {
		x := &depot{base: b, self: "somebody", send: func(*stream.Shared) {}}
		if err := x.open(&Config{Host: host.Config{StateDir: state}}, q); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.close)
		return x
	}
	x := open()
	var names []string
	for i := range 3 {
		info, err := x.deposit(control.Deposit{Bytes: bytes.Repeat([]byte{byte(i)}, 1000)})
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
		Until: b.now().Add(time.Hour)}, Giver: "giver"}}})
	x.close()
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
	if got := x.lib.Files(); len(got) != 2 || len(x.core.Items()) != 3 || q.of[accountOf("giver")].bytes != 1000 {
		t.Errorf("%d files, %d deposits, %+v", len(got), len(x.core.Items()), q.of)
	}
	h := x.lib.Add([]byte("of others"))
	got, err := x.get(t.Context(), hex.EncodeToString(h[:]))
	if err != nil || string(got.Bytes) != "of others" || x.lib.Size(h) != 0 {
		t.Errorf("%q, %v: %d bytes of it stay", got.Bytes, err, x.lib.Size(h))
	}
	x.close()
	x.lib = nil
	if got := files(); len(got) != 2 || slices.Contains(got, stray) || slices.Contains(got, names[0]) {
		t.Errorf("what nothing is written down of, or was cut off, is still there: %q", got)
	}
}
