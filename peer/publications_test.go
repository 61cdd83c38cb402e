package peer

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/library"
	"github.com/satin-peer/satin/sharedobj"
)

// lonely is the host of a peer that knows nobody.
type lonely struct{}

func (lonely) SwarmName() string                             { return "swarm" }
func (lonely) Proof() []byte                                 { return nil }
func (lonely) Vouch(peer.ID, []byte) (by []peer.ID, _ error) { return nil, nil }

// What is published under a name again takes the place of what was before, though the clock has been set back since;
// and that need not stay on the disk.
func TestPublishedAgain(t *testing.T) {
	now := time.Now().Add(1000 * time.Hour)
	b := newBase(slog.New(slog.DiscardHandler), func() time.Time { return now }, time.Second)
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files, err := openCabinet(t.TempDir(), ".module", maxPublishedHere, b.now)
	if err != nil {
		t.Fatal(err)
	}
	const size = 1000
	lib, err := library.Open(library.DefaultConfig(size*3/2), library.Host{Dir: t.TempDir(), Self: "self",
		Send: func(*sharedobj.Message) {}, Here: func(module.Hash) {}, Log: b.log})
	if err != nil {
		t.Fatal(err)
	}
	defer lib.Close()
	x := &publications{base: b, key: key, self: self, voice: &voice{}, files: files, host: lonely{},
		modules: &modules{base: b, lib: lib, changed: func() {}}}
	var last control.ModuleInfo
	for i := range byte(3) {
		if last, err = x.publish(control.Publication{Name: "m", Bytes: bytes.Repeat([]byte{i}, size)}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(-100 * time.Hour)
	}
	if list := x.list(); len(list) != 1 || list[0].Module != last.Module {
		t.Errorf("published are %+v, the last was %s", list, last.Module)
	}
	if list := lib.Files(); len(list) != 1 || list[0].Hash.String() != last.Module[:16] {
		t.Errorf("on the disk are %+v", list)
	}
}
