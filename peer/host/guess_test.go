package host

import (
	"context"
	"testing"
	"time"
)

func lineOf(t *testing.T, v *Invitation) string {
	t.Helper()
	line, err := v.line()
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// Who guesses the secret of an invitation is refused each time, and held back; the right one is good all the same.
func TestGuessedInvitations(t *testing.T) {
	open := func() *Host {
		h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	inviter := open()
	line, err := inviter.Invite(ctx, InviteOptions{Uses: 1, For: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	guesser := open()
	for i := range 2 * attemptBurst {
		v, err := ParseInvitation(line)
		if err != nil {
			t.Fatal(err)
		}
		v.secret[i%len(v.secret)] ^= byte(1 + i)
		if guesser.Join(ctx, lineOf(t, v)) == nil {
			t.Fatal("a guess was let in")
		}
	}
	if inviter.gate.mayTry(guesser.id, time.Now()) {
		t.Errorf("after %d guesses it may go on", 2*attemptBurst)
	}
	if err := open().Join(ctx, line); err != nil {
		t.Errorf("who has the right one: %v", err)
	}
}
