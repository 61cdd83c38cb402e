package peer

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/library"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/sharedobj"
)

// lonely is the host of a peer that knows nobody.
type lonely struct{}

func (lonely) SwarmName() string                             { return "swarm" }
func (lonely) Proof() []byte                                 { return nil }
func (lonely) Vouch(peer.ID, []byte) (by []peer.ID, _ error) { return nil, nil }

// publishes is a peer that may publish, whose clock says now, and the modules that it has, with so much room for them.
func publishes(t *testing.T, now *time.Time, room int64) (*publications, *library.Library) {
	t.Helper()
	b := base.New(slog.New(slog.DiscardHandler), func() time.Time { return *now }, time.Second)
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files, err := base.OpenCabinet(b, t.TempDir(), ".module", maxPublishedHere)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := library.Open(library.DefaultConfig(room), library.Host{Dir: t.TempDir(), Self: "self",
		Send: func(*sharedobj.Message) {}, Here: func(module.Hash) {}, Log: b.Log,
		Replace: b.Medium.Replace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lib.Close)
	return &publications{Base: b, key: key, self: self, voice: &voice{}, files: files, host: lonely{},
		modules: &modules{Base: b, lib: lib, changed: func() {}, members: &members.Members{}}}, lib
}

// What is published under a name again takes the place of what was before, though the clock has been set back since;
// and that need not stay on the disk, unless what was to take its place is refused.
func TestPublishedAgain(t *testing.T) {
	const size = 1000
	now := time.Now().Add(1000 * time.Hour)
	x, lib := publishes(t, &now, size*3/2)
	var last control.ModuleInfo
	for i := range byte(3) {
		var err error
		if last, err = x.publish(control.Publication{Name: "m", Bytes: bytes.Repeat([]byte{i}, size)}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(-100 * time.Hour)
	}
	if list := x.list(); len(list) != 1 || list[0].Module != last.Module {
		t.Errorf("published are %+v, the last was %s", list, last.Module)
	}
	if _, err := x.publish(control.Publication{Name: "m"}); err == nil {
		t.Error("nothing is published")
	}
	lib.Add(bytes.Repeat([]byte{9}, size))
	if list := lib.Files(); len(list) != 1 || list[0].Hash.String() != last.Module[:16] {
		t.Errorf("on the disk are %+v", list)
	}
}

// A fullDisk takes no file.
type fullDisk struct{ cabinet.OnDisk }

func (fullDisk) Replace(path string, _ func(io.Writer) error) error {
	return &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
}

// Whoever publishes hears what the disk does not take: nothing is published, or it is gone with the daemon.
func TestPublishedToAFullDisk(t *testing.T) {
	now := time.Now()
	x, lib := publishes(t, &now, 5)
	x.files.Medium = fullDisk{}
	_, err := x.publish(control.Publication{Name: "m", Bytes: []byte("small")})
	const want = "m is not published: what says so cannot be written down: no space left on device"
	if !errors.Is(err, control.ErrUnavailable) || err.Error() != want || len(x.notices.List()) > 0 {
		t.Errorf("published are %+v, and said is %v", x.notices.List(), err)
	}
	x.files.Medium = cabinet.OnDisk{}
	large, err := x.publish(control.Publication{Name: "m", Bytes: []byte("larger")})
	if err != nil || !strings.Contains(large.Warning, "not on this peer's disk") {
		t.Errorf("said is %q, %v; on the disk are %+v", large.Warning, err, lib.Files())
	}
	small, err := x.publish(control.Publication{Name: "m", Bytes: []byte("small")})
	if err != nil || small.Warning != "" || len(lib.Files()) != 1 {
		t.Errorf("said is %q, %v; on the disk are %+v", small.Warning, err, lib.Files())
	}
}

// The first digits of a hash mean the module that has it, whatever others call theirs.
func TestDigitsAreNoNames(t *testing.T) {
	now := time.Now()
	x, _ := publishes(t, &now, 1<<20)
	meant, digits := control.ModuleInfo{}, ""
	for i := byte(0); !moduleName.MatchString(digits); i++ { // a name begins with a letter
		var err error
		if meant, err = x.publish(control.Publication{Name: "m", Bytes: []byte{i}}); err != nil {
			t.Fatal(err)
		}
		digits = meant.Module[:8]
	}
	if _, err := x.find(t.Context(), digits); err != nil {
		t.Error(err)
	}
	if _, err := x.publish(control.Publication{Name: digits, Bytes: []byte("another")}); err != nil {
		t.Fatal(err)
	}
	if f, err := x.find(t.Context(), digits); !errors.Is(err, control.ErrBadInput) {
		t.Errorf("the module is %q, %v", f.Bytes, err)
	}
	if f, err := x.find(t.Context(), meant.Module); err != nil || len(f.Bytes) != 1 {
		t.Errorf("by its whole hash it is %q, %v", f.Bytes, err)
	}
}

// Members that meet a peer by turns hear in the end of all that is published, and not each of the same part again.
func TestAllHearOfAll(t *testing.T) {
	now := time.Now()
	x, _ := publishes(t, &now, 1)
	const all = 2 * maxPublishedTold
	for i := range byte(all) {
		x.notices.Put(library.Notice{Author: string(i), Name: "m", Sealed: []byte{i}})
	}
	var heard [2]map[byte]bool
	for i := range 100 * len(heard) {
		of := &heard[i%len(heard)]
		if *of == nil {
			*of = map[byte]bool{}
		}
		for _, b := range x.told() {
			(*of)[b[0]] = true
		}
	}
	for i := range heard {
		if len(heard[i]) != all {
			t.Errorf("member %d hears of %d of %d", i, len(heard[i]), all)
		}
	}
}
