package alarm

import (
	"encoding/binary"
	"testing"
	"time"
)

// chargeBy is the nth accusation by somebody, whom the founder has let in.
func chargeBy(accuser PeerID, n int) Accusation[int] {
	a := Accusation[int]{Accuser: accuser, Hand: accuser, Accused: "another", Of: n}
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
	d.admit(now, chargeBy("honest", -2))
	c, _ := d.Next()
	d.Tried(c, TrialAllowance-TrialTime, false, true)
	if !d.admit(now, chargeBy("honest", -3)) || d.admit(now, chargeBy("honest", -4)) {
		t.Error("as many wait as before, though its hour is nearly used up")
	}
}

// Liars that whoever accuses them may have made up, being of its own branch or of none that is known, cost their
// accuser what all others do, however soon they are found guilty; those of another cost nothing.
func TestInventedLiars(t *testing.T) {
	for hand, most := range map[PeerID]int{"": 12, "accuser": 12, "another": 1000} {
		d, now, tried := &Docket[int]{}, time.Unix(1e9, 0), 0
		for i := range 1000 {
			a := chargeBy("accuser", i)
			a.Accused = hand
			d.admit(now, a)
			if c, ok := d.Next(); ok {
				tried++
				d.Tried(c, time.Millisecond, true, true)
			}
		}
		if tried > most || tried < most-3 {
			t.Errorf("of liars by %q %d are tried, want %d", hand, tried, most)
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
		if d.admit(now, chargeBy(id, i)); len(d.waiting) > MaxTrials || len(d.hands) > maxHands {
			t.Fatalf("%d wait, of %d accusers", len(d.waiting), len(d.hands))
		}
		if i < MaxTrials {
			continue // until as many wait as may
		}
		if c, ok := d.Next(); ok {
			d.Tried(c, TrialAllowance, false, true)
			spent = append(spent, c.Accuser)
		}
	}
	if len(d.hands) != maxHands || len(spent) != maxHands-2 || len(d.waiting) > 0 {
		t.Errorf("%d accusers have an account, %d were heard, %d wait", len(d.hands), len(spent), len(d.waiting))
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

// Members that one has invented take no more of an hour than a few honest ones, and whoever is a member by another hand
// is heard all the while; their own hour is not forgotten either.
func TestInventedAccusers(t *testing.T) {
	d, now, trying := &Docket[int]{}, time.Unix(1e9, 0), false
	took, until := time.Duration(0), now
	for begun := now; now.Sub(begun) < accountTime; now = now.Add(time.Second) {
		for i := range 512 {
			a := chargeBy(PeerID(binary.BigEndian.AppendUint32(nil, uint32(i))), int(now.Unix()))
			a.Hand = "inviter"
			d.admit(now, a)
		}
		if honest := chargeBy("owner", -int(now.Unix())); now.Unix()%60 == 30 && !d.admit(now, honest) {
			t.Fatalf("an honest accusation is not heard after %v", now.Sub(begun))
		}
		if len(d.waiting) > handTrials+1 || len(d.hands["inviter"].by) > maxAccusers {
			t.Fatalf("%d wait, %d have accounts", len(d.waiting), len(d.hands["inviter"].by))
		}
		if trying = trying && now.Before(until); trying {
			continue
		}
		if c, ok := d.Next(); ok { // it is over when the time is
			d.Tried(c, TrialTime, c.Hand == "owner", c.Hand == "owner")
			if trying, until = true, now.Add(TrialTime); c.Hand == "inviter" {
				took += TrialTime
			}
		}
	}
	if took != HandAllowance {
		t.Errorf("they are tried for %v", took)
	}
}

// Where as many wait as may, of the hand that has most the newest makes way for one of whoever has fewer, and is heard
// when it is said again.
func TestAccusationsMakeWay(t *testing.T) {
	d, now := &Docket[int]{}, time.Unix(1e9, 0)
	for i := range MaxTrials {
		a := chargeBy(PeerID([]string{"a", "b", "c", "d"}[i%4]), i)
		if !d.admit(now, a) {
			t.Fatalf("%d wait and leave no room", i)
		}
	}
	if !d.admit(now, chargeBy("honest", 101)) || !d.admit(now, chargeBy("honest", 102)) ||
		d.admit(now, chargeBy("a", 99)) {
		t.Error("whoever has most keeps all others out")
	}
	left := map[int]bool{}
	for c, ok := d.Next(); ok; c, ok = d.Next() {
		left[c.Of] = true
		d.Tried(c, 0, false, true)
	}
	if len(left) != MaxTrials || left[MaxTrials-1] || left[MaxTrials-2] || !left[0] {
		t.Errorf("left are %v", left)
	}
	if !d.admit(now, chargeBy("d", MaxTrials-1)) {
		t.Error("what has made way is never heard again")
	}
}
