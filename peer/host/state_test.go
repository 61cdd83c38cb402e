package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/durable"
)

// What a killed process was writing is removed by the next one, and nothing else.
func TestStateOfAKilledProcessIsSweptUp(t *testing.T) {
	dir := t.TempDir()
	for name, stays := range map[string]bool{durable.Unfinished + "1234": false, "peers": true,
		".doctor-5": true, "notes": true} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openState(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s stays: %v", name, err == nil)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// Whoever joins by invitations for many cannot make the file of these longer than the next start reads: then that peer
// would not start any more.
func TestTicketsCanBeReadAgain(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), ticketsFile), time.Unix(1e9, 0)
	book := &ticketBook{path: path, reached: never}
	used := make([]string, maxUses-1)
	for i := range used {
		used[i] = fmt.Sprintf("12D3KooWEfSPJ8YpT6zV2Qdqz4YVNoqJqGHdc4oC4NW9aUQZ%04d", i)
	}
	var secret []byte
	for full := false; !full; {
		next, err := book.issue(ticket{Expires: now.Unix() + 3600, Uses: maxUses, Used: used})
		if full = err != nil; !full {
			secret = next
		}
		if len(book.all) > maxStateFile/maxUses/50 {
			t.Fatalf("%d invitations for %d are written", len(book.all), maxUses)
		}
	}
	again, err := openTicketBook(path, never)
	if err != nil || len(again.all) != len(book.all) {
		t.Fatalf("%d invitations are there again, of %d: %v", len(again.all), len(book.all), err)
	}
	if _, err := again.redeem(secret, mustID(1), now); err != nil {
		t.Errorf("an invitation that is there is of no use: %v", err)
	}
}

// A peer that has let somebody in stays in its swarm in its next life, also if that could not be written at first; and
// one that cannot write that it was let in elsewhere was not.
func TestSettledOutlivesAFullDisk(t *testing.T) {
	state := &stateDir{dir: t.TempDir()}
	open := func() *swarm {
		s, err := openSwarm(state, keyOf(1), mustID(1), "", true)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, path := open(), state.path(swarmFile)
	full := func() {
		err := errors.Join(os.Rename(path, path+".was"), os.MkdirAll(filepath.Join(path, "full"), 0o700))
		if err != nil {
			t.Fatal(err)
		}
	}
	full()
	if _, err := s.grant(mustID(2), false); err == nil {
		t.Fatal("somebody is let in, and nothing is written of it")
	}
	if err := errors.Join(os.RemoveAll(path), os.Rename(path+".was", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.grant(mustID(2), false); err != nil || !open().settled {
		t.Errorf("the next life may leave for another swarm, and remove the key of this one: %v", err)
	}
	full()
	s.settled = false
	err := s.adopt("other", publicOf(0), chainOf(t, 1))
	if err == nil || s.standing().name != DefaultSwarm || s.settled {
		t.Errorf("a peer that cannot write it is in the swarm %q, as long as it lives: %v", s.name, err)
	}
}
