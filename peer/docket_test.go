package peer

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// chargeBy is the nth accusation by somebody.
func chargeBy(accuser peer.ID, n int) *charge {
	c := &charge{accuser: accuser}
	binary.BigEndian.PutUint64(c.hash[:], uint64(n))
	copy(c.hash[8:], accuser)
	return c
}

// A million accusations by one member take as long as is allowed, and no more; one that is right is heard in between,
// from another.
func TestFloodOfAccusations(t *testing.T) {
	d, now := &docket{}, time.Unix(1e9, 0)
	tried, others := time.Duration(0), 0
	for i := range 1_000_000 {
		d.admit(now, chargeBy("flood", i))
		if i%100_000 == 50_000 {
			d.admit(now, chargeBy("other", i))
		}
		for c := d.next(); c != nil; c = d.next() {
			took := trialTime
			if c.accuser == "other" {
				took, others = time.Millisecond, others+1
			} else {
				tried += took
			}
			d.tried(c, took, c.accuser == "other", true)
		}
	}
	if tried > trialAllowance || others != 10 || len(d.seen) > maxSeen {
		t.Errorf("a flood is tried for %v, %d others, %d are remembered", tried, others, len(d.seen))
	}
	if now = now.Add(accountTime); !d.admit(now, chargeBy("flood", -1)) {
		t.Error("it is never listened to again")
	}
}

// Whoever finds out several liars at once is heard about each of them, before and after the first was tried.
func TestSeveralAccusationsByOne(t *testing.T) {
	const atOnce = int(trialAllowance / trialTime)
	d, now := &docket{}, time.Unix(1e9, 0)
	for round := range 10 {
		for i := range atOnce {
			if !d.admit(now, chargeBy("honest", round*atOnce+i)) {
				t.Fatalf("accusation %d of round %d is lost", i, round)
			}
		}
		if d.admit(now, chargeBy("honest", -1)) {
			t.Fatal("more wait of one accuser than may be tried in an hour")
		}
		for range atOnce {
			d.tried(d.next(), trialTime, true, true)
		}
	}
}

// What a machine had no time to try it tries again when it is said again, as long as the accuser's hour lasts.
func TestTriedAgain(t *testing.T) {
	d, now, n := &docket{}, time.Unix(1e9, 0), 0
	for range 100 {
		if d.admit(now, chargeBy("a", 1)) {
			n++
			d.tried(d.next(), trialTime, false, false)
		}
	}
	if n != int(trialAllowance/trialTime) {
		t.Errorf("it is tried %d times", n)
	}
}

// Of one accuser no more wait than its hour has room for, of all so many, and none is tried twice; nobody's hour is
// forgotten for another.
func TestDocketIsBounded(t *testing.T) {
	d, now := &docket{}, time.Unix(1e9, 0)
	if !d.admit(now, chargeBy("a", 1)) {
		t.Error("the first does not wait")
	}
	if c := d.next(); c == nil {
		t.Error("none is there")
	} else if d.tried(c, 0, false, true); d.admit(now, chargeBy("a", 1)) {
		t.Error("it is tried twice")
	}
	var spent []peer.ID // whose hour is used up
	for i := range 3000 {
		id := peer.ID(binary.BigEndian.AppendUint32(nil, uint32(i)))
		if d.admit(now, chargeBy(id, i)); len(d.waiting) > maxTrials || len(d.accounts) > maxAccounts {
			t.Fatalf("%d wait, of %d accusers", len(d.waiting), len(d.accounts))
		}
		if i < maxTrials {
			continue // until as many wait as may
		}
		if c := d.next(); c != nil {
			d.tried(c, trialAllowance, false, true)
			spent = append(spent, c.accuser)
		}
	}
	if len(d.accounts) != maxAccounts || len(spent) != maxAccounts-1 || len(d.waiting) > 0 {
		t.Errorf("%d accusers have an account, %d were heard, %d wait", len(d.accounts), len(spent), len(d.waiting))
	}
	for _, id := range spent {
		if d.admit(now, chargeBy(id, -7)) {
			t.Fatalf("the time of %x is forgotten", id)
		}
	}
	if !d.admit(now.Add(accountTime), chargeBy("late", 1)) {
		t.Error("there is no room when the hour is over")
	}
}
