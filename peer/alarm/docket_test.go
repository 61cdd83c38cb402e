package alarm

import (
	"encoding/binary"
	"testing"
	"time"
)

// chargeBy is the nth accusation by somebody.
func chargeBy(accuser PeerID, n int) Accusation[int] {
	a := Accusation[int]{Accuser: accuser, Of: n}
	binary.BigEndian.PutUint64(a.Hash[:], uint64(n))
	copy(a.Hash[8:], accuser)
	return a
}

// A million accusations by one member take as long as is allowed, and no more; one that is right is heard in between,
// from another.
func TestFloodOfAccusations(t *testing.T) {
	d, now := &Docket[int]{}, time.Unix(1e9, 0)
	tried, others := time.Duration(0), 0
	for i := range 1_000_000 {
		d.admit(now, chargeBy("flood", i))
		if i%100_000 == 50_000 {
			d.admit(now, chargeBy("other", i))
		}
		for c, ok := d.Next(); ok; c, ok = d.Next() {
			took := TrialTime
			if c.Accuser == "other" {
				took, others = time.Millisecond, others+1
			} else {
				tried += took
			}
			d.Tried(c, took, c.Accuser == "other", true)
		}
	}
	if tried > TrialAllowance || others != 10 || len(d.seen) > maxSeen {
		t.Errorf("a flood is tried for %v, %d others, %d are remembered", tried, others, len(d.seen))
	}
	if now = now.Add(accountTime); !d.admit(now, chargeBy("flood", -1)) {
		t.Error("it is never listened to again")
	}
}

// Whoever finds out several liars at once is heard about each of them, before and after the first was tried.
func TestSeveralAccusationsByOne(t *testing.T) {
	const atOnce = int(TrialAllowance / TrialTime)
	d, now := &Docket[int]{}, time.Unix(1e9, 0)
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
			c, _ := d.Next()
			d.Tried(c, TrialTime, true, true)
		}
	}
}

// What a machine had no time to try it tries again when it is said again, as long as the accuser's hour lasts.
func TestTriedAgain(t *testing.T) {
	d, now, n := &Docket[int]{}, time.Unix(1e9, 0), 0
	for range 100 {
		if d.admit(now, chargeBy("a", 1)) {
			n++
			c, _ := d.Next()
			d.Tried(c, TrialTime, false, false)
		}
	}
	if n != int(TrialAllowance/TrialTime) {
		t.Errorf("it is tried %d times", n)
	}
}

// Of one accuser no more wait than its hour has room for, of all so many, and none is tried twice; nobody's hour is
// forgotten for another.
func TestDocketIsBounded(t *testing.T) {
	d, now := &Docket[int]{}, time.Unix(1e9, 0)
	if !d.admit(now, chargeBy("a", 1)) {
		t.Error("the first does not wait")
	}
	if c, ok := d.Next(); !ok {
		t.Error("none is there")
	} else if d.Tried(c, 0, false, true); d.admit(now, chargeBy("a", 1)) {
		t.Error("it is tried twice")
	}
	var spent []PeerID // whose hour is used up
	for i := range 3000 {
		id := PeerID(binary.BigEndian.AppendUint32(nil, uint32(i)))
		if d.admit(now, chargeBy(id, i)); len(d.waiting) > MaxTrials || len(d.accounts) > maxAccounts {
			t.Fatalf("%d wait, of %d accusers", len(d.waiting), len(d.accounts))
		}
		if i < MaxTrials {
			continue // until as many wait as may
		}
		if c, ok := d.Next(); ok {
			d.Tried(c, TrialAllowance, false, true)
			spent = append(spent, c.Accuser)
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
